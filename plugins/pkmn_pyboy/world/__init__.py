"""The game's world: what the cartridge image says about it, or what was seen of it, and the ways through it."""
