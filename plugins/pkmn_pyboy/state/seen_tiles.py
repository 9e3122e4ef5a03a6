"""Tiles of each map that were on the screen in an episode.

Only the tiles that the player was on are stored, one number each, because that costs almost nothing per step; the
tiles in view are computed on request.
"""

from __future__ import annotations

from collections.abc import Iterable

from pkmn_pyboy.state.game_state import GameState, Phase

VIEW_LEFT, VIEW_RIGHT, VIEW_UP, VIEW_DOWN = 4, 5, 4, 4
"""Tiles in view beside the player's tile: the screen shows ten columns and nine rows."""

_ON_FOOT = frozenset({Phase.FREE, Phase.MOVING})


class SeenTiles:
    """Tiles seen in this episode."""

    def __init__(self) -> None:
        self._stood: set[int] = set()
        self._latest = -1
        self.beginnings = 0
        """Number of times that all tiles were cleared or loaded."""

    def note(self, state: GameState) -> None:
        """Record the state after a step."""
        if state.phase in _ON_FOOT:
            place = state.map_group << 24 | state.map_number << 16 | state.y << 8 | state.x
            if place not in self._stood:
                self._stood.add(place)
                self._latest = place

    def reset(self) -> None:
        """Start an episode: no tile is seen yet."""
        self._stood.clear()
        self._latest = -1
        self.beginnings += 1

    @property
    def count(self) -> int:
        """Number of tiles, on all maps, that the player was on."""
        return len(self._stood)

    def latest_on(self, map_id: int) -> list[tuple[int, int]]:
        """Return the latest new tile, if it is on this map."""
        place = self._latest
        return [(place & 0xFF, place >> 8 & 0xFF)] if place >> 16 == map_id else []

    def stood_on(self, map_id: int) -> list[tuple[int, int]]:
        """Return the tiles of a map that the player was on, in no order."""
        return [(place & 0xFF, place >> 8 & 0xFF) for place in self._stood if place >> 16 == map_id]

    def on_map(self, map_id: int, width: int, height: int) -> frozenset[tuple[int, int]]:
        """Return the tiles of a map of this size that were seen."""
        seen: set[tuple[int, int]] = set()
        for x, y in self.stood_on(map_id):
            columns = range(max(x - VIEW_LEFT, 0), min(x + VIEW_RIGHT + 1, width))
            for row in range(max(y - VIEW_UP, 0), min(y + VIEW_DOWN + 1, height)):
                seen.update([(column, row) for column in columns])
        return frozenset(seen)

    def save_state(self) -> list[int]:
        """Return the state for :meth:`load_state`, as plain values."""
        return sorted(self._stood)

    def load_state(self, stood: Iterable[int]) -> None:
        """Restore a saved state."""
        self._stood = {int(place) for place in stood}
        self._latest = -1
        self.beginnings += 1
