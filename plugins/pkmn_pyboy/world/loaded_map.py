"""Reader of the map in the game's memory: the same model as a map of the cartridge, as it is now."""

from __future__ import annotations

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.profile.memory_map import ReadPlan
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.world.knowledge import openers_of
from pkmn_pyboy.world.map_events import (
    PERSON_BYTES,
    PERSON_SHIFT,
    SIGN_BYTES,
    TRIGGER_BYTES,
    WARP_BYTES,
    person_of,
    sign_of,
    trigger_of,
    warp_of,
)
from pkmn_pyboy.world.map_layout import BORDER_BLOCKS, CONNECTION_BYTES, CONNECTIONS, connection_of
from pkmn_pyboy.world.records import NOWHERE, Connection, MapPerson, Role, WorldMap
from pkmn_pyboy.world.tile_rules import OFF_MAP, MapGrid, TileRules

_SIZE = ("wMapWidth", "wMapHeight", "wTilesetCollisionBank", "wTilesetCollisionAddress")
NEEDED_FIELDS = ("wOverworldMapBlocks", *_SIZE)
"""Fields of memory without which a map can't be read."""

_LISTS = (
    ("wCurMapWarpEvent", WARP_BYTES),
    ("wCurMapCoordEvent", TRIGGER_BYTES),
    ("wCurMapBGEvent", SIGN_BYTES),
)
_BANK, _EDGES = "wMapScriptsBank", "wMapConnections"
_STRUCT_BYTES, _STRUCTS, _STRUCT_OBJECT, _STRUCT_X, _STRUCT_Y = 40, 13, 0x01, 0x10, 0x11
_OBJECT_BYTES, _OBJECTS = 16, 16
_HIDDEN = 0xFF
_EFFECT = 0xFF


