"""Rules of the second generation, the same for all of its games: battle formulas, menus, pockets, records."""
