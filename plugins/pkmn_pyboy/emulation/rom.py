"""Cartridge images: read from disk, with the header and clear errors."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from pkmn_pyboy.emulation.foreign_files import compressed_kind, patch_kind
from pkmncli.api import expand_home
from pkmncli.errors import RomError

_BANK_BYTES = 0x4000
_HEADER_END = 0x150
_CLOCK_TYPES = (0x0F, 0x10)
_BATTERY_TYPES = (0x03, 0x0F, 0x10, 0x13, 0x1B, 0x1E)
_RAM_BYTES = {2: 0x2000, 3: 0x8000, 4: 0x20000, 5: 0x10000}
"""Sizes of a cartridge's RAM by the byte of its header (Pan Docs, "The Cartridge Header")."""
_MAX_BYTES = 8 * 1024 * 1024
_SMALLEST_BYTES = 0x8000
_LARGEST_SIZE_CODE = 8
_BY_SCREEN = "--env gameboy plays any Game Boy image by its screen alone"


@dataclass(frozen=True, slots=True)
class RomHeader:
    """Header of a cartridge image. ``declared_bytes`` is None for an invalid size."""

    title: str
    code: str
    version: int
    colour: bool
    cartridge_type: int
    declared_bytes: int | None
    checksum: int
    checksum_expected: int
    ram_bytes: int = 0
    """Size of the cartridge's RAM."""

    @property
    def has_battery(self) -> bool:
        """True if a battery keeps the cartridge's RAM."""
        return self.cartridge_type in _BATTERY_TYPES and self.ram_bytes > 0

    @property
    def has_clock(self) -> bool:
        """True if the cartridge has a real-time clock."""
        return self.cartridge_type in _CLOCK_TYPES


@dataclass(frozen=True, slots=True)
class RomImage:
    """Cartridge image in memory. ``sha1`` identifies it."""

    path: Path
    data: bytes = field(repr=False)
    sha1: str
    header: RomHeader


@dataclass(frozen=True, slots=True)
class RomIdentity:
    """Image that a profile describes."""

    name: str
    sha1: str
    title: str = ""
    code: str = ""
    version: int | None = None

    def looks_like(self, header: RomHeader) -> bool:
        """Return True if a header agrees with this image's."""
        return (
            bool(self.title)
            and header.title == self.title
            and self.code in ("", header.code)
            and self.version in (None, header.version)
        )


@dataclass(frozen=True, slots=True)
class Lookalike:
    """Image that a profile does not fit although its header looks similar."""

    name: str
    title: str = ""
    code: str = ""
    version: int | None = None

    def matches(self, header: RomHeader) -> bool:
        """Return True if all given values agree with the header."""
        return (
            (not self.title or header.title.startswith(self.title))
            and (not self.code or header.code == self.code)
            and (self.version is None or header.version == self.version)
        )


def parse_header(data: bytes) -> RomHeader:
    """Read the header of an image of at least 0x150 bytes."""
    expected = 0
    for byte in data[0x134:0x14D]:
        expected = (expected - byte - 1) & 0xFF
    colour = bool(data[0x143] & 0x80)
    title = data[0x134 : 0x143 if colour else 0x144].split(b"\0")[0]
    return RomHeader(
        title=title.decode("ascii", "replace"),
        code=data[0x13F:0x143].decode("ascii", "replace").rstrip("\0"),
        version=data[0x14C],
        colour=colour,
        cartridge_type=data[0x147],
        declared_bytes=_SMALLEST_BYTES << data[0x148] if data[0x148] <= _LARGEST_SIZE_CODE else None,
        checksum=data[0x14D],
        checksum_expected=expected,
        ram_bytes=_RAM_BYTES.get(data[0x149], 0),
    )


