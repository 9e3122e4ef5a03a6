"""File ``config.toml`` of a run: every value with its origin, readable as the same settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import BaseModel
from tomlkit.container import OutOfOrderTableProxy
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Item, Table

from pkmncli.atomic_files import read_regular, reason
from pkmncli.config.run_file_end import HEAD, count_settings, find_end, is_as_written, is_cut_off, with_end
from pkmncli.config.sources import CORE, Given
from pkmncli.errors import RunError

CONFIG_FILE = "config.toml"
STARTS_FOLDER = "starts"
OWN_STARTS = ("init_state", "cartridge")
"""Settings of the core whose file is copied into the run, named by its hash."""

COMMAND = "command"
"""Setting of the core in the file of a run that another command than ``pkmn train`` made: its name."""

_GOAL = "goal"

_LEARNER = "rl"
_CURRICULUM = "curriculum"
"""A setting and a section that every version wrote: at the beginning, and after all of the core's."""

_COPY = re.compile(r"[0-9a-f]{16}\.(state|sav)")


def toml_text(values: Mapping[str, Mapping[str, Any]], origin: Callable[[str, str], str]) -> str:
    """Return TOML with the origin of each value as a comment; unset values are comments.

    Args:
        values: plain values by section and key.
        origin: returns the origin of the value of a section's key.
    """
    document = tomlkit.document()
    document.add(tomlkit.comment(HEAD))
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
    return with_end(tomlkit.dumps(document))


@dataclass(frozen=True, slots=True)
class RunFile:
    """Content of a ``config.toml``. ``given`` are its values, with the origins in its comments."""

    path: Path
    given: tuple[Given, ...]
    sections: frozenset[str]
    whole: bool
    """True if its last line confirms that nothing is missing. Files of earlier versions have no such line."""
    edited: bool
    """True if it was edited after it was written."""

    @property
    def command(self) -> str | None:
        """Name of the plugin's command that made the run; None for ``pkmn train``."""
        found = (str(one.value) for one in self.given if (one.section, one.key) == (CORE, COMMAND))
        return next(found, None)


def read_run_file(folder: Path) -> RunFile:
    """Return the content of a run's file.

    Raises:
        RunError: the file is missing, unreadable, damaged or not whole.
    """
    path = folder / CONFIG_FILE
    try:
        text = read_regular(path).decode("utf-8-sig")
        document = tomlkit.parse(text)
        given = []
        for name in document:
            item = document.item(name)  # indexing would give a bare bool, without its comment
            if isinstance(item, Table):
                given += [_given(name, key, item.value.item(key)) for key in item]
            else:
                given.append(_given(CORE, name, item))
    except FileNotFoundError:
        raise RunError(f"{folder} is no run folder: it has no {CONFIG_FILE}") from None
    except OSError as error:
        raise RunError(f"{path} can't be read: {reason(error)}") from None
    except (TOMLKitError, ValueError, RecursionError) as error:
        raise RunError(f"{path} is damaged: {' '.join(str(error).split())}") from None
    end = find_end(text)
    _check_whole(path, text, {one.key for one in given if one.section == CORE}, set(document))
    if (
        _GOAL not in document and COMMAND not in document
    ):  # of an earlier version, whose runs had no goal but the end of the game
        given.append(Given(CORE, _GOAL, None, "of an earlier version"))
    return RunFile(
        path,
        tuple(_in_run(one, folder) for one in given),
        frozenset(document),
        whole=end is not None,
        edited=end is not None and not is_as_written(text, end),
    )


def _check_whole(path: Path, text: str, core: set[str], names: set[str]) -> None:
    end, found = find_end(text), count_settings(text)
    if is_cut_off(text) or (end is None and (_LEARNER not in core or _CURRICULUM not in names)):
        what = "is empty" if not text.strip() else "was cut off: it lacks its end"
        raise RunError(f"{path} {what}; put back the whole file, or start a new run")
    if end is not None and found < end.settings:
        raise RunError(
            f"{path} lacks {end.settings - found} of its {end.settings} settings: put their lines back, or, to have "
            f"defaults in their place, write {found} for {end.settings} in its last line"
        )


def with_own_starts(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the core's values with paths of the run's copies relative to its folder, so that it can be moved."""
    found = dict(values)
    for key in OWN_STARTS:
        path = values.get(key)
        if isinstance(path, Path) and path.parent == folder / STARTS_FOLDER:
            found[key] = f"{STARTS_FOLDER}/{path.name}"
    return found


def _in_run(given: Given, folder: Path) -> Given:
    """Return a value with the present path of the run's copy, wherever the run was when it was written."""
    if given.section == CORE and given.key in OWN_STARTS and isinstance(given.value, str):
        path = Path(given.value)
        if path.parent.name == STARTS_FOLDER and _COPY.fullmatch(path.name):
            return replace(given, value=str(folder / STARTS_FOLDER / path.name))
    return given


def plain(value: Any) -> Any:
    """Return a setting's value in a form that TOML can hold."""
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
    """Return a TOML item on one line, with room for a comment."""
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
