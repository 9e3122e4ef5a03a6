"""Banks of 16 KiB that are filled from the front."""

from __future__ import annotations

BANK_SIZE, FIRST_BANK, LAST_BANK = 0x4000, 4, 15
# the code has banks 0 to 3
BANK_MAPS, BANK_BLOCKS, BANK_TILESETS, BANK_SCRIPTS = 4, 5, 6, 7
BANK_TEXT, BANK_CREATURES, BANK_PICTURES, BANK_ART, BANK_PICTURES_2 = 8, 9, 10, 11, 12
BANK_DRAWN_BLOCKS = 13  # src/walk.s has it too

Table = tuple[int, int, str]
"""Bank, address and layout in words of a table that other programs may read."""


def word(value: int) -> bytes:
    """Return a little-endian word."""
    return bytes([value & 255, value >> 8])


class Banks:
    """The data banks; every piece added gets its address between 4000 and 7FFF."""

    def __init__(self) -> None:
        self.banks = {bank: bytearray() for bank in range(FIRST_BANK, LAST_BANK + 1)}

    def here(self, bank: int) -> int:
        """Return the address that the next piece of a bank will get."""
        return 0x4000 + len(self.banks[bank])

    def add(self, bank: int, name: str, data: bytes, align: int = 1) -> int:
        """Put a piece at the end of a bank and return its address; the name is for the message when it is full."""
        self.banks[bank] += bytes(-len(self.banks[bank]) % align)
        address = self.here(bank)
        self.banks[bank] += data
        if len(self.banks[bank]) > BANK_SIZE:
            raise SystemExit(f"bank {bank} is full at {name}")
        return address

    def image(self) -> bytes:
        """All data banks one after another."""
        return b"".join(bytes(data).ljust(BANK_SIZE, b"\0") for data in self.banks.values())

    def report(self) -> None:
        """Print how full each bank is."""
        print("  data banks: " + ", ".join(f"{b}: {len(d)}" for b, d in self.banks.items() if d))
