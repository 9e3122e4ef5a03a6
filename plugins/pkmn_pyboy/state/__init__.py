"""State of a game, read from emulated memory by the memory map of its profile, and the actions that it allows."""
