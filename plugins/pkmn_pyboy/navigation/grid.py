"""The loaded map as a grid of tiles: what each one lets the player do, read from memory and the image's tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pkmn_pyboy.profile import CollisionRules, GameProfile
from pkmncli.api import Action

if TYPE_CHECKING:
    from pkmn_pyboy.emulator import Emulator

STEPS: tuple[tuple[int, int], ...] = ((0, 1), (0, -1), (-1, 0), (1, 0))
"""Change of column and row by direction, in the order of :class:`~pkmn_pyboy.state.game_state.Facing`."""

PRESSES: tuple[Action, ...] = (Action.DOWN, Action.UP, Action.LEFT, Action.RIGHT)
"""The press that walks in a direction, in the same order."""

OPPOSITE: tuple[int, ...] = (1, 0, 3, 2)
"""The direction back."""

LAND, WATER, WALL = 0, 1, 2

OFF_MAP = 0xFF
"""Collision byte of what lies off a map, where nobody walks."""

_DIRECTION_NAMES = ("down", "up", "left", "right")
_BORDER_BLOCKS = 3
_NO_DIRECTION = 0xFF
_WARP_KIND = 7
_NEEDED = ("wOverworldMapBlocks", "wMapWidth", "wMapHeight", "wTilesetCollisionBank", "wTilesetCollisionAddress")


@dataclass(frozen=True, slots=True)
class TileRules:
    """What a collision byte means for walking. Each table has 256 entries; bits of a mask are directions."""

    kind: bytes
    """LAND, WATER or WALL."""
    jumps: bytes
    """Ledges: the directions in which one jumps off."""
    sides: bytes
    """Walled sides: the directions in which one can neither leave nor, from outside, enter."""
    mats: bytes
    """Warp mats: the direction to press on it, FF for other tiles."""
    warps: frozenset[int]
    """Values that warp whoever steps on them, where a warp is listed."""
    grass: frozenset[int]
    """Values where wild Pokemon hide."""
    counter: int
    ice: int

    @classmethod
    def of(cls, collision: CollisionRules) -> TileRules:
        """From a profile's lists and names: ``ledge_``, ``side_wall_`` and ``warp_mat_`` end in directions."""
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
    """A map's collision bytes, row by row, with one tile of what lies outside on every side.

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
        """The cell of a tile; tiles may lie one outside of the map."""
        return (y + 1) * self.stride + x + 1

    def tile_of(self, cell: int) -> tuple[int, int]:
        """Column and row of a cell."""
        y, x = divmod(cell, self.stride)
        return (x - 1, y - 1)

    def inside(self, x: int, y: int) -> bool:
        """Whether a tile is one of the map's own."""
        return 0 <= x < self.width and 0 <= y < self.height

    def edge(self, direction: int) -> Iterator[int]:
        """The cells along the map's edge in a direction."""
        if direction < 2:
            y = self.height - 1 if direction == 0 else 0
            return iter(range(self.cell(0, y), self.cell(self.width, y)))
        x = 0 if direction == 2 else self.width - 1
        return iter(range(self.cell(x, 0), self.cell(x, self.height), self.stride))


class GridReader:
    """Reads the loaded map, and keeps the last one for as long as its blocks stay the same.

    Args:
        emulator: runs the game.
        profile: says where the game keeps its map.
    """

    def __init__(self, emulator: Emulator, profile: GameProfile) -> None:
        self.rules = TileRules.of(profile.collision)
        self.readable = all(name in profile.memory for name in _NEEDED)
        """Whether the profile says where the map is."""
        self._emulator = emulator
        self._memory = profile.memory
        self._key: tuple[int, int, int, int, bytes] | None = None
        self._grid: MapGrid | None = None

    def read(self, map_id: int) -> MapGrid:
        """The grid of the map that is loaded now."""
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
