"""Encoder that reads the screen in patches."""
