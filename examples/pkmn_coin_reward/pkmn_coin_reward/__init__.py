"""Reward for pkmncli that pays for money gained."""
