"""Which maps border on which, read from the cartridge image, so that ways lead over maps never seen."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from pkmn_pyboy.profile import GameProfile
from pkmn_pyboy.state.memory_map import RomTable

TABLE = "MapGroupPointers"
_HEADER_BYTES, _WARP_BYTES, _CONNECTION_BYTES = 9, 5, 12
_CONNECTION_BITS = (8, 4, 2, 1)


class World:
    """The graph of a game's maps: an edge wherever a warp or a map's edge leads from one to the other.

    Empty where the profile doesn't say where the image keeps its maps; :meth:`learn` adds what is found out.
    """

    def __init__(self, neighbours: Mapping[int, set[int]] | None = None) -> None:
        self._neighbours: dict[int, set[int]] = {map_id: set(others) for map_id, others in (neighbours or {}).items()}
        self._distances: dict[int, dict[int, int]] = {}

    @classmethod
    def from_rom(cls, rom: bytes, profile: GameProfile) -> World:
        """Reads the headers of the maps that the profile names. What makes no sense is left out."""
        table = profile.memory.rom_tables.get(TABLE)
        if table is None:
            return cls()
        known = set(profile.names.maps)
        neighbours = {}
        for map_id in sorted(known):
            try:
                neighbours[map_id] = _neighbours(rom, table, map_id) & known - {map_id}
            except IndexError:
                continue
        return cls(neighbours)

    def with_links(self, links: Iterable[Sequence[int]]) -> World:
        """A copy that also has the ways given as (from, to)."""
        world = World(self._neighbours)
        for origin, destination in links:
            world.learn(origin, destination)
        return world

    def neighbours(self, map_id: int) -> frozenset[int]:
        """The maps that one can get to directly."""
        return frozenset(self._neighbours.get(map_id, ()))

    def learn(self, map_id: int, destination: int) -> None:
        """Adds a way that was found."""
        known = self._neighbours.setdefault(map_id, set())
        if destination not in known:
            known.add(destination)
            self._distances.clear()

    def distances(self, target: int) -> Mapping[int, int]:
        """How many maps lie between each map and the target, by map id; maps without a way are left out."""
        found = self._distances.get(target)
        if found is None:
            found = self._distances[target] = self._search(target)
        return found

    def _search(self, target: int) -> dict[int, int]:
        arriving: dict[int, list[int]] = {}
        for map_id, others in self._neighbours.items():
            for other in others:
                arriving.setdefault(other, []).append(map_id)
        found = {target: 0}
        queue = deque([target])
        while queue:
            place = queue.popleft()
            for origin in arriving.get(place, ()):
                if origin not in found:
                    found[origin] = found[place] + 1
                    queue.append(origin)
        return found


def _neighbours(rom: bytes, table: RomTable, map_id: int) -> set[int]:
    group, number = map_id >> 8, map_id & 0xFF
    header = _offset(table.bank, _word(rom, table.offset + (group - 1) * 2)) + (number - 1) * _HEADER_BYTES
    attributes = _offset(rom[header], _word(rom, header + 3))
    events = _offset(rom[attributes + 6], _word(rom, attributes + 9))
    found = set()
    record = attributes + 12
    for bit in _CONNECTION_BITS:
        if rom[attributes + 11] & bit:
            found.add(rom[record] << 8 | rom[record + 1])
            record += _CONNECTION_BYTES
    for warp in range(rom[events + 2]):
        start = events + 3 + warp * _WARP_BYTES
        found.add(rom[start + 3] << 8 | rom[start + 4])
    return found


def _offset(bank: int, address: int) -> int:
    return address if address < 0x4000 else bank * 0x4000 + address - 0x4000


def _word(rom: bytes, place: int) -> int:
    return rom[place] | rom[place + 1] << 8
