"""Milestones of a game, what they need, and what to do next."""
