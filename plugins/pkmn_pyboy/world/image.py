"""Bytes of a cartridge image, by position and by bank, with bounds checks on every read."""

from __future__ import annotations

from collections.abc import Mapping

from pkmn_pyboy.profile.memory_map import RomTable

BANK_BYTES = 0x4000
_BANKED_END = 0x8000


class OutOfImage(ValueError):  # noqa: N818 - it names the event, and never leaves this package
    """Position outside of the image."""


class Image:
    """Cartridge image with the tables that its profile knows.

    Args:
        data: the image.
        tables: its tables by name.
    """

    def __init__(self, data: bytes, tables: Mapping[str, RomTable]) -> None:
        self.data = data
        self.tables = tables
        self._starts = sorted(table.offset for table in tables.values())

    def byte(self, offset: int) -> int:
        """Return one byte. Raises OutOfImage."""
        if not 0 <= offset < len(self.data):
            raise OutOfImage(f"byte {offset:X} of {len(self.data):X}")
        return self.data[offset]

    def word(self, offset: int) -> int:
        """Return two bytes as a number, the low byte first. Raises OutOfImage."""
        return self.byte(offset) | self.byte(offset + 1) << 8

    def take(self, offset: int, size: int) -> bytes:
        """Return some bytes. Raises OutOfImage unless all of them exist."""
        if not 0 <= offset <= len(self.data) - size:
            raise OutOfImage(f"{size} bytes from {offset:X} of {len(self.data):X}")
        return self.data[offset : offset + size]

    def place(self, bank: int, address: int) -> int:
        """Return the position of a banked address. Raises OutOfImage if it is invalid."""
        if address >= _BANKED_END:
            raise OutOfImage(f"address {address:04X} is not in a cartridge")
        offset = address if address < BANK_BYTES else bank * BANK_BYTES + address - BANK_BYTES
        if offset >= len(self.data):
            raise OutOfImage(f"{bank:02X}:{address:04X} is beyond the image")
        return offset

    def pointer(self, offset: int, bank: int) -> int:
        """Return the position that the word at an offset points to, in a bank. Raises OutOfImage."""
        return self.place(bank, self.word(offset))

    def table(self, name: str) -> RomTable | None:
        """Return a table, None if the profile does not know it or the image ends before it."""
        table = self.tables.get(name)
        return table if table is not None and table.offset < len(self.data) else None

    def room(self, offset: int) -> int:
        """Return the bytes from an offset to the next table, or to the end of its bank: the maximum size of a list."""
        bank_end = offset - offset % BANK_BYTES + BANK_BYTES
        ends = [start for start in self._starts if offset < start < bank_end]
        return min([bank_end, len(self.data), *ends]) - offset

    def pointer_list(self, table: RomTable, most: int = 0x100) -> list[int]:
        """Return the positions in a table of words that point into its bank.

        It ends where the first of its lists begins, at the next table, or at an invalid pointer.
        """
        positions: list[int] = []
        start, end = table.offset, table.offset + self.room(table.offset)
        while start + 2 <= end and len(positions) < most:
            try:
                position = self.pointer(start, table.bank)
            except OutOfImage:
                break
            if position > table.offset:
                end = min(end, position)
            positions.append(position)
            start += 2
        return positions
