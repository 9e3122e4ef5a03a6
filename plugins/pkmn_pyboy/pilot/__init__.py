"""A player by rules: it walks, talks, fights and uses menus, in any game whose profile says where things are."""
