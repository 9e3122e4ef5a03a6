"""The goal as a learner sees it: its numbers, and a map of the tiles around the player."""