def load_rom(path: Path) -> RomImage:
    """Read and check a cartridge image.

    Raises:
        RomError: the file is missing, not a regular file, empty, an archive, for another console, cut off or damaged.
    """
    path = expand_home(path)
    try:
        if path.is_dir():
            raise RomError(f"{path} is a folder, not a cartridge image: name the .gbc file in it")
        if path.exists() and not path.is_file():
            raise RomError(f"{path} is no regular file: name a cartridge image")
        size = path.stat().st_size
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES if size <= _MAX_BYTES else _HEADER_END)
    except FileNotFoundError:
        raise RomError(
            f"No cartridge image at {path.absolute()}: check the path, or leave it out for the bundled game"
        ) from None
    except OSError as error:
        raise RomError(f"{path} can't be read: {error.strerror or error}; check its permissions") from None
    _check_kind(path, data, size)
    header = parse_header(data)
    if header.checksum != header.checksum_expected:
        raise RomError(
            f"{path} is damaged or no Game Boy image: its header's checksum is {header.checksum:02X}, "
            f"not {header.checksum_expected:02X}; copy it from the cartridge again"
        )
    if header.declared_bytes is not None and size < header.declared_bytes:
        raise RomError(
            f"{path} is cut off: it has {size:,} bytes, its header says {header.declared_bytes:,}; copy it again"
        )
    return RomImage(path, data, hashlib.sha1(data, usedforsecurity=False).hexdigest(), header)


def _check_kind(path: Path, data: bytes, size: int) -> None:
    if size == 0:
        raise RomError(f"{path} is empty: copy the image again")
    kind = compressed_kind(data)
    if kind is not None:
        raise RomError(f"{path} is {kind}: unpack it and name the .gbc file inside")
    kind = patch_kind(data)
    if kind is not None:
        raise RomError(
            f"{path} is {kind}, not an image: apply it with a patcher to the image it was made "
            "for, and name what comes out"
        )
    if size > _MAX_BYTES:
        raise RomError(f"{path} is too large for a Game Boy image ({size:,} bytes): name a .gbc file")
    if path.suffix.lower() == ".zip":
        raise RomError(f"{path} is named as an archive: unpack it and name the .gbc file inside")
    # A Game Boy Advance image carries this byte at a fixed place of its header.
    if path.suffix.lower() == ".gba" or (len(data) > 0xB2 and data[0xB2] == 0x96 and data[3] == 0xEA):
        raise RomError(f"{path} is a Game Boy Advance image: this needs one for the Game Boy (Color)")
    if size < _HEADER_END or size % _BANK_BYTES:
        raise RomError(
            f"{path} has {size:,} bytes, no multiple of 16 KiB, so it is cut off or no Game Boy image: copy it again"
        )


def check_identity(
    rom: RomImage, game: str, known: tuple[RomIdentity, ...], lookalikes: tuple[Lookalike, ...], *, force: bool
) -> RomIdentity | None:
    """Find the known image that this is.

    Args:
        rom: the image.
        game: name of the profile, for the message.
        known: images that the profile describes. Empty if it fits any image.
        lookalikes: images that it is known not to fit.
        force: continue with an unknown image.

    Raises:
        RomError: the profile does not describe this image, and ``force`` is off.
    """
    for identity in known:
        if identity.sha1 == rom.sha1:
            return identity
    if force or not known:
        return None
    what = f"{rom.path} ({rom.header.title or 'no title'}, SHA-1 {rom.sha1[:12]})"
    for lookalike in lookalikes:
        if lookalike.matches(rom.header):
            raise RomError(
                f"{what} is {lookalike.name}, which keeps its memory elsewhere: {game} needs {_names(known)}; "
                f"{_BY_SCREEN}, and --force-rom --game NAME goes on at your own risk"
            )
    for identity in known:
        if identity.looks_like(rom.header):
            raise RomError(
                f"{what} looks like {_edition(game, identity.name)} but its bytes differ (a hack, or a bad copy); "
                "use an unchanged image, or --force-rom --game NAME to go on anyway"
            )
    raise RomError(
        f"{what} is no image that {game} knows ({_names(known)}); name the right one, or use --force-rom --game NAME; "
        f"{_BY_SCREEN}"
    )


def _names(known: tuple[RomIdentity, ...]) -> str:
    return " or ".join(identity.name for identity in known)


def _edition(game: str, edition: str) -> str:
    return edition if edition.startswith(game) else f"{game} {edition}"
