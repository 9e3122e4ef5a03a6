"""Players by rules: greedy, and planning."""
