"""Numbers of the types that a rule names."""

from __future__ import annotations

BEST_FACTOR = 4.0
"""Maximum effectiveness: super effective on both types."""

POISON, FIRE, WATER, GRASS = 3, 20, 21, 22

SPECIAL_TYPES_FROM = 20
"""First type whose moves use the special stats."""
