"""Battery save of a cartridge as a file: read and checked before a game starts from it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from pkmn_pyboy.emulation.foreign_files import BATTERY_BYTES, CLOCK_BYTES, compressed_kind, emulator_of, patch_kind
from pkmn_pyboy.emulation.rom import RomHeader, RomImage
from pkmn_pyboy.emulation.saved_state import MAGIC
from pkmncli.api import expand_home
from pkmncli.errors import EnvironmentSetupError

_MOST_BYTES = max(BATTERY_BYTES) + max(CLOCK_BYTES)


@dataclass(frozen=True, slots=True)
class BatterySave:
    """Battery save of a cartridge. ``digest`` identifies it; an emulator's clock is not part of the digest."""

    path: Path
    ram: bytes = field(repr=False)
    digest: str
    rest: bytes = field(default=b"", repr=False)
    """Bytes after the RAM: an emulator's clock, or padding up to the size of a larger cartridge's."""

    @property
    def blank(self) -> bool:
        """True if nothing was ever saved in it."""
        return len(set(self.ram)) == 1 and self.ram[0] in (0x00, 0xFF)


def read_battery_save(path: Path, rom: RomImage) -> BatterySave:
    """Read the file of a battery save.

    Args:
        path: file as emulators and cartridge readers write it, with or without the bytes of an emulator's clock, or
            padded with bytes of one value to the size of a larger cartridge.
        rom: the cartridge.

    Raises:
        EnvironmentSetupError: the cartridge has no battery, or the file is missing, unreadable or of another size.
    """
    path = expand_home(path)
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
    if not _fits(data, header.ram_bytes):
        raise EnvironmentSetupError(f"--cartridge: {path} {_what_else(data, header)}")
    ram = data[: header.ram_bytes]
    return BatterySave(path, ram, hashlib.blake2b(ram, digest_size=12).hexdigest(), data[header.ram_bytes :])


def _fits(data: bytes, ram_bytes: int) -> bool:
    """Return True if a file has the size of a battery save of this RAM, or is padded to the size of a larger one."""
    if len(data) - ram_bytes in CLOCK_BYTES:
        return True
    for larger in BATTERY_BYTES:
        if larger > ram_bytes and len(data) - larger in CLOCK_BYTES:
            return len(set(data[ram_bytes:larger])) == 1
    return False


def _what_else(data: bytes, header: RomHeader) -> str:
    """Return what a file is that is no battery save of a cartridge, and what to do."""
    emulator = emulator_of(data)
    if emulator is not None:
        return f"is a saved state of {emulator}, and no battery save: save in the game itself there, and name that .sav"
    if data.startswith(MAGIC):
        return "is a saved state, and no battery save: begin in it with --init-state"
    kind = compressed_kind(data)
    if kind is not None:
        return f"is {kind}: unpack it and name the .sav file inside"
    kind = patch_kind(data)
    if kind is not None:
        return f"is {kind}, and no battery save: name the .sav file of this game"
    expected = (
        f"a battery save of {header.title or 'this game'} has {header.ram_bytes:,}, or with an emulator's clock up to "
        f"{max(CLOCK_BYTES)} more: name the .sav file of this game"
    )
    if len(data) < header.ram_bytes:
        return f"is too short, cut off or of another game: it has {len(data):,} bytes, and {expected}"
    has = f"more than {_MOST_BYTES:,}" if len(data) > _MOST_BYTES else f"{len(data):,}"
    return f"has {has} bytes, and {expected}"


def check_battery(path: Path, rom: RomImage) -> None:
    """Raise EnvironmentSetupError if the cartridge has no battery."""
    if not rom.header.has_battery:
        raise EnvironmentSetupError(
            f"{rom.header.title or rom.path} keeps nothing in its cartridge, so no battery save can be of it: "
            f"leave out --cartridge {path}"
        )
