"""`pkmn play --env balatro`: a person plays, with typed lines."""
