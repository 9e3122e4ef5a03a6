"""Loaded map: its walkable tiles, exits, people and boulders, and searches over them."""
