"""Pilot by rules: walks, talks, fights and uses menus in any game with a suitable profile."""
