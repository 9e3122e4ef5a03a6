"""A game's state in words."""
