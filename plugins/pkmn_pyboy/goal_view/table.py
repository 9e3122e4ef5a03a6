"""Numbers of the observation ``goal``, in order."""

from __future__ import annotations

from pkmn_pyboy.goal_view import battle, page, situation, way
from pkmn_pyboy.goal_view.numbers import GoalNumber

GOAL_NUMBERS: tuple[GoalNumber, ...] = (*situation.NUMBERS, *way.NUMBERS, *page.NUMBERS, *battle.NUMBERS)
"""Name and meaning of each number, all in -1..1."""

GOAL_SIZE = len(GOAL_NUMBERS)
