"""Walking of the pilot: routes, legs, paths, boulders."""
