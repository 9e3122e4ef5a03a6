"""Tiles around the player as bits: walkable, occupied, seen, goal and others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pkmn_pyboy.pilot.memory import PilotMemory
from pkmn_pyboy.state.game_state import GameState, Phase
from pkmn_pyboy.state.seen_tiles import VIEW_DOWN, VIEW_LEFT, VIEW_RIGHT, VIEW_UP
from pkmn_pyboy.world.loaded_map import LoadedMap
from pkmn_pyboy.world.map_exits import exits_of
from pkmn_pyboy.world.records import Role
from pkmn_pyboy.world.tile_rules import LAND, WATER, MapGrid

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

MAP_SIZE = 13
"""Rows and columns; the player is in the middle."""

PLANES: tuple[tuple[str, str], ...] = (
    ("walkable", "land that is not a wall"),
    ("grass", "grass where wild Pokemon appear"),
    ("water", "water"),
    ("ledge_down", "a ledge to jump off downwards"),
    ("ledge_up", "upwards"),
    ("ledge_left", "to the left"),
    ("ledge_right", "to the right"),
    ("exit", "a door, stairs, a mat or an edge that leaves the map"),
    ("counter", "a counter, over which to talk"),
    ("person", "a person is there"),
    ("thing", "an item to pick up is there"),
    ("boulder", "a boulder that Strength pushes"),
    ("seen", "was on the screen in this episode"),
    ("stood", "the player was there in this episode"),
    ("goal", "the current goal"),
    ("way", "the path to it"),
)
"""Names of the bits from the lowest, and the meaning of a set bit."""

PLANE_NAMES = tuple(name for name, _ in PLANES)

_BIT = {name: 1 << place for place, name in enumerate(PLANE_NAMES)}
_LEDGES = ("ledge_down", "ledge_up", "ledge_left", "ledge_right")
_HALF = MAP_SIZE // 2
_PERSON, _THING, _BOULDER, _SEEN, _STOOD, _GOAL, _WAY = (
    _BIT[name] for name in ("person", "thing", "boulder", "seen", "stood", "goal", "way")
)
_BITS_OF_ROLES = {Role.BOULDER: _BOULDER, Role.ITEM: _THING}
_IN_VIEW = frozenset({Phase.FREE, Phase.MOVING, Phase.DIALOGUE, Phase.CHOICE, Phase.CUTSCENE})
"""Phases in which the map is on the screen."""


class LocalMap:
    """Renderer of the tiles around the player. The map itself is drawn once, and again when a block of it changes.

    Args:
        game: the running game.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self._loaded = LoadedMap(game.emulator, game.profile)
        self._of_tile = self._bits_of_tiles()
        self._grid: MapGrid | None = None
        self._layers: NDArray[np.uint16] = np.zeros((MAP_SIZE, MAP_SIZE), np.uint16)
        self._seen_mark = (-1, -1)
        self._only_seen = game.knowledge == "seen"

    def write(self, out: NDArray[np.uint16], state: GameState, memory: PilotMemory | None) -> None:
        """Draw the tiles around the player into ``out``, (13, 13) uint16; zeros while the map is not in view.

        Args:
            out: destination.
            state: the current state.
            memory: the pilot's memory; None for a map without a goal.
        """
        if state.phase not in _IN_VIEW or not self._loaded.readable or not state.loaded:
            out[:] = 0
            return
        grid = self._loaded.grid(state.map_id)
        if not grid.inside(state.x, state.y):
            out[:] = 0
            return
        if grid is not self._grid:
            self._begin(grid)
        self._take_in_seen(grid)
        left, top = state.x, state.y  # the border of half a map centres the player's tile
        out[:] = self._layers[top : top + MAP_SIZE, left : left + MAP_SIZE]
        right, down = _HALF - state.x, _HALF - state.y
        for person in self._loaded.people():
            column, row = person.x + right, person.y + down
            if 0 <= column < MAP_SIZE and 0 <= row < MAP_SIZE:
                out[row, column] |= _BITS_OF_ROLES.get(person.role, _PERSON)
        if self._only_seen:
            np.multiply(out, (out & _SEEN) != 0, out=out)
        if memory is not None and memory.map_id == state.map_id:
            self._draw_goal(out, memory, right, down)

    @staticmethod
    def _draw_goal(out: NDArray[np.uint16], memory: PilotMemory, right: int, down: int) -> None:
        path, goal = memory.path, memory.goal
        for x, y, _ in path[: 2 * MAP_SIZE]:
            column, row = x + right, y + down
            if 0 <= column < MAP_SIZE and 0 <= row < MAP_SIZE:
                out[row, column] |= _WAY
        if goal is None or goal.map_id != memory.map_id:
            return
        x, y = (goal.x, goal.y) if goal.x >= 0 else path[-1][:2] if path else (-1, -1)
        column, row = x + right, y + down
        if x >= 0 and 0 <= column < MAP_SIZE and 0 <= row < MAP_SIZE:
            out[row, column] |= _GOAL

    # Layers that change with the map ----------------------------------------------------------------------------

    def _bits_of_tiles(self) -> NDArray[np.uint16]:
        """Return the bits of each of the 256 collision values."""
        rules = self._loaded.rules
        bits = np.zeros(256, np.uint16)
        for value in range(256):
            ledges = sum(_BIT[name] for direction, name in enumerate(_LEDGES) if rules.jumps[value] >> direction & 1)
            bits[value] = (
                (_BIT["walkable"] if rules.kind[value] == LAND else 0)
                | (_BIT["water"] if rules.kind[value] == WATER else 0)
                | (_BIT["grass"] if value in rules.grass else 0)
                | (_BIT["counter"] if value == rules.counter else 0)
                | ledges
            )
        return bits

    def _begin(self, grid: MapGrid) -> None:
        self._grid, self._seen_mark = grid, (-1, -1)
        tiles = np.frombuffer(grid.tiles, np.uint8).reshape(grid.height + 2, grid.stride)
        bits = self._of_tile[tiles]
        for exit_ in exits_of(self._loaded.read(grid.map_id), self._loaded.rules):
            bits.reshape(-1)[list(exit_.ends)] |= _BIT["exit"]
        # The grid already has one tile of border on each side.
        self._layers = np.pad(bits, _HALF - 1)

    def _take_in_seen(self, grid: MapGrid) -> None:
        """Draw the tiles seen since the last call; all seen tiles if those are more than one tile's view."""
        seen = self._game.seen
        mark = (seen.beginnings, seen.count)
        if mark == self._seen_mark:
            return
        if mark == (self._seen_mark[0], self._seen_mark[1] + 1):
            places = seen.latest_on(grid.map_id)
        else:
            self._layers &= ~np.uint16(_SEEN | _STOOD)
            places = seen.stood_on(grid.map_id)
        for x, y in places:
            if not grid.inside(x, y):
                continue
            columns = slice(max(x - VIEW_LEFT, 0) + _HALF, min(x + VIEW_RIGHT + 1, grid.width) + _HALF)
            rows = slice(max(y - VIEW_UP, 0) + _HALF, min(y + VIEW_DOWN + 1, grid.height) + _HALF)
            self._layers[rows, columns] |= _SEEN
            self._layers[y + _HALF, x + _HALF] |= _STOOD
        self._seen_mark = mark
