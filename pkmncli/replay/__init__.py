"""Replay: recorded episodes are played again, checked at every step, and shown or filmed."""
