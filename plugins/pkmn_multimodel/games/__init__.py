"""Games in words for several models: PettingZoo's parallel environments whose observations and actions are texts."""
