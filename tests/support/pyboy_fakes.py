"""Fakes for the tests: memory that a test fills field by field, small cartridge images, a random player."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.profile.memory_map import MemoryMap

IN_CONTROL = {
    "wMapGroup": 24,
    "wMapNumber": 4,
    "wXCoord": 13,
    "wYCoord": 6,
    "wMapStatus": 2,
    "wSpriteUpdatesEnabled": 1,
}
"""Fields of a player who is in a town and can walk."""


class FakeMemory:
    """Work RAM with banks: bytes of another bank are never read by mistake."""

    def __init__(self, fields: MemoryMap) -> None:
        self.fields = fields
        self.bytes: dict[tuple[int, int], int] = {}

    def read(self, bank: int, address: int, size: int) -> bytes:
        return bytes(self.bytes.get((bank, place), 0) for place in range(address, address + size))

    def bind(self, spans: Sequence[tuple[int, int, int]]) -> Callable[[], bytes]:
        return lambda: b"".join(self.read(*span) for span in spans)

    def set(self, **values: int | bytes | Sequence[int]) -> FakeMemory:
        """Set fields, by number (of the field's size, big-endian) or by bytes."""
        for name, value in values.items():
            place = self.fields[name]
            data = value.to_bytes(place.size, "big") if isinstance(value, int) else bytes(value)
            self.put(place.bank, place.address, data)
        return self

    def put(self, bank: int, address: int, data: bytes) -> None:
        for offset, byte in enumerate(data):
            self.bytes[bank, address + offset] = byte

    def tile(self, row: int, column: int, code: int) -> None:
        """Put a tile on the screen."""
        self.put(0, 0xC4A0 + row * 20 + column, bytes((code,)))

    def message_box(self) -> FakeMemory:
        """Draw the corners of the message box."""
        for row, column, code in ((12, 0, 0x79), (12, 19, 0x7B), (17, 0, 0x7D), (17, 19, 0x7E)):
            self.tile(row, column, code)
        return self

    def cursor(self, row: int, column: int, code: int = 0xED) -> FakeMemory:
        """Point the game's cursor at a tile and draw it there."""
        self.put(0, 0xCFAC, (0xC4A0 + row * 20 + column).to_bytes(2, "little"))
        self.tile(row, column, code)
        return self


def party_record(
    *,
    species: int = 158,
    level: int = 5,
    hp: int = 20,
    max_hp: int = 20,
    moves: bytes = b"\x0a\x2b\0\0",
    pp: bytes = b"",
    status: int = 0,
) -> bytes:
    """Return a party member's record of 48 bytes."""
    data = bytearray(48)
    data[0] = species
    data[2:6] = moves
    data[0x17:0x1B] = (pp or b"\x23\x1e\0\0")[:4]
    data[0x1F] = level
    data[0x20] = status
    data[0x22:0x24] = hp.to_bytes(2, "big")
    data[0x24:0x26] = max_hp.to_bytes(2, "big")
    return bytes(data)


def battle_record(
    *,
    species: int = 161,
    level: int = 2,
    hp: int = 13,
    max_hp: int = 13,
    types: bytes = b"\0\0",
    moves: bytes = b"\x21\0\0\0",
) -> bytes:
    """Return a battler's record of 32 bytes."""
    data = bytearray(32)
    data[0] = species
    data[2:6] = moves
    data[8:12] = b"\x23\0\0\0"
    data[0x0D] = level
    data[0x10:0x12] = hp.to_bytes(2, "big")
    data[0x12:0x14] = max_hp.to_bytes(2, "big")
    data[0x1E:0x20] = types
    return bytes(data)


def small_rom(
    *,
    title: bytes = b"SMALL",
    code: bytes = b"",
    version: int = 0,
    cartridge_type: int = 0,
    colour: int = 0xC0,
    size: int = 0x8000,
    size_code: int = 0,
) -> bytes:
    """Return a valid cartridge image that does nothing forever."""
    data = bytearray(size)
    data[0x100:0x104] = b"\x00\xc3\x50\x01"
    data[0x150:0x152] = b"\x18\xfe"
    data[0x134 : 0x134 + len(title)] = title
    data[0x13F : 0x13F + len(code)] = code
    data[0x143], data[0x147], data[0x148], data[0x14C] = colour, cartridge_type, size_code, version
    return fix_checksum(data)


def fix_checksum(data: bytearray) -> bytes:
    """Correct the header's checksum."""
    total = 0
    for byte in data[0x134:0x14D]:
        total = (total - byte - 1) & 0xFF
    data[0x14D] = total
    return bytes(data)


def random_actions(environment: PokemonEnvironment, seed: int, steps: int) -> Iterator[int]:
    """Yield random actions from those that the mask allows at that moment."""
    draw = random.Random(seed)
    for _ in range(steps):
        yield draw.choice([action for action in range(9) if environment.mask[action]])
