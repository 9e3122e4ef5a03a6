"""Aliases: short names that a user gives to language models, in a file of the user's settings folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import platformdirs

from pkmncli.atomic_files import read_json, write_errors_explained, write_json
from pkmncli.errors import ConfigurationError

_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,39}")
_MOST_BYTES = 1_000_000


def user_folder() -> Path:
    """Return the folder of a user's settings for ``pkmn``, such as ``~/.config/pkmncli``."""
    return platformdirs.user_config_path("pkmncli", appauthor=False)


def aliases_file() -> Path:
    """Return the file of the aliases."""
    return user_folder() / "llm-aliases.json"


def read_aliases() -> dict[str, str]:
    """Return the models by their aliases; empty if none is set.

    Raises:
        ConfigurationError: the file is damaged.
    """
    path = aliases_file()
    try:
        found = read_json(path)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"the aliases in {path} can't be read: mend the file, or delete it") from error
    if not isinstance(found, Mapping) or not all(isinstance(value, str) for value in found.values()):
        raise ConfigurationError(f"the aliases in {path} can't be read: mend the file, or delete it")
    return dict(found)


def set_alias(name: str, model: str) -> None:
    """Set an alias, or replace it.

    Args:
        name: the alias.
        model: ``BACKEND:MODEL`` or ``BACKEND``.

    Raises:
        ConfigurationError: the name can't be one.
    """
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"{name!r} can't be an alias: write lower-case letters, digits, hyphens, dots and underscores, 40 at most"
        )
    _write({**read_aliases(), name: model})


def remove_alias(name: str) -> None:
    """Remove an alias.

    Raises:
        ConfigurationError: it does not exist.
    """
    aliases = read_aliases()
    if name not in aliases:
        raise ConfigurationError(f"there is no alias {name!r}; known: {', '.join(sorted(aliases)) or 'none'}")
    _write({other: model for other, model in aliases.items() if other != name})


def _write(aliases: Mapping[str, str]) -> None:
    path = aliases_file()
    with write_errors_explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, dict(sorted(aliases.items())))
