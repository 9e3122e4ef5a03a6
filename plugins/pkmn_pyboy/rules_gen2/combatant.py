"""Combatant of a battle, as far as the damage formula needs it."""

from __future__ import annotations

from dataclasses import dataclass

AVERAGE_DVS = (8, 8, 8, 8)
_STAT_GUESS_BASE = 60


@dataclass(frozen=True, slots=True)
class Combatant:
    """Combatant of a battle."""

    level: int
    hp: int
    max_hp: int
    status: int
    types: tuple[int, ...]
    stats: tuple[int, ...]
    """Effective attack, defence, speed, special attack and special defence, after stages and status."""
    moves: tuple[int, ...] = ()
    pp: tuple[int, ...] = ()
    stages: tuple[int, ...] = ()
    dvs: tuple[int, ...] = AVERAGE_DVS
    happiness: int = 70
    screens: int = 0
    """Bits of the screens that protect its side."""
    weather: int = 0
    """Weather of its battle."""


def guessed_stats(level: int) -> tuple[int, ...]:
    """Return the stats of an average species at a level."""
    return (2 * _STAT_GUESS_BASE * level // 100 + 5 + level // 6,) * 5
