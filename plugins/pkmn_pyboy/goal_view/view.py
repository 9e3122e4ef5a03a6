"""Observation parts ``goal`` and ``local_map``: the pilot's current goal as a learner observes it.

Both depend only on the game's state and on the pilot's memory after :meth:`RulesPilot.act` in that state, so
a restored state gives the same observation. The press that the pilot would make is not part of them.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from pkmn_pyboy.goal_view import page, situation, way
from pkmn_pyboy.goal_view.battle import BattleNumbers
from pkmn_pyboy.goal_view.local_map import MAP_SIZE, PLANE_NAMES, LocalMap
from pkmn_pyboy.goal_view.table import GOAL_SIZE
from pkmn_pyboy.pilot.memory import PilotMemory
from pkmncli.api import BitPlanes

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

GOAL, LOCAL_MAP = "goal", "local_map"
"""Names of the parts."""

_PACK = struct.Struct(f"{GOAL_SIZE}f").pack_into


def goal_spaces() -> dict[str, spaces.Box]:
    """Return the spaces of both parts by name."""
    return {
        GOAL: spaces.Box(-1.0, 1.0, (GOAL_SIZE,), np.float32),
        LOCAL_MAP: BitPlanes((MAP_SIZE, MAP_SIZE), PLANE_NAMES),
    }


class GoalView:
    """Writer of both parts.

    Args:
        game: the running game.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self._battle = BattleNumbers(game)
        self._map = LocalMap(game)

    def write_goal(self, out: NDArray[np.float32], memory: PilotMemory | None) -> None:
        """Write the numbers into ``out``, (G,) float32, contiguous, each in -1..1.

        Args:
            out: destination.
            memory: the pilot's memory; None without a pilot, which leaves its numbers 0.
        """
        state, numbers = self._game.state, list[float]()
        situation.write(numbers, state, self._game.pressed, memory)
        way.write(numbers, state, memory)
        page.write(numbers, state, memory)
        self._battle.write(numbers, state, memory)
        _PACK(out.data, 0, *numbers)

    def write_local_map(self, out: NDArray[np.uint16], memory: PilotMemory | None) -> None:
        """Draw the tiles around the player into ``out``, (13, 13) uint16."""
        self._map.write(out, self._game.state, memory)
