"""Checkpoints: their files, which ones are kept, and which one is used."""
