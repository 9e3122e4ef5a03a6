"""How the pilot reads and works words, lists and menus."""
