"""Description of a number of the observation ``goal``, and functions shared by its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pkmn_pyboy.state.game_state import Phase

WALKING = frozenset({Phase.FREE, Phase.MOVING})
"""Phases in which the next tile of a path matters, and counts of steps do not."""


class GoalNumber(NamedTuple):
    """Description of one number in -1..1."""

    name: str
    meaning: str


def one_hot(prefix: str, kinds: Sequence[str], meaning: str) -> tuple[GoalNumber, ...]:
    """Return the descriptions of numbers of which one is 1 and the others are 0."""
    return tuple(GoalNumber(f"{prefix}_{kind}", f"{meaning} {kind.replace('_', ' ')}") for kind in kinds)


def hot_rows(size: int) -> tuple[tuple[float, ...], ...]:
    """Return one-hot rows by index, and a last row (also index -1) of zeros."""
    rows = [tuple(float(place == row) for place in range(size)) for row in range(size)]
    return (*rows, (0.0,) * size)


def within(value: float) -> float:
    """Return the value clipped to -1..1."""
    return -1.0 if value < -1 else 1.0 if value > 1 else value


def share(part: int, whole: int) -> float:
    """Return ``part`` / ``whole``, 0 if ``whole`` is 0."""
    return part / whole if whole else 0.0
