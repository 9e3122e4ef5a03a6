"""Format of saved states: a short mark, a JSON header that says what the state fits, and the emulator's bytes.

Nothing is pickled, so a state from elsewhere can do no harm, and everything is checked before it is used.
"""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass
from typing import Any

from pkmn_pyboy.emulation.emulator import PYBOY_VERSION, current_state_version
from pkmncli.api import parse_json
from pkmncli.errors import EmulatorError

MAGIC = b"PKMNSTAT"
FORMAT = 2
NOVELTY = "novelty"
"""Key in the session of a state of the environment of any image."""
MILESTONE = "milestone"
"""Key, in the session of a state that a person saved, of the latest milestone."""

_HEADER_LENGTH = struct.Struct("<I")
_HEADER_MOST = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SavedState:
    """Parts of a saved state. ``session`` is the environment's state besides the emulator's."""

    emulator: bytes
    session: dict[str, Any]


def write_saved_state(emulator: bytes, session: dict[str, Any], *, game: str, rom_sha1: str) -> bytes:
    """Return a state in its saved form."""
    header = {
        "format": FORMAT,
        "game": game,
        "rom_sha1": rom_sha1,
        "pyboy": PYBOY_VERSION,
        "pyboy_state": current_state_version(),
        "bytes": len(emulator),
        "digest": hashlib.blake2b(emulator, digest_size=16).hexdigest(),
        "session": session,
    }
    text = json.dumps(header, separators=(",", ":"), sort_keys=True).encode()
    return b"".join((MAGIC, _HEADER_LENGTH.pack(len(text)), text, emulator))


def read_session(data: bytes) -> tuple[str, dict[str, Any]] | None:
    """Return game and session of a saved state, whatever it fits; None if the data are none, or damaged."""
    start = len(MAGIC) + _HEADER_LENGTH.size
    if data[: len(MAGIC)] != MAGIC or len(data) < start:
        return None
    (length,) = _HEADER_LENGTH.unpack_from(data, len(MAGIC))
    try:
        header = parse_json(data[start : start + length])
        game, session = header["game"], header["session"]
    except (ValueError, KeyError, TypeError):
        return None
    return (game, session) if isinstance(game, str) and isinstance(session, dict) else None


def read_saved_state(data: bytes, *, game: str, rom_sha1: str) -> SavedState:
    """Return the parts of a saved state.

    Raises:
        EmulatorError: it is no saved state, or it is cut off, damaged, of another version or of another game.
    """
    start = len(MAGIC) + _HEADER_LENGTH.size
    if data[: len(MAGIC)] != MAGIC:
        raise EmulatorError("This is no saved state of the PyBoy environment: save one with save_state()")
    if len(data) < start:
        raise EmulatorError("The saved state is cut off: save it again")
    (length,) = _HEADER_LENGTH.unpack_from(data, len(MAGIC))
    if length > _HEADER_MOST or len(data) < start + length:
        raise EmulatorError("The saved state is cut off: save it again")
    try:
        header = parse_json(data[start : start + length])
        version = header["format"]
    except (ValueError, KeyError, TypeError):
        raise EmulatorError("The saved state's header is damaged: save it again") from None
    if version != FORMAT:
        raise EmulatorError(f"The saved state has format {version}, this version reads {FORMAT}: save it again")
    if header.get("rom_sha1") != rom_sha1:
        raise EmulatorError(
            f"The saved state is of {header.get('game', 'another game')} (image {str(header.get('rom_sha1'))[:12]}), "
            f"not of {game} (image {rom_sha1[:12]}): use the image it was made with"
        )
    if header.get("pyboy_state") != current_state_version():
        raise EmulatorError(
            f"The saved state was made with PyBoy {header.get('pyboy')}, this is {PYBOY_VERSION}, and their states "
            "differ: install that version, or save it again"
        )
    emulator = data[start + length :]
    if len(emulator) != header.get("bytes"):
        raise EmulatorError(
            f"The saved state is cut off or something was added: the emulator's part has {len(emulator):,} bytes "
            f"instead of {header.get('bytes')!r}; save it again"
        )
    if hashlib.blake2b(emulator, digest_size=16).hexdigest() != header.get("digest"):
        raise EmulatorError("The saved state is damaged: save it again")
    session = header.get("session")
    return SavedState(emulator, session if isinstance(session, dict) else {})
