"""Models that play: one frozen base with an adapter for each, and the text that they sample."""
