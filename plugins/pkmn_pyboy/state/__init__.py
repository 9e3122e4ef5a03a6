"""The game's state, read from emulated memory by a profile's map of it."""
