"""Memory map of a game: named fields, the decoding of their bytes, and plans that read many at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, TypeAlias

from pkmncli.errors import EnvironmentSetupError, did_you_mean

NO_BANK = -1
"""Bank of an address that does not depend on bank switching: high RAM, or games without banked work RAM."""

_ENCODING = re.compile(r"^(?P<kind>[a-z_]+[0-9]*(?:be|le)?)(?:\[(?P<count>[0-9]+)\])?$")
_INTEGERS = {"u8": 1, "u16be": 2, "u16le": 2, "u24be": 3, "u32be": 4}


Span: TypeAlias = tuple[int, int, int]
"""Bank, address and size of some neighbouring bytes."""


class Memory(Protocol):
    """Source of bytes by bank and address: the emulator, or a fake one in a test."""

    def read(self, bank: int, address: int, size: int) -> bytes:
        """Return ``size`` bytes from ``address`` of ``bank`` (:data:`NO_BANK` for none)."""
        ...

    def bind(self, spans: Sequence[Span]) -> Callable[[], bytes]:
        """Return a function that reads the same spans repeatedly and returns their bytes joined."""
        ...


@cache
def _parts_of(encoding: str) -> tuple[str, str | None]:
    """Return the kind of number of an encoding, and its count if it has one."""
    match = _ENCODING.match(encoding)
    return (match["kind"], match["count"]) if match else ("", None)


@dataclass(frozen=True, slots=True)
class MemoryField:
    """Named place in memory. ``valid_when`` describes when its value is valid."""

    name: str
    address: int
    bank: int
    size: int
    encoding: str = "u8"
    meaning: str = ""
    valid_when: str = ""

    def decode(self, data: bytes) -> Any:
        """Return the value of the field's bytes: a number, a tuple of numbers or pairs, or the bytes themselves."""
        kind, count = _parts_of(self.encoding)
        if kind == "pairs":
            return item_pairs(data)
        width = _INTEGERS.get(kind)
        if width is None:
            return data[0] if self.size == 1 else data
        order = "little" if kind.endswith("le") else "big"
        numbers = [int.from_bytes(data[i : i + width], order) for i in range(0, len(data), width)]  # type: ignore[arg-type]
        return tuple(numbers) if count is not None or len(numbers) > 1 else numbers[0]


@dataclass(frozen=True, slots=True)
class RomTable:
    """Address of a table in the cartridge image."""

    bank: int
    address: int

    @property
    def offset(self) -> int:
        """Position in the image file."""
        return self.address if self.address < 0x4000 else self.bank * 0x4000 + self.address - 0x4000


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """Fields and tables of a profile."""

    fields: Mapping[str, MemoryField]
    rom_tables: Mapping[str, RomTable] = field(default_factory=dict)
    source: str = "memory.toml"

    def __contains__(self, name: str) -> bool:
        return name in self.fields

    def __getitem__(self, name: str) -> MemoryField:
        try:
            return self.fields[name]
        except KeyError:
            hint = did_you_mean(name, self.fields, lead="; ", shown="{}")
            raise EnvironmentSetupError(f"{self.source} has no memory field {name!r}{hint}") from None

    def read(self, memory: Memory, name: str) -> Any:
        """Return the decoded value of one field, read from memory."""
        place = self[name]
        return place.decode(memory.read(place.bank, place.address, place.size))


def item_pairs(data: bytes) -> tuple[tuple[int, int], ...]:
    """Return the (item, quantity) pairs of a pocket up to the end mark FF."""
    pairs = []
    for i in range(0, len(data) - 1, 2):
        if data[i] == 0xFF:
            break
        pairs.append((data[i], data[i + 1]))
    return tuple(pairs)


class ReadPlan:
    """Reader of the bytes of many fields at once, and no others; overlapping fields are read once.

    :meth:`read` returns all bytes joined; :attr:`offset` is where each field begins in them. Fields that the profile
    lacks read as zero, except for the ``defaults`` given.
    """

    def __init__(
        self,
        fields: Iterable[MemoryField],
        absent: Mapping[str, int] | None = None,
        defaults: Mapping[str, int] | None = None,
    ) -> None:
        self.offset: dict[str, int] = {}
        self._spans: list[Span] = []
        ordered = sorted(set(fields), key=lambda place: (place.bank, place.address))
        length = 0
        for place in ordered:
            if self._spans and self._extends(self._spans[-1], place):
                bank, start, size = self._spans[-1]
                grown = max(size, place.address + place.size - start)
                self._spans[-1] = (bank, start, grown)
                length += grown - size
            else:
                self._spans.append((place.bank, place.address, place.size))
                length += place.size
            bank, start, size = self._spans[-1]
            self.offset[place.name] = length - size + place.address - start
        tail = bytearray()
        for name, size in (absent or {}).items():
            self.offset[name] = length + len(tail)
            tail += (defaults or {}).get(name, 0).to_bytes(size, "big")
        self._tail = bytes(tail)
        self._memory: Memory | None = None
        self._read: Callable[[], bytes] = bytes

    @staticmethod
    def _extends(span: Span, place: MemoryField) -> bool:
        bank, start, size = span
        same_page = start >> 12 == (place.address + place.size - 1) >> 12
        return bank == place.bank and same_page and place.address <= start + size

    def read(self, memory: Memory) -> bytes:
        """Return all fields' bytes, joined."""
        if memory is not self._memory:
            self._memory = memory
            self._read = memory.bind(self._spans)
        return self._read() + self._tail
