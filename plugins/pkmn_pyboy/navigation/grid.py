"""Loaded map as a grid of tiles, read from memory, and walking rules for tiles from the profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pkmn_pyboy.profile.model import CollisionRules, GameProfile
from pkmncli.api import Action

if TYPE_CHECKING:
    from pkmn_pyboy.emulation.emulator import Emulator

STEPS: tuple[tuple[int, int], ...] = ((0, 1), (0, -1), (-1, 0), (1, 0))
"""Change of column and row by direction, in the order of :class:`~pkmn_pyboy.state.game_state.Facing`."""

PRESSES: tuple[Action, ...] = (Action.DOWN, Action.UP, Action.LEFT, Action.RIGHT)
"""Press to walk in a direction, in the same order."""

OPPOSITE: tuple[int, ...] = (1, 0, 3, 2)
"""Opposite direction."""

LAND, WATER, WALL = 0, 1, 2

OFF_MAP = 0xFF
"""Collision byte of tiles outside a map, which can't be walked on."""

_DIRECTION_NAMES = ("down", "up", "left", "right")
_BORDER_BLOCKS = 3
_NO_DIRECTION = 0xFF
_WARP_KIND = 7
_NEEDED = ("wOverworldMapBlocks", "wMapWidth", "wMapHeight", "wTilesetCollisionBank", "wTilesetCollisionAddress")


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
    counter: int
    ice: int

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
        return cls(
            kind,
            _directed(collision.names, "ledge_"),
            _directed(collision.names, "side_wall_"),
            bytes(mats),
            frozenset(warps if pit is None else warps | {pit}),
            frozenset(value for name, value in collision.names.items() if name.endswith("_grass")),
            collision.names.get("counter", -1),
            collision.names.get("ice", -1),
        )


def _directed(names: Mapping[str, int], prefix: str) -> bytes:
    table = bytearray(256)
    for name, value in names.items():
        if name.startswith(prefix):
            for word in name.removeprefix(prefix).split("_"):
                table[value] |= 1 << _DIRECTION_NAMES.index(word)
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

    def edge(self, direction: int) -> Iterator[int]:
        """Return the cells along the map's edge in a direction."""
        if direction < 2:
            y = self.height - 1 if direction == 0 else 0
            return iter(range(self.cell(0, y), self.cell(self.width, y)))
        x = 0 if direction == 2 else self.width - 1
        return iter(range(self.cell(x, 0), self.cell(x, self.height), self.stride))


class GridReader:
    """Reader of the loaded map; keeps the last grid while its blocks stay the same.

    Args:
        emulator: runs the game.
        profile: addresses of the map.
    """

    def __init__(self, emulator: Emulator, profile: GameProfile) -> None:
        self.rules = TileRules.of(profile.collision)
        self.readable = all(name in profile.memory for name in _NEEDED)
        """True if the profile has the addresses of the map."""
        self._emulator = emulator
        self._memory = profile.memory
        self._key: tuple[int, int, int, int, bytes] | None = None
        self._grid: MapGrid | None = None

    def read(self, map_id: int) -> MapGrid:
        """Return the grid of the loaded map."""
        emulator, memory = self._emulator, self._memory
        width, height = memory.read(emulator, "wMapWidth"), memory.read(emulator, "wMapHeight")
        bank = memory.read(emulator, "wTilesetCollisionBank")
        address = memory.read(emulator, "wTilesetCollisionAddress")
        field = memory["wOverworldMapBlocks"]
        stride = width + 2 * _BORDER_BLOCKS
        size = min(field.size, stride * (height + 2 * _BORDER_BLOCKS))
        blocks = emulator.read(field.bank, field.address, size)
        key = (map_id, width, bank, address, blocks)
        if self._grid is None or key != self._key:
            self._key = key
            self._grid = MapGrid(map_id, width * 2, height * 2, self._tiles(blocks, width, height, bank, address))
        return self._grid

    def _tiles(self, blocks: bytes, width: int, height: int, bank: int, address: int) -> bytes:
        stride = width + 2 * _BORDER_BLOCKS
        corners: dict[int, bytes] = {0: bytes([OFF_MAP] * 4)}
        tiles = bytearray()
        for y in range(-1, height * 2 + 1):
            start = (y // 2 + _BORDER_BLOCKS) * stride + _BORDER_BLOCKS
            half = (y & 1) * 2
            row = bytearray()
            for block in blocks[start - 1 : start + width + 1].ljust(width + 2, b"\0"):
                if block not in corners:
                    corners[block] = self._emulator.read_rom(bank, address + block * 4, 4).ljust(4, b"\xff")
                row += corners[block][half : half + 2]
            tiles += row[1:-1]
        return bytes(tiles)
