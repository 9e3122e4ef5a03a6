"""Time since the latest progress of an episode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pkmn_pyboy.state.game_state import GameState

_Mark = tuple[int, int, int, int]


class ProgressClock:
    """Counter of the steps since a milestone, level, badge, catch or map was new."""

    def __init__(self) -> None:
        self._step = 0
        self._mark: _Mark = (0, 0, 0, 0)
        self._maps: set[int] = set()

    def reset(self, state: GameState) -> None:
        """Start an episode."""
        self._step = 0
        self._mark = _mark_of(state)
        self._maps = {state.map_id}

    def note(self, state: GameState, step: int) -> None:
        """Record the state after a step."""
        mark = _mark_of(state)
        if mark != self._mark or state.map_id not in self._maps:
            self._mark = mark
            self._maps.add(state.map_id)
            self._step = step

    def since(self, step: int) -> int:
        """Return the steps from the latest progress to ``step``."""
        return step - self._step

    def save_state(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {"step": self._step, "mark": list(self._mark), "maps": sorted(self._maps)}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore the state from :meth:`save_state`."""
        self._step = int(state["step"])
        milestones, levels, badges, caught = state["mark"]
        self._mark = (int(milestones), int(levels), int(badges), int(caught))
        self._maps = {int(map_id) for map_id in state["maps"]}


def _mark_of(state: GameState) -> _Mark:
    return (state.milestones, state.party.level_sum, state.johto_badges << 8 | state.kanto_badges, state.caught)
