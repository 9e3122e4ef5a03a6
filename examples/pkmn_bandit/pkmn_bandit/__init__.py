"""Plugin with a command that makes runs: Thompson sampling on a bandit."""
