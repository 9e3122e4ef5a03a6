"""Layout of maps: their number, sizes, and the collision bytes of every tile and of one tile beyond the edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.world.image import BANK_BYTES, Image, OutOfImage
from pkmn_pyboy.world.records import Connection
from pkmn_pyboy.world.tile_rules import MapGrid

CONNECTION_BYTES = 12
CONNECTIONS = ((8, 1), (4, 0), (2, 2), (1, 3))
"""Bit and direction of the four connections, in the order of their records."""
BORDER_BLOCKS = 3
"""Blocks around a map in memory, on each side."""

_HEADER_BYTES, _TILESET_BYTES = 9, 15
_MOST_BLOCKS = 0x1000
_MOST_MAPS = 127
_MOST_GROUPS = 64
_ATTRIBUTES_BYTES = 12
_TILESET_COLLISION = 6
_BLOCK_BYTES = (0, 16, 4)
"""Bytes of a block in each part of a tileset: graphics (0: per tile, not per block), tile numbers, collision."""
_BLOCK_NUMBERS = 256


@dataclass(frozen=True, slots=True)
class Header:
    """Header of a map in the image. Positions are offsets in the image."""

    map_id: int
    tileset: int
    kind: int
    landmark: int
    border: int
    width: int
    """Width in blocks of two by two tiles."""
    height: int
    blocks: int
    collision: int
    scripts_bank: int
    events: int
    connections: tuple[Connection, ...]


class MapLayouts:
    """Reader of map positions and layouts.

    Args:
        image: the cartridge image.
        profile: names of the maps, and the memory size of a map.
    """

    def __init__(self, image: Image, profile: GameProfile) -> None:
        self._image = image
        self._names = profile.names.maps
        field = profile.memory.fields.get("wOverworldMapBlocks")
        self._room = field.size if field is not None else _MOST_BLOCKS
        self._headers: dict[int, Header] = {}
        self._corners: dict[int, dict[int, bytes]] = {}

    def places(self) -> dict[int, int]:
        """Return the positions of all map headers by map id; empty if the profile does not know the table.

        A group ends where the next one begins. If nothing marks an end, the maps that the profile names count: for the
        last group, and for the number of groups if their lists do not follow the table.
        """
        table = self._image.table("MapGroupPointers")
        if table is None:
            return {}
        groups = self._image.pointer_list(table, _MOST_GROUPS)
        if not any(place > table.offset for place in groups):
            groups = groups[: max((map_id >> 8 for map_id in self._names), default=len(groups))]
        starts = sorted({*groups, table.offset})
        found = {}
        for group, start in enumerate(groups, 1):
            later = [place for place in starts if place > start]
            named = max((map_id & 0xFF for map_id in self._names if map_id >> 8 == group), default=0)
            count = min((later[0] - start) // _HEADER_BYTES, _MOST_MAPS) if later else named
            for number in range(1, count + 1):
                found[group << 8 | number] = start + (number - 1) * _HEADER_BYTES
        return found

    def header(self, map_id: int, place: int) -> Header:
        """Return a map's header and attributes. Raises OutOfImage if they are invalid."""
        known = self._headers.get(map_id)
        if known is None:
            known = self._headers[map_id] = self._read_header(map_id, place)
        return known

    def _read_header(self, map_id: int, place: int) -> Header:
        image = self._image
        head = image.take(place, _HEADER_BYTES)
        attributes = image.pointer(place + 3, head[0])
        border, height, width, blocks_bank = image.take(attributes, 4)
        if not width or not height or (width + 2 * BORDER_BLOCKS) * (height + 2 * BORDER_BLOCKS) > self._room:
            raise OutOfImage(f"{width} x {height} blocks are not a valid map size")
        blocks = image.pointer(attributes + 4, blocks_bank)
        image.take(blocks, width * height)
        scripts_bank = image.byte(attributes + 6)
        return Header(
            map_id,
            head[1],
            head[2],
            head[5],
            border,
            width,
            height,
            blocks,
            self._collision(head[1]),
            scripts_bank,
            image.pointer(attributes + 9, scripts_bank),
            self._connections(attributes, width, height),
        )

    def _collision(self, tileset: int) -> int:
        table = self._image.table("Tilesets")
        if table is None:
            raise OutOfImage("the profile has no address of the tilesets")
        entry = table.offset + tileset * _TILESET_BYTES
        return self._image.pointer(entry + _TILESET_COLLISION + 1, self._image.byte(entry + _TILESET_COLLISION))

    def _connections(self, attributes: int, width: int, height: int) -> tuple[Connection, ...]:
        image, found = self._image, []
        record = attributes + _ATTRIBUTES_BYTES
        bits = image.byte(attributes + _ATTRIBUTES_BYTES - 1)
        for bit, direction in CONNECTIONS:
            if not bits & bit:
                continue
            data = image.take(record, CONNECTION_BYTES)
            record += CONNECTION_BYTES
            connection = connection_of(direction, data)
            if abs(connection.shift) <= 2 * max(width, height, 0x40):
                found.append(connection)
        return tuple(found)

    def grid(self, header: Header, places: dict[int, int]) -> MapGrid:
        """Return the collision bytes of a map and of one tile around it: of a connected map, or the border block."""
        rows = [self._row(header, y) for y in range(header.height * 2)]
        width, height = header.width * 2, header.height * 2
        border = self._block(header, header.border)
        above = bytearray(border[2 + (x & 1)] for x in range(-1, width + 1))
        below = bytearray(border[x & 1] for x in range(-1, width + 1))
        left = bytearray(border[(y & 1) * 2 + 1] for y in range(height))
        right = bytearray(border[(y & 1) * 2] for y in range(height))
        for connection in header.connections:
            other = self._neighbour(connection, places)
            if other is None:
                continue
            if connection.direction < 2:
                line, beyond, first = (below if connection.direction == 0 else above), width, 1
                wide, high = other.width * 2, other.height * 2
            else:
                line, beyond, first = (left if connection.direction == 2 else right), height, 0
                wide, high = other.height * 2, other.width * 2
            if not 0 <= connection.edge < high:
                continue
            strip = self._row(other, connection.edge) if connection.direction < 2 else b""
            for place in range(beyond):
                there = place + connection.shift
                if 0 <= there < wide:
                    line[place + first] = (
                        strip[there] if connection.direction < 2 else self._tile(other, connection.edge, there)
                    )
        tiles = bytearray(above)
        for y, row in enumerate(rows):
            tiles.append(left[y])
            tiles += row
            tiles.append(right[y])
        return MapGrid(header.map_id, width, height, bytes(tiles + below))

    def changed(self, header: Header, grid: MapGrid, blocks: Mapping[tuple[int, int], int]) -> MapGrid:
        """Return a map's grid with other blocks, by their upper left tile. Raises OutOfImage for an invalid block."""
        tiles = bytearray(grid.tiles)
        for (x, y), number in blocks.items():
            if not grid.inside(x, y):
                raise OutOfImage(f"block ({x},{y}) is not on the map")
            corners = self._block(header, number)
            for half in range(2):
                cell = grid.cell(x, y + half)
                tiles[cell : cell + 2] = corners[2 * half : 2 * half + 2]
        return replace(grid, tiles=bytes(tiles))

    def block_count(self, tileset: int, tilesets: Iterable[int]) -> int:
        """Return the maximum number of blocks of a tileset: its data end where others begin.

        Args:
            tileset: its number.
            tilesets: numbers of all tilesets that maps use.
        """
        starts = [start for one in tilesets for start, _ in self._parts(one)]
        most = _BLOCK_NUMBERS
        for start, size in self._parts(tileset):
            room = self._image.room(start)
            if size:
                most = min([most, room // size, *((other - start) // size for other in starts if other > start)])
        return most

    def _parts(self, tileset: int) -> list[tuple[int, int]]:
        """Return the positions of a tileset's graphics, tile numbers and collision, with the bytes of a block."""
        image, table = self._image, self._image.table("Tilesets")
        found: list[tuple[int, int]] = []
        if table is None:
            return found
        for number, size in enumerate(_BLOCK_BYTES):
            entry = table.offset + tileset * _TILESET_BYTES + 3 * number
            try:
                if image.word(entry + 1) >= BANK_BYTES:
                    found.append((image.pointer(entry + 1, image.byte(entry)), size))
            except OutOfImage:
                continue
        return found

    def _neighbour(self, connection: Connection, places: dict[int, int]) -> Header | None:
        place = places.get(connection.target_map)
        if place is None:
            return None
        try:
            return self.header(connection.target_map, place)
        except OutOfImage:
            return None

    def _block(self, header: Header, block: int) -> bytes:
        corners = self._corners.setdefault(header.collision, {})
        found = corners.get(block)
        if found is None:
            found = corners[block] = self._image.take(header.collision + block * 4, 4)
        return found

    def _row(self, header: Header, y: int) -> bytes:
        start = header.blocks + (y >> 1) * header.width
        half = (y & 1) * 2
        blocks = self._image.data[start : start + header.width]
        return b"".join([self._block(header, block)[half : half + 2] for block in blocks])

    def _tile(self, header: Header, x: int, y: int) -> int:
        block = self._image.byte(header.blocks + (y >> 1) * header.width + (x >> 1))
        return self._block(header, block)[(y & 1) * 2 + (x & 1)]


def connection_of(direction: int, record: bytes) -> Connection:
    """Return the connection of a record, in the image or in memory."""
    y, x = record[8], record[9]
    shift, edge = (_signed(x), y) if direction < 2 else (_signed(y), x)
    return Connection(direction, record[0] << 8 | record[1], shift, edge)


def _signed(value: int) -> int:
    return value - 0x100 if value >= 0x80 else value
