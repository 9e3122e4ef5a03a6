"""A cartridge's battery save as a file: read and checked before a game is begun in it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from pkmn_pyboy.rom import RomImage
from pkmncli.errors import EnvironmentSetupError

CLOCK_BYTES = (0, 16, 22, 44, 48)
"""What emulators put after the cartridge's RAM: nothing, or their clock."""

_MOST_BYTES = 0x20000 + max(CLOCK_BYTES)


@dataclass(frozen=True, slots=True)
class BatterySave:
    """What a cartridge's battery has kept. ``digest`` tells one from another; an emulator's clock is no part of it."""

    path: Path
    ram: bytes = field(repr=False)
    digest: str
    clock: bytes = field(default=b"", repr=False)
    """An emulator's clock, which stands after the RAM."""

    @property
    def blank(self) -> bool:
        """Whether nothing was ever kept in it."""
        return len(set(self.ram)) == 1 and self.ram[0] in (0x00, 0xFF)


def read_battery_save(path: Path, rom: RomImage) -> BatterySave:
    """Reads the file of a battery save.

    Args:
        path: as emulators and cartridge readers write it, with the bytes of an emulator's clock or without.
        rom: the cartridge that it is of.

    Raises:
        EnvironmentSetupError: the cartridge has no battery, or the file is missing, unreadable or of another size.
    """
    path = path.expanduser()
    header = rom.header
    check_battery(path, rom)
    try:
        if path.is_dir():
            raise EnvironmentSetupError(f"--cartridge: {path} is a folder: name the .sav file in it")
        if path.exists() and not path.is_file():
            raise EnvironmentSetupError(f"--cartridge: {path} is no regular file: name a battery save")
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise EnvironmentSetupError(f"--cartridge: {path} can't be read: {error.strerror}; check the path") from None
    if len(data) - header.ram_bytes not in CLOCK_BYTES:
        has = f"more than {_MOST_BYTES:,}" if len(data) > _MOST_BYTES else f"{len(data):,}"
        raise EnvironmentSetupError(
            f"--cartridge: {path} has {has} bytes, and a battery save of {header.title or 'this game'} "
            f"{header.ram_bytes:,}, or with an emulator's clock up to {max(CLOCK_BYTES)} more: name the .sav file of "
            "this game"
        )
    ram = data[: header.ram_bytes]
    return BatterySave(path, ram, hashlib.blake2b(ram, digest_size=12).hexdigest(), data[header.ram_bytes :])


def check_battery(path: Path, rom: RomImage) -> None:
    """Raises EnvironmentSetupError where the cartridge has no battery that a file could stand for."""
    if not rom.header.has_battery:
        raise EnvironmentSetupError(
            f"{rom.header.title or rom.path} keeps nothing in its cartridge, so no battery save can be of it: "
            f"leave out --cartridge {path}"
        )
