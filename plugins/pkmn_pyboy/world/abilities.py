"""What the player can do about obstacles: field moves at hand, and the event flags that hide who stood in the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

FIELD_MOVES = ("cut", "surf", "strength", "whirlpool", "waterfall", "rock_smash", "flash")
"""Field moves that open ways, as profiles and options call them."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the player can do now.

    Args:
        moves: field moves that can be used: learnt by someone in the party, and allowed by the badges.
        flags: event flags that are set; None where they are not known. Then whoever a flag may hide is thought to be
            in the way only as far as that costs.
        hour: of the game's clock, 0 to 23; None where it is not known. Then whoever keeps hours may be there.
    """

    moves: frozenset[str] = frozenset()
    flags: frozenset[int] | None = None
    hour: int | None = None

    @classmethod
    def of(cls, moves: Iterable[str] = (), flags: Iterable[int] | None = None, hour: int | None = None) -> Abilities:
        """From any collections."""
        return cls(frozenset(moves), None if flags is None else frozenset(flags), hour)

    @classmethod
    def everything(cls) -> Abilities:
        """All field moves; flags not known."""
        return cls(frozenset(FIELD_MOVES))
