"""Command ``pkmn world``: maps, routes and the story as pages and pictures."""
