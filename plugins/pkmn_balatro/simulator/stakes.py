"""Stakes: eight steps of difficulty. Each includes the rules of those before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

STAKES: Final = ("white", "red", "green", "black", "blue", "purple", "orange", "gold")
"""Names of the stakes, the easiest first. A stake is a place in this list."""

WHITE, RED, GREEN, BLACK, BLUE, PURPLE, ORANGE, GOLD = range(8)


@dataclass(frozen=True, slots=True)
class StakeRules:
    """Rules of a stake."""

    growth: int = 0
    """Row of :data:`pkmn_balatro.simulator.blinds.BASE_SCORES`."""
    small_blind_pays: bool = True
    fewer_discards: int = 0
    eternal: bool = False
    """True if jokers that can't be sold or destroyed are offered."""
    perishable: bool = False
    """True if jokers that lose their effect after five rounds are offered."""
    rental: bool = False
    """True if jokers that cost $3 each round are offered."""


def _rules(stake: int) -> StakeRules:
    return StakeRules(
        growth=2 if stake >= PURPLE else 1 if stake >= GREEN else 0,
        small_blind_pays=stake < RED,
        fewer_discards=int(stake >= BLUE),
        eternal=stake >= BLACK,
        perishable=stake >= ORANGE,
        rental=stake >= GOLD,
    )


RULES: Final = tuple(_rules(stake) for stake in range(len(STAKES)))
"""Rules of each stake."""
