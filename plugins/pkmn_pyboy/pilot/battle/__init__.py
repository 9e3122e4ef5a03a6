"""How the pilot fights."""
