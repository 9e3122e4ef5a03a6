"""A person plays: ``pkmn play``, in a window or in the terminal."""
