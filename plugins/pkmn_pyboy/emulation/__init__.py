"""The emulated Game Boy Color, its cartridges and its files. Knows no game."""
