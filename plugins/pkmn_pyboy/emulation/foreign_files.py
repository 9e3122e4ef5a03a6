"""Files of other programs, by their first bytes: archives, patches for images, saved states of emulators."""

from __future__ import annotations

import re
import zlib

_COMPRESSED = {
    b"PK\x03\x04": "a ZIP archive",
    b"PK\x05\x06": "a ZIP archive",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive",
    b"Rar!\x1a\x07": "a RAR archive",
    b"\x1f\x8b": "a gzip file",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ\x00": "an xz file",
    b"\x04\x22\x4d\x18": "an LZ4 file",
    b"#RZIPv": "a compressed file of RetroArch",
}

_PATCHES = {
    b"PATCH": "an IPS patch",
    b"IPS32": "an IPS patch",
    b"BPS1": "a BPS patch",
    b"UPS1": "a UPS patch",
    b"\xd6\xc3\xc4": "an xdelta patch",
    b"%XDZ": "an xdelta patch",
    b"PPF": "a PPF patch",
    b"APS1": "an APS patch",
    b"BSDIFF4": "a bsdiff patch",
    b"NINJA2": "a RUP patch",
}

_STATES = {
    b"BGB": "BGB",
    b"EMAS": "SameBoy",
    b"SAME": "SameBoy",
    b"RASTATE": "RetroArch",
    b"BOS\x00": "Boytacean",
}
_PNG = b"\x89PNG\r\n\x1a\n"
_MGBA_PNG_CHUNK = b"gbAs"
_MGBA_MAGIC = b"\x00\x40\x00"
"""Behind the byte of the version, in the four bytes that a state of mGBA begins with when it is no picture."""
_TAR_AT, _TAR = 257, b"ustar"
_GAMBATTE_LABEL = re.compile(rb"[a-z0-9]{1,8}\0")
_VBA_VERSIONS = range(1, 32)

BATTERY_BYTES = (0x200, 0x800, 0x2000, 0x8000, 0x10000, 0x20000)
"""Sizes of the RAM that batteries keep in cartridges."""

CLOCK_BYTES = (0, 16, 22, 44, 48)
"""Sizes of what emulators put after the cartridge's RAM: nothing, or their clock."""


def compressed_kind(data: bytes) -> str | None:
    """Return what kind of archive or compressed file begins so; None where it is none."""
    if data[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        return "a tar archive"
    return _beginning(_COMPRESSED, data)


def patch_kind(data: bytes) -> str | None:
    """Return what kind of patch for an image begins so; None where it is none."""
    return _beginning(_PATCHES, data)


def foreign_state(data: bytes) -> str | None:
    """Return what a whole file is that was given as a saved state, with what to do; None where nothing is known of it.

    To be asked of what could not be loaded: how a file begins may be chance.
    """
    emulator = emulator_of(data)
    if emulator is not None:
        return (
            f"That is a saved state of {emulator}, which only {emulator} can read: save in the game itself there, and "
            "begin in its battery save with --cartridge FILE.sav"
        )
    kind = compressed_kind(data)
    if kind is not None:
        return f"That is {kind}: unpack it, and name the file inside"
    kind = patch_kind(data)
    if kind is not None:
        return f"That is {kind} for an image, and no saved state: name a file that PyBoy or pkmn play saved"
    if data.startswith(_PNG):
        return "That is a picture, and no saved state: name a file that PyBoy or pkmn play saved"
    if any(len(data) - ram in CLOCK_BYTES for ram in BATTERY_BYTES):
        return (
            f"That is as long as a battery save ({len(data):,} bytes), and no saved state: begin in it with --cartridge"
        )
    return None


def emulator_of(data: bytes) -> str | None:
    """Return whose saved state a file is, as far as it begins or ends like one; None where that isn't known."""
    known = _beginning(_STATES, data)
    if known is not None:
        return known
    if data[1:4] == _MGBA_MAGIC or (data.startswith(_PNG) and _MGBA_PNG_CHUNK in data):
        return "mGBA"
    if data[-4:] == b"BESS":
        return "SameBoy, or another emulator with a part in the form BESS"
    if _is_gambatte(data):
        return "Gambatte"
    if data.startswith(b"\x1f\x8b") and _is_visualboyadvance(data):
        return "VisualBoyAdvance"
    return None


def _is_gambatte(data: bytes) -> bool:
    """Return True for a byte 0, the version, a picture after its length in three bytes, then named values."""
    if len(data) < 16 or data[0] != 0 or data[1] > 8:
        return False
    begins = 5 + int.from_bytes(data[2:5], "big")
    return _GAMBATTE_LABEL.match(data, begins) is not None


def _is_visualboyadvance(data: bytes) -> bool:
    """Return whether it is gzip of a version of four bytes, and of the image's title in 15."""
    try:
        head = zlib.decompressobj(31).decompress(data, 19)
    except zlib.error:
        return False
    title = head[4:19].rstrip(b"\0")
    printable = all(0x20 <= byte < 0x7F or byte == 0 for byte in title)
    return int.from_bytes(head[:4], "little") in _VBA_VERSIONS and bool(title) and printable


def _beginning(kinds: dict[bytes, str], data: bytes) -> str | None:
    return next((kind for magic, kind in kinds.items() if data.startswith(magic)), None)
