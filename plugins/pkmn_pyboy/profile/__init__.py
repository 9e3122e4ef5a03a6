"""A game as data: what a profile says, how it is read, and which one fits an image."""
