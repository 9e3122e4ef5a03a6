"""Keys of services in the system's keyring, through the library ``keyring``; environment variables take precedence.

The names of stored keys are in a file of the user's settings folder, because keyrings cannot list them, and so that
nobody without a stored key waits for a keyring.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType

from pkmncli.atomic_files import read_json, write_errors_explained, write_json
from pkmncli.config.aliases import user_folder
from pkmncli.errors import ConfigurationError

SERVICE = "pkmncli"
"""Name of the service in the keyring."""

SERVICES = {
    "openai": "OPENAI_API_KEY",
    "vllm": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "ollama": "OLLAMA_API_KEY",
    "huggingface": "HF_TOKEN",
}
"""Variables of the keys by the names of backends."""

_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*_(?:API_?KEY|TOKEN)")


def variable_of(name: str) -> str:
    """Return the environment variable of a key, by the name of a backend or of the variable.

    Raises:
        ConfigurationError: it is neither.
    """
    variable = SERVICES.get(name.lower(), name.upper())
    if not _VARIABLE.fullmatch(variable):
        raise ConfigurationError(
            f"{name!r} names no key: write {', '.join(SERVICES)}, or a variable that ends with _API_KEY or _TOKEN"
        )
    return variable


def stored_names() -> list[str]:
    """Return the variables whose keys are stored, in order."""
    try:
        return sorted(read_json(_index()))
    except (OSError, ValueError):
        return []


def store_key(variable: str, key: str) -> None:
    """Store a key under the name of its variable.

    Raises:
        ConfigurationError: there is no keyring, or it refuses.
    """
    with _keyring() as keyring:
        keyring.set_password(SERVICE, variable, key)
    _write([*stored_names(), variable])


def remove_key(variable: str) -> None:
    """Remove a stored key.

    Raises:
        ConfigurationError: it is not stored, or the keyring refuses.
    """
    names = stored_names()
    if variable not in names:
        raise ConfigurationError(f"no key {variable} is stored; stored: {', '.join(names) or 'none'}")
    with _keyring() as keyring:
        if keyring.get_password(SERVICE, variable) is not None:
            keyring.delete_password(SERVICE, variable)
    _write([name for name in names if name != variable])


def take_stored_key(variable: str) -> str:
    """Return a stored key, empty without one; put it into the environment, where it is removed from all output.

    Raises:
        ConfigurationError: a key is stored, and the keyring refuses.
    """
    if variable not in stored_names():
        return ""
    with _keyring() as keyring:
        key = (keyring.get_password(SERVICE, variable) or "").strip()
    if key:
        os.environ[variable] = key
    return key


def _index() -> Path:
    return user_folder() / "llm-keys.json"


def _write(names: list[str]) -> None:
    path = _index()
    with write_errors_explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, dict.fromkeys(sorted(set(names)), "in the system's keyring"))


@contextmanager
def _keyring() -> Iterator[ModuleType]:
    """Provide the library. Its errors become one line, which has no key."""
    try:
        keyring, errors = import_module("keyring"), import_module("keyring.errors")
    except ImportError as error:
        raise ConfigurationError(
            "keys are stored by the package keyring: pip install 'pkmncli[keyring]', or set the environment variable"
        ) from error
    try:
        yield keyring
    except errors.NoKeyringError as error:
        raise ConfigurationError("this system has no keyring: set the environment variable instead") from error
    except errors.KeyringError as error:
        raise ConfigurationError(f"the system's keyring refuses ({type(error).__name__}): is it locked?") from error
