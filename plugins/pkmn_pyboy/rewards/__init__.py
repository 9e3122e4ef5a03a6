"""Rewards that come with the PyBoy environment."""
