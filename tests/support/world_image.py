"""Cartridge image made by a test: maps and tables with the layout of Pokemon Crystal, but none of its data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pkmn_pyboy.profile.memory_map import RomTable
from pkmn_pyboy.profile.model import GameProfile

BANK = 0x4000
HEADERS, BLOCKS, SCRIPTS, TILESETS, DATA = 0x01, 0x02, 0x12, 0x22, 0x24
"""First bank of each kind of data; blocks and scripts may take sixteen."""
SIZE = 0x30

TILES = {
    ".": 0x00,
    "#": 0x07,
    "T": 0x12,
    "g": 0x18,
    "~": 0x29,
    "@": 0x24,
    "!": 0x33,
    "i": 0x23,
    "c": 0x90,
    "v": 0xA3,
    ">": 0xA0,
    "<": 0xA1,
    "D": 0x71,
    "S": 0x7A,
    "m": 0x70,
    "O": 0x60,
}
"""Collision byte by letter."""

NORTH, SOUTH, WEST, EAST = "north", "south", "west", "east"
_BITS = {NORTH: 8, SOUTH: 4, WEST: 2, EAST: 1}
_ANY_HOUR = 0xFF


def word(value: int) -> bytes:
    return value.to_bytes(2, "little")


@dataclass(frozen=True)
class Person:
    """Person of a map; ``script`` are the first bytes of their script."""

    x: int
    y: int
    movement: int = 6
    kind: int = 0
    sight: int = 0
    script: bytes = b"\x91"
    flag: int = 0xFFFF
    sprite: int = 1
    radius: tuple[int, int] = (0, 0)
    hours: tuple[int, int] = (_ANY_HOUR, _ANY_HOUR)


@dataclass
class TestMap:
    """Map to be built. ``joins`` has for a side: group, number, shift along the side and edge there, in tiles."""

    __test__ = False

    group: int
    number: int
    rows: Sequence[str]
    warps: Sequence[tuple[int, int, int, int, int]] = ()
    """Column, row, number there, group, number."""
    joins: dict[str, tuple[int, int, int, int]] = field(default_factory=dict)
    triggers: Sequence[tuple[int, int, int]] = ()
    signs: Sequence[tuple[int, int, int, bytes]] = ()
    people: Sequence[Person] = ()
    kind: int = 2
    landmark: int = 0
    border: str = "#"


class WorldImage:
    """Builder of an image from maps and tables."""

    def __init__(self) -> None:
        self.data = bytearray(SIZE * BANK)
        self.tables: dict[str, RomTable] = {}
        self._ends = [0] * SIZE
        self._block_ids: dict[str, int] = {}
        self._maps: list[TestMap] = []

    def put(self, bank: int, data: bytes, banks: int = 1) -> tuple[int, int]:
        """Add bytes to the first of some banks that has room. Return bank and address."""
        for place in range(bank, bank + banks):
            if self._ends[place] + len(data) <= BANK:
                start = self._ends[place]
                self.data[place * BANK + start : place * BANK + start + len(data)] = data
                self._ends[place] += len(data)
                return place, BANK + start
        raise AssertionError("the test's image is full")

    def table(self, name: str, data: bytes, bank: int = DATA) -> None:
        """Add a table."""
        self.tables[name] = RomTable(*self.put(bank, data))

    def pointers(self, name: str, entries: Iterable[bytes], bank: int = DATA) -> None:
        """Add a table of words and, behind it, the data that they point to."""
        entries = list(entries)
        start = BANK + self._ends[bank]
        words, body = b"", b""
        for entry in entries:
            words += word(start + 2 * len(entries) + len(body))
            body += entry
        self.table(name, words + body, bank)

    def block(self, letters: str) -> int:
        """Return the number of a block by its four tiles, row by row; a new one if no map has it."""
        return self._block(letters)

    def add(self, *maps: TestMap) -> None:
        """Add maps."""
        self._maps += maps

    def build(self, crystal: GameProfile, **names: Any) -> tuple[bytes, GameProfile]:
        """Return the image, and Crystal's profile with this image's tables and names."""
        headers: dict[int, dict[int, bytes]] = {}
        for one in self._maps:
            headers.setdefault(one.group, {})[one.number] = self._header(one)
        groups = max(headers, default=0)
        lists = [b"".join(headers[group][n] for n in sorted(headers[group])) for group in range(1, groups + 1)]
        self.pointers("MapGroupPointers", lists, HEADERS)
        blocks = b"".join(
            bytes(TILES[letter] for letter in letters)
            for letters, _ in sorted(self._block_ids.items(), key=lambda item: item[1])
        )
        bank, address = self.put(TILESETS, blocks)
        self.table("Tilesets", bytes(6) + bytes([bank]) + word(address) + bytes(6), TILESETS)
        known = {one.group << 8 | one.number: f"Map {one.group}.{one.number}" for one in self._maps}
        profile = replace(
            crystal,
            memory=replace(crystal.memory, rom_tables=self.tables),
            names=replace(crystal.names, **{"maps": known, **names}),
        )
        return bytes(self.data), profile

    def _header(self, one: TestMap) -> bytes:
        rows = one.rows
        width, height = len(rows[0]) // 2, len(rows) // 2
        ids = bytes(
            self._block(rows[y][x : x + 2] + rows[y + 1][x : x + 2])
            for y in range(0, len(rows), 2)
            for x in range(0, len(rows[0]), 2)
        )
        blocks = self.put(BLOCKS, ids, 16)
        size = sum(len(person.script) for person in one.people) + sum(len(sign[3]) for sign in one.signs)
        size += 8 + 5 * len(one.warps) + 8 * len(one.triggers) + 5 * len(one.signs) + 13 * len(one.people)
        bank, start = self.put(SCRIPTS, bytes(size), 16)
        content, events = self._events(one, start)
        place = (bank - 1) * BANK + start
        self.data[place : place + len(content)] = content
        out = bytes([self._block(one.border * 4), height, width, blocks[0]]) + word(blocks[1])
        out += bytes([bank]) + word(start) + word(events) + bytes([sum(_BITS[side] for side in one.joins)])
        for side in _BITS:
            if side in one.joins:
                group, number, shift, edge = one.joins[side]
                y, x = (edge, shift) if side in (NORTH, SOUTH) else (shift, edge)
                out += bytes([group, number, 0, 0, 0, 0, 0, 0, y & 0xFF, x & 0xFF, 0, 0])
        attributes = self.put(HEADERS, out, 1)
        return bytes([attributes[0], 0, one.kind]) + word(attributes[1]) + bytes([one.landmark, 0, 0, 0])

    def _events(self, one: TestMap, start: int) -> tuple[bytes, int]:
        code, places = b"", []
        for script in [*(sign[3] for sign in one.signs), *(person.script for person in one.people)]:
            places.append(start + len(code))
            code += script
        out = bytes(2) + bytes([len(one.warps)])
        for x, y, there, group, number in one.warps:
            out += bytes([y, x, there, group, number])
        out += bytes([len(one.triggers)])
        for scene, x, y in one.triggers:
            out += bytes([scene, y, x, 0, 0, 0, 0, 0])
        out += bytes([len(one.signs)])
        for (x, y, kind, _), place in zip(one.signs, places, strict=False):
            out += bytes([y, x, kind]) + word(place)
        out += bytes([len(one.people)])
        for person, place in zip(one.people, places[len(one.signs) :], strict=True):
            out += bytes([person.sprite, person.y + 4, person.x + 4, person.movement])
            out += bytes([person.radius[1] << 4 | person.radius[0], *person.hours, person.kind, person.sight])
            out += word(place) + word(person.flag)
        return code + out, start + len(code)

    def _block(self, letters: str) -> int:
        return self._block_ids.setdefault(letters, len(self._block_ids))
