"""The core's commands, one module each, which is imported only when its command runs."""
