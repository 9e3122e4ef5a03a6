"""Consequence of each step: from the states before and after it, and the tiles of the episode so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pkmncli.api import Consequence, Facts, PhaseRole

_TELLING = frozenset({PhaseRole.READING, PhaseRole.ANSWERING})
"""Roles of phases in which the game tells or asks something."""
_WORDS = _TELLING | {PhaseRole.MENU}


class ConsequenceWatcher:
    """Watches one environment. Remembers the tiles of its running episode.

    Args:
        phase_roles: the role of each phase of the environment.
    """

    def __init__(self, phase_roles: Sequence[PhaseRole]) -> None:
        self._telling = frozenset(number for number, role in enumerate(phase_roles) if role in _TELLING)
        self._words = frozenset(number for number, role in enumerate(phase_roles) if role in _WORDS)
        self._tiles: set[tuple[int, int, int]] = set()
        """Map, x and y of each."""
        self._maps: set[int] = set()

    def begin(self, facts: Facts) -> None:
        """Begin an episode."""
        self.load_state_dict({"tiles": ()})
        self._note(facts)

    def look(self, before: Facts, after: Facts) -> int:
        """Return the most important consequence of the step between two states, as a number."""
        new_tile = new_map = False
        if after.x != before.x or after.y != before.y or after.map_id != before.map_id:
            new_map = after.map_id not in self._maps
            new_tile = self._note(after)
        if after.milestones > before.milestones:
            return Consequence.MILESTONE
        if new_map:
            return Consequence.NEW_MAP
        if before.battle:
            if not after.battle:
                return Consequence.BATTLE_ENDED
            if after.health < before.health:
                return Consequence.DAMAGE_TAKEN
            if after.opponent == before.opponent and after.opponent_health < before.opponent_health:
                return Consequence.DAMAGE_DEALT
        if before.phase in self._telling and after.phase not in self._words:
            return Consequence.TEXT_CLOSED
        return Consequence.NEW_TILE if new_tile else Consequence.NOTHING

    def _note(self, facts: Facts) -> bool:
        """Enter the tile. Returns whether it was new."""
        tile = (facts.map_id, facts.x, facts.y)
        if tile in self._tiles:
            return False
        self._tiles.add(tile)
        self._maps.add(facts.map_id)
        return True

    def state_dict(self) -> dict[str, Any]:
        """Return the tiles of the running episode: map, x and y of each."""
        return {"tiles": sorted(map(list, self._tiles))}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`. A tile of an earlier version is one number, the last two bytes x and y."""
        self._tiles = {
            (tile >> 16, tile >> 8 & 255, tile & 255) if isinstance(tile, int) else tuple(tile)
            for tile in state["tiles"]
        }
        self._maps = {map_id for map_id, _x, _y in self._tiles}
