"""Saved states of the environment: a line with version and digest, then plain values."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pkmncli.api import expand_home, read_given
from pkmncli.api.plain_state import state_from_bytes, state_to_bytes
from pkmncli.errors import EnvironmentSetupError

if TYPE_CHECKING:
    from pathlib import Path

STATE_VERSION: Final = 1
"""Version of the form of saved states."""
_MAGIC: Final = b"balatro-run"


def is_saved_state(data: bytes) -> bool:
    """Return True if data begin as a saved state does."""
    return data.startswith(_MAGIC)


def to_bytes(values: Mapping[str, Any]) -> bytes:
    """Return the values of a state as bytes."""
    body = state_to_bytes(dict(values))
    return b" ".join((_MAGIC, str(STATE_VERSION).encode(), _digest(body))) + b"\n" + body


def from_bytes(state: bytes) -> dict[str, Any]:
    """Return the values of a state.

    Raises:
        EnvironmentSetupError: the state is damaged, or of another environment or version.
        ValueError: its values cannot be read.
    """
    head, _, body = state.partition(b"\n")
    magic, *rest = head.split(b" ")
    if magic != _MAGIC or len(rest) != 2:
        raise EnvironmentSetupError("the state is none of balatro")
    if rest[0] != str(STATE_VERSION).encode():
        version = rest[0][:8].decode("ascii", "replace")
        raise EnvironmentSetupError(
            f"the state is of version {version} of balatro's states; this is version {STATE_VERSION}"
        )
    if rest[1] != _digest(body):
        raise EnvironmentSetupError("the state of balatro is damaged")
    found: dict[str, Any] = state_from_bytes(body)
    return found


def read_state(path: Path) -> bytes:
    """Return the state in a file.

    Raises:
        EnvironmentSetupError: the file cannot be read.
    """
    try:
        return read_given(expand_home(path))
    except (OSError, ValueError) as error:
        raise EnvironmentSetupError(f"the start state {path} cannot be read: {error}") from None


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=16).hexdigest().encode()
