"""Banks of 16 KiB that are filled from the front."""

from __future__ import annotations

BANK_SIZE, FIRST_BANK, LAST_BANK = 0x4000, 4, 15


def word(value: int) -> bytes:
    return bytes([value & 255, value >> 8])


class Blob:
    """Bytes put together one after another."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = bytearray(data)

    def byte(self, value: int) -> None:
        self.data.append(value)

    def raw(self, data: bytes) -> None:
        self.data += data


class Banks:
    """The data banks; every piece added gets its address between 4000 and 7FFF."""

    def __init__(self) -> None:
        self.banks = {bank: bytearray() for bank in range(FIRST_BANK, LAST_BANK + 1)}

    def here(self, bank: int) -> int:
        """The address that the next piece of a bank will get."""
        return 0x4000 + len(self.banks[bank])

    def add(self, bank: int, name: str, data: bytes, align: int = 1) -> int:
        self.banks[bank] += bytes(-len(self.banks[bank]) % align)
        address = self.here(bank)
        self.banks[bank] += data
        if len(self.banks[bank]) > BANK_SIZE:
            raise SystemExit(f"bank {bank} is full at {name}")
        return address

    def image(self) -> bytes:
        return b"".join(bytes(data).ljust(BANK_SIZE, b"\0") for data in self.banks.values())

    def report(self) -> None:
        print("  data banks: " + ", ".join(f"{b}: {len(d)}" for b, d in self.banks.items() if d))
