"""Which tiles of each map the player has had on the screen in an episode.

Kept are the tiles that the player stood on, one number each, because that costs a step next to nothing; what was in
view from them is worked out when someone asks.
"""

from __future__ import annotations

from collections.abc import Iterable

from pkmn_pyboy.state.game_state import GameState, Phase

VIEW_LEFT, VIEW_RIGHT, VIEW_UP, VIEW_DOWN = 4, 5, 4, 4
"""Tiles in view beside the player's own: the screen shows ten columns and nine rows."""

_ON_FOOT = frozenset({Phase.FREE, Phase.MOVING})


class SeenTiles:
    """The tiles seen in this episode."""

    def __init__(self) -> None:
        self._stood: set[int] = set()
        self._latest = -1
        self.beginnings = 0
        """Count of the times that all was forgotten, or loaded."""

    def note(self, state: GameState) -> None:
        """Takes in the state after a step."""
        if state.phase in _ON_FOOT:
            place = state.map_group << 24 | state.map_number << 16 | state.y << 8 | state.x
            if place not in self._stood:
                self._stood.add(place)
                self._latest = place

    def reset(self) -> None:
        """An episode begins: nothing is seen yet."""
        self._stood.clear()
        self._latest = -1
        self.beginnings += 1

    @property
    def count(self) -> int:
        """Number of tiles, of all maps, on which the player stood."""
        return len(self._stood)

    def latest_on(self, map_id: int) -> list[tuple[int, int]]:
        """Return the latest tile that was new, if it is one of a map's."""
        place = self._latest
        return [(place & 0xFF, place >> 8 & 0xFF)] if place >> 16 == map_id else []

    def stood_on(self, map_id: int) -> list[tuple[int, int]]:
        """The tiles of a map on which the player stood, in no order."""
        return [(place & 0xFF, place >> 8 & 0xFF) for place in self._stood if place >> 16 == map_id]

    def on_map(self, map_id: int, width: int, height: int) -> frozenset[tuple[int, int]]:
        """The tiles of a map of this size that were seen."""
        seen: set[tuple[int, int]] = set()
        for x, y in self.stood_on(map_id):
            columns = range(max(x - VIEW_LEFT, 0), min(x + VIEW_RIGHT + 1, width))
            for row in range(max(y - VIEW_UP, 0), min(y + VIEW_DOWN + 1, height)):
                seen.update([(column, row) for column in columns])
        return frozenset(seen)

    def save_state(self) -> list[int]:
        """What :meth:`load_state` needs, as plain values."""
        return sorted(self._stood)

    def load_state(self, stood: Iterable[int]) -> None:
        """Goes on from a saved state."""
        self._stood = {int(place) for place in stood}
        self._latest = -1
        self.beginnings += 1
