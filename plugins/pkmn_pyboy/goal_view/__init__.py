"""Goal of the pilot as a learner observes it: its numbers, and a map of the tiles around the player."""
