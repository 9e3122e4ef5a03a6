"""The tables of a run on disk: written, read, counted and exported."""
