"""Replay: recorded episodes play again, are checked at every step, and are shown or filmed."""
