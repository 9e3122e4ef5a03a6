"""The ``config.toml`` of a run: written with the origin of every value, and read back to the same settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import BaseModel
from tomlkit.container import OutOfOrderTableProxy
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Item, Table

from pkmncli.config.sources import CORE, Given
from pkmncli.errors import RunError

CONFIG_FILE = "config.toml"
STARTS_FOLDER = "starts"
OWN_STARTS = ("init_state", "cartridge")
"""Settings of the core whose file a run keeps a copy of, called by its hash: they go with the folder."""

_GOAL = "goal"

_COPY = re.compile(r"[0-9a-f]{16}\.(state|sav)")


def toml_text(values: Mapping[str, Mapping[str, Any]], origin: Callable[[str, str], str]) -> str:
    """TOML with a comment on each line that says where the value came from; unset ones stand as comments.

    Args:
        values: plain values by section and key.
        origin: where the value of a section's key came from.
    """
    document = tomlkit.document()
    document.add(tomlkit.comment("Settings of this run, and where each came from."))
    document.add(tomlkit.nl())
    for section, content in values.items():
        table: Any = document if section == CORE else tomlkit.table()
        for key, value in content.items():
            if value is None:
                table.add(tomlkit.comment(f"{key} is not set"))
                continue
            item = toml_item(plain(value))
            item.comment(" ".join(origin(section, key).split()))
            table.add(key, item)
        if section != CORE:
            document.add(tomlkit.nl())
            document.add(section, table)
    return tomlkit.dumps(document)


def read_run_file(folder: Path) -> list[Given]:
    """The values of a run, with the origins that its comments name.

    Raises:
        RunError: the file is missing or damaged.
    """
    path = folder / CONFIG_FILE
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunError(f"{folder} is no run folder: it has no {CONFIG_FILE}") from None
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise RunError(f"{path} is damaged: {error}") from None
    given = []
    for name in document:
        item = document.item(name)  # indexing would give a bare bool, without its comment
        if isinstance(item, Table):
            given += [_given(name, key, item.value.item(key)) for key in item]
        else:
            given.append(_given(CORE, name, item))
    if _GOAL not in document:  # of an earlier version, whose runs had no goal but the end of the game
        given.append(Given(CORE, _GOAL, None, "of an earlier version"))
    return [_in_run(one, folder) for one in given]


def with_own_starts(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Values of the core with the run's copies as a run file names them, from its folder: so that it can be moved."""
    found = dict(values)
    for key in OWN_STARTS:
        path = values.get(key)
        if isinstance(path, Path) and path.parent == folder / STARTS_FOLDER:
            found[key] = f"{STARTS_FOLDER}/{path.name}"
    return found


def _in_run(given: Given, folder: Path) -> Given:
    """A value with the path of a copy of the run's own, wherever the run was when it was written."""
    if given.section == CORE and given.key in OWN_STARTS and isinstance(given.value, str):
        path = Path(given.value)
        if path.parent.name == STARTS_FOLDER and _COPY.fullmatch(path.name):
            return replace(given, value=str(folder / STARTS_FOLDER / path.name))
    return given


def plain(value: Any) -> Any:
    """A setting's value as TOML can hold it."""
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, BaseModel):
        return plain(value.model_dump())
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner) for inner in value]
    return value


def toml_item(value: Any) -> Item:
    """A TOML item on one line, so that its comment has a place."""
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for key, inner in value.items():
            table.append(key, toml_item(inner))
        return table
    if isinstance(value, list):
        array = tomlkit.array()
        for inner in value:
            array.append(toml_item(inner))
        return array
    item: Item = tomlkit.item(value)
    return item


def _given(section: str, key: str, item: Item | OutOfOrderTableProxy) -> Given:
    comment = item.trivia.comment if isinstance(item, Item) else ""
    return Given(section, key, item.unwrap(), comment.removeprefix("#").strip() or f"edited in {CONFIG_FILE}")
