"""Exits of the loaded map: doors, stairs, mats and edges, with the map that each leads to."""

from __future__ import annotations

from dataclasses import dataclass

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.navigation.grid import WALL, MapGrid, TileRules
from pkmn_pyboy.profile.model import GameProfile

UNKNOWN_MAP = 0
"""Destination of an exit that leads back to the previous map."""

ENTER = -1
"""Press of an exit that acts when stepped on."""

_WARP_BYTES = 5
_BACK = (0, 0xFF)
_CONNECTION_BYTES = 12
_CONNECTIONS = ((1, 3, "north"), (0, 2, "south"), (2, 1, "west"), (3, 0, "east"))
"""Direction, bit and name of the four connections, in the order of memory."""


@dataclass(frozen=True, slots=True)
class Exit:
    """Exit of a map. ``ends`` maps its cells to the direction to press there, :data:`ENTER` for none."""

    key: str
    """Key that stays the same while the map does: the destination or the edge."""
    destination: int
    """Map id, or :data:`UNKNOWN_MAP`."""
    ends: dict[int, int]
    back: bool = False
    """True if it leads back to the previous map."""


class ExitReader:
    """Reader of the loaded map's exits.

    Args:
        emulator: runs the game.
        profile: addresses of warps and connections.
        rules: meaning of tiles.
    """

    def __init__(self, emulator: Emulator, profile: GameProfile, rules: TileRules) -> None:
        self._emulator = emulator
        self._memory = profile.memory
        self._rules = rules

    def read(self, grid: MapGrid) -> list[Exit]:
        """Return all exits, warps first. Two mats of one door are one exit."""
        return [*self._warps(grid), *self._edges(grid)]

    def warp_tiles(self) -> list[tuple[int, int, int, int]]:
        """Return each warp's column, row, number at the other end and map there, as listed."""
        table = self._event_list("wCurMapWarpEvent", _WARP_BYTES)
        return [(row[1], row[0], row[2], row[3] << 8 | row[4]) for row in table]

    def directions(self) -> list[int]:
        """Return the directions in which an edge leads to another map."""
        if "wMapConnections" not in self._memory:
            return []
        bits = self._memory.read(self._emulator, "wMapConnections")
        return sorted(direction for direction, bit, _ in _CONNECTIONS if bits >> bit & 1)

    def signs(self) -> list[tuple[int, int]]:
        """Return the tiles of signs and other objects to read."""
        return [(row[1], row[0]) for row in self._event_list("wCurMapBGEvent", 5)]

    def triggers(self) -> list[tuple[int, int, int]]:
        """Return scene, column and row of each tile that starts a scene, as listed."""
        return [(row[0], row[2], row[1]) for row in self._event_list("wCurMapCoordEvent", 8)]

    def _event_list(self, prefix: str, size: int) -> list[bytes]:
        memory, emulator = self._memory, self._emulator
        if f"{prefix}Count" not in memory or "wMapScriptsBank" not in memory:
            return []
        count = memory.read(emulator, f"{prefix}Count")
        address = memory.read(emulator, f"{prefix}sPointer")
        data = emulator.read_rom(memory.read(emulator, "wMapScriptsBank"), address, count * size)
        return [data[start : start + size] for start in range(0, len(data) - size + 1, size)]

    def _warps(self, grid: MapGrid) -> list[Exit]:
        rules = self._rules
        exits: dict[str, Exit] = {}
        for x, y, number, map_id in self.warp_tiles():
            if not grid.inside(x, y):
                continue
            cell = grid.cell(x, y)
            tile = grid.tiles[cell]
            if tile in rules.warps:
                press = ENTER
            elif rules.mats[tile] < 4:
                press = rules.mats[tile]
            else:
                continue
            back = number in _BACK
            key = f"warp back {x},{y}" if back else f"warp {map_id >> 8}.{map_id & 0xFF} {number}"
            known = exits.setdefault(key, Exit(key, UNKNOWN_MAP if back else map_id, {}, back))
            known.ends[cell] = press
        return list(exits.values())

    def _edges(self, grid: MapGrid) -> list[Exit]:
        memory, emulator = self._memory, self._emulator
        if "wMapConnections" not in memory or "wNorthConnectedMapGroup" not in memory:
            return []
        bits = memory.read(emulator, "wMapConnections")
        place = memory["wNorthConnectedMapGroup"]
        records = emulator.read(place.bank, place.address, _CONNECTION_BYTES * len(_CONNECTIONS))
        exits = []
        for number, (direction, bit, name) in enumerate(_CONNECTIONS):
            if not bits >> bit & 1:
                continue
            record = records[number * _CONNECTION_BYTES : (number + 1) * _CONNECTION_BYTES]
            delta = grid.deltas[direction]
            ends = {
                cell: direction
                for cell in grid.edge(direction)
                if self._rules.kind[grid.tiles[cell]] != WALL and self._rules.kind[grid.tiles[cell + delta]] != WALL
            }
            exits.append(Exit(f"edge {name}", record[0] << 8 | record[1], ends))
        return exits