class LoadedMap:
    """Reader of the loaded map; keeps the last one while its memory stays the same.

    Args:
        emulator: runs the game.
        profile: addresses of the map and its people, and rules for reading them.
    """

    def __init__(self, emulator: Emulator, profile: GameProfile) -> None:
        memory = profile.memory
        self.rules = TileRules.of(profile.collision)
        self.openers = openers_of(profile, self.rules)
        self.readable = all(name in memory for name in NEEDED_FIELDS)
        """True if the profile has the addresses of the map."""
        self._emulator = emulator
        self._memory = memory
        self._profile = profile
        lists = [f"{prefix}{end}" for prefix, _ in _LISTS for end in ("Count", "sPointer")]
        self._size = ReadPlan(memory[name] for name in _SIZE if name in memory)
        self._events = ReadPlan(memory[name] for name in (_BANK, _EDGES, *lists) if name in memory)
        self._connections = memory.fields.get("wNorthConnectedMapGroup")
        self._structs = memory.fields.get("wObjectStructs")
        self._objects = memory.fields.get("wMapObjects")
        self._masks = memory.fields.get("wObjectMasks")
        self._numbers: tuple[bytes, list[int]] = (b"", [])
        self._grid: tuple[tuple[int, bytes, bytes], MapGrid] | None = None
        self._map: tuple[tuple[bytes, bytes], WorldMap] | None = None
        self._people: dict[int, tuple[bytes, tuple[int, int] | None, MapPerson]] = {}

    def read(self, map_id: int) -> WorldMap:
        """Return the map without its people, who move: :meth:`people` returns them."""
        grid, events = self.grid(map_id), self._events.read(self._emulator)
        edges = self._value(self._events, events, _EDGES)
        key = (events, self._connection_records() if edges else b"")
        if self._map is None or self._map[1].grid is not grid or self._map[0] != key:
            warps, triggers, signs = (self._rows(events, prefix, size) for prefix, size in _LISTS)
            here = WorldMap(
                map_id,
                self._profile.names.map_name(map_id),
                0,
                0,
                0,
                grid,
                tuple(warp_of(number, row) for number, row in enumerate(warps, 1)),
                tuple(self._connected(edges, key[1])),
                tuple(trigger_of(row) for row in triggers),
                tuple(sign_of(row) for row in signs),
            )
            self._map = key, here
        return self._map[1]

    def _value(self, plan: ReadPlan, data: bytes, name: str) -> int:
        """Return the value of a field in the bytes of a plan, 0 if the profile lacks it."""
        start = plan.offset.get(name)
        if start is None:
            return 0
        field = self._memory[name]
        return int(field.decode(data[start : start + field.size]))

    # Tiles ------------------------------------------------------------------------------------------------------

    def grid(self, map_id: int) -> MapGrid:
        """Return the tiles of the map."""
        size, field = self._size.read(self._emulator), self._memory["wOverworldMapBlocks"]
        if size != self._numbers[0]:
            self._numbers = size, [self._value(self._size, size, name) for name in _SIZE]
        width, height, bank, address = self._numbers[1]
        count = min(field.size, (width + 2 * BORDER_BLOCKS) * (height + 2 * BORDER_BLOCKS))
        key = (map_id, size, self._emulator.read(field.bank, field.address, count))
        if self._grid is None or key != self._grid[0]:
            tiles = self._tiles(key[2], width, height, bank, address)
            self._grid = key, MapGrid(map_id, width * 2, height * 2, tiles)
        return self._grid[1]

    def _tiles(self, blocks: bytes, width: int, height: int, bank: int, address: int) -> bytes:
        stride = width + 2 * BORDER_BLOCKS
        corners: dict[int, bytes] = {0: bytes([OFF_MAP] * 4)}
        tiles = bytearray()
        for y in range(-1, height * 2 + 1):
            start = (y // 2 + BORDER_BLOCKS) * stride + BORDER_BLOCKS
            half = (y & 1) * 2
            row = bytearray()
            for block in blocks[start - 1 : start + width + 1].ljust(width + 2, b"\0"):
                if block not in corners:
                    corners[block] = self._emulator.read_rom(bank, address + block * 4, 4).ljust(4, b"\xff")
                row += corners[block][half : half + 2]
            tiles += row[1:-1]
        return bytes(tiles)

    # Warps, triggers, signs and connections ---------------------------------------------------------------------

    def _rows(self, events: bytes, prefix: str, size: int) -> list[bytes]:
        """Return the rows of a list of events."""
        if _BANK not in self._events.offset:
            return []
        bank, address, count = (
            self._value(self._events, events, name) for name in (_BANK, f"{prefix}sPointer", f"{prefix}Count")
        )
        data = self._emulator.read_rom(bank, address, count * size)
        return [data[start : start + size] for start in range(0, len(data) - size + 1, size)]

    def _connection_records(self) -> bytes:
        field = self._connections
        if field is None:
            return b""
        return self._emulator.read(field.bank, field.address, CONNECTION_BYTES * len(CONNECTIONS))

    @staticmethod
    def _connected(bits: int, records: bytes) -> list[Connection]:
        found = []
        for number, (bit, direction) in enumerate(CONNECTIONS):
            record = records[number * CONNECTION_BYTES : (number + 1) * CONNECTION_BYTES]
            if bits & bit:
                found.append(connection_of(direction, record) if record else Connection(direction, NOWHERE, 0, 0))
        return found

    # People -----------------------------------------------------------------------------------------------------

    def nearby(self) -> dict[int, tuple[int, int]]:
        """Return the tiles of people near the screen, by number. A walking person counts for the tile ahead."""
        if self._structs is None:
            return {}
        data = self._emulator.read(self._structs.bank, self._structs.address, _STRUCT_BYTES * _STRUCTS)
        shift = PERSON_SHIFT
        return {
            data[start + _STRUCT_OBJECT]: (data[start + _STRUCT_X] - shift, data[start + _STRUCT_Y] - shift)
            for start in range(_STRUCT_BYTES, _STRUCT_BYTES * _STRUCTS, _STRUCT_BYTES)
            if data[start] and data[start + _STRUCT_OBJECT] != _EFFECT
        }

    def people(self) -> list[MapPerson]:
        """Return everyone on the map whom the story does not hide. Their roles follow from kind and movement only."""
        nearby = self.nearby()
        if self._objects is None:
            return [MapPerson(number, x, y, Role.PERSON) for number, (x, y) in nearby.items()]
        data = self._emulator.read(self._objects.bank, self._objects.address, _OBJECT_BYTES * _OBJECTS)
        masks = b""
        if self._masks is not None:
            masks = self._emulator.read(self._masks.bank, self._masks.address, _OBJECTS)
        found = []
        for number in range(1, _OBJECTS):
            # an object begins with the number of its structure, then follows its row of the cartridge
            row = data[number * _OBJECT_BYTES + 1 :][:PERSON_BYTES]
            if row[0] and not (masks and masks[number] == _HIDDEN):
                found.append(self._person(number, row, nearby.get(number)))
        return found

    def _person(self, number: int, row: bytes, tile: tuple[int, int] | None) -> MapPerson:
        kept = self._people.get(number)
        if kept is None or kept[0] != row or kept[1] != tile:
            kept = self._people[number] = row, tile, person_of(number, row, self._profile, tile)
        return kept[2]
