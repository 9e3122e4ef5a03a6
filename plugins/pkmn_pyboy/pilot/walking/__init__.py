"""How the pilot gets there: routes, legs, paths, boulders."""
