"""What a learner sees of a goal: its numbers, and a map of the tiles around the player."""
