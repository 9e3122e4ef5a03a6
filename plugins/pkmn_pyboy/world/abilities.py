"""Abilities of the player against obstacles: usable field moves, and the event flags that hide people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

FIELD_MOVES = ("cut", "surf", "strength", "whirlpool", "waterfall", "rock_smash", "flash")
"""Field moves that open routes, as profiles and options name them."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """Current abilities of the player.

    Args:
        moves: usable field moves: known by a party member, and allowed by the badges.
        flags: event flags that are set; None if unknown. Then people that a flag may hide only add a cost.
        hour: of the game's clock, 0 to 23; None if unknown. Then people with hours may be present.
    """

    moves: frozenset[str] = frozenset()
    flags: frozenset[int] | None = None
    hour: int | None = None

    @classmethod
    def of(cls, moves: Iterable[str] = (), flags: Iterable[int] | None = None, hour: int | None = None) -> Abilities:
        """Create from any collections."""
        return cls(frozenset(moves), None if flags is None else frozenset(flags), hour)

    @classmethod
    def everything(cls) -> Abilities:
        """Return abilities with all field moves; flags are unknown."""
        return cls(frozenset(FIELD_MOVES))
