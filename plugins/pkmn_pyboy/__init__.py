"""The PyBoy environment: all that knows game memory."""
