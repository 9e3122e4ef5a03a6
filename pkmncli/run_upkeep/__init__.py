"""Upkeep of the runs under a folder: a list of them, tags, new names, and deletion."""
