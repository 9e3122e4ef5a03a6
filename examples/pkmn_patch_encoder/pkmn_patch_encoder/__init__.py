"""An encoder that reads the screen in patches."""
