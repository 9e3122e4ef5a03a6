"""World of a game: maps from the cartridge image, or as far as seen, and routes through them."""
