"""Tiles of a map as a grid, and walking rules for tiles from the profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pkmn_pyboy.profile.model import CollisionRules
from pkmncli.api import Action

DIRECTIONS = ("down", "up", "left", "right")
"""Names of directions, in the order of :class:`~pkmn_pyboy.state.game_state.Facing`."""

STEPS: tuple[tuple[int, int], ...] = ((0, 1), (0, -1), (-1, 0), (1, 0))
"""Change of column and row by direction."""

PRESSES: tuple[Action, ...] = (Action.DOWN, Action.UP, Action.LEFT, Action.RIGHT)
"""Action that walks in a direction, in the same order."""

OPPOSITE: tuple[int, ...] = (1, 0, 3, 2)
"""Opposite direction."""

LAND, WATER, WALL = 0, 1, 2

OFF_MAP = 0xFF
"""Collision byte of tiles outside a map, which can't be walked on."""

_NO_DIRECTION = 0xFF
_WARP_KIND = 7


@dataclass(frozen=True, slots=True)
class TileRules:
    """Rules of walking by collision byte. Each table has 256 entries; bits of a mask are directions."""

    kind: bytes
    """LAND, WATER or WALL."""
    jumps: bytes
    """Ledges: directions in which to jump off."""
    sides: bytes
    """Walled sides: directions in which the tile can't be left nor, from outside, entered."""
    mats: bytes
    """Warp mats: direction to press on the mat, FF for other tiles."""
    warps: frozenset[int]
    """Values that warp a player who steps on them, if a warp is listed there."""
    grass: frozenset[int]
    """Values where wild Pokemon appear."""
    plain: bytes
    """1 for land that can be entered and left on every side, without ice."""
    counter: int
    ice: int
    pit: int
    """Values of a counter, ice and a hole; -1 for none."""

    @classmethod
    def of(cls, collision: CollisionRules) -> TileRules:
        """Make the rules from a profile: names with ``ledge_``, ``side_wall_`` and ``warp_mat_`` end in directions."""
        kind = bytes(
            WALL if value in collision.wall or value == OFF_MAP else WATER if value in collision.water else LAND
            for value in range(256)
        )
        mats = bytearray([_NO_DIRECTION] * 256)
        for value, mask in enumerate(_directed(collision.names, "warp_mat_")):
            if mask:
                mats[value] = mask.bit_length() - 1
        pit = collision.names.get("pit")
        warps = {value for value in range(256) if value >> 4 == _WARP_KIND and mats[value] == _NO_DIRECTION}
        sides, ice = _directed(collision.names, "side_wall_"), collision.names.get("ice", -1)
        return cls(
            kind,
            _directed(collision.names, "ledge_"),
            sides,
            bytes(mats),
            frozenset(warps if pit is None else warps | {pit}),
            frozenset(value for name, value in collision.names.items() if name.endswith("_grass")),
            bytes(kind[value] == LAND and not sides[value] and value != ice for value in range(256)),
            collision.names.get("counter", -1),
            ice,
            -1 if pit is None else pit,
        )


def _directed(names: Mapping[str, int], prefix: str) -> bytes:
    table = bytearray(256)
    for name, value in names.items():
        if name.startswith(prefix):
            for word in name.removeprefix(prefix).split("_"):
                table[value] |= 1 << DIRECTIONS.index(word)
    return bytes(table)


@dataclass(frozen=True, slots=True)
class MapGrid:
    """Collision bytes of a map, row by row, with one tile of border on every side.

    ``width`` and ``height`` count the map's own tiles. A place is a *cell*, an index into ``tiles``.
    """

    map_id: int
    width: int
    height: int
    tiles: bytes

    @property
    def stride(self) -> int:
        """Cells in a row."""
        return self.width + 2

    @property
    def deltas(self) -> tuple[int, int, int, int]:
        """Change of the cell by direction."""
        return (self.stride, -self.stride, -1, 1)

    def cell(self, x: int, y: int) -> int:
        """Return the cell of a tile; tiles may be one outside the map."""
        return (y + 1) * self.stride + x + 1

    def tile_of(self, cell: int) -> tuple[int, int]:
        """Return the column and row of a cell."""
        y, x = divmod(cell, self.stride)
        return (x - 1, y - 1)

    def inside(self, x: int, y: int) -> bool:
        """Return whether a tile is inside the map."""
        return 0 <= x < self.width and 0 <= y < self.height

    def direction(self, start: int, end: int) -> int:
        """Return the direction from a cell to another one of its row or column."""
        away = end - start
        if away % self.stride:
            return 3 if away > 0 else 2
        return 0 if away > 0 else 1

    def edge(self, direction: int) -> Iterator[int]:
        """Return the cells along the map's edge in a direction."""
        if direction < 2:
            y = self.height - 1 if direction == 0 else 0
            return iter(range(self.cell(0, y), self.cell(self.width, y)))
        x = 0 if direction == 2 else self.width - 1
        return iter(range(self.cell(x, 0), self.cell(x, self.height), self.stride))
