"""Command `pkmn states`: list saved states and what they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from pkmncli.api import expand_home, read_given
from pkmncli.errors import ConfigurationError, PluginError
from pkmncli.plugins import Registry, get_registry
from pkmncli.run_upkeep.facts import iso_time, size_in_words
from pkmncli.tables import table

_SUFFIX = ".state"
_TEXT = frozenset({"state", "environment", "game", "milestone", "saved"})
"""Headings of columns with text."""

_DROPPED = ("size", "saved", "game", "environment")
"""Columns that a narrow terminal leaves out, in this order."""

Describe = Callable[[bytes], Mapping[str, Any] | None]


def states(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Files, or folders with *.state files. [default: the current folder]"),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON, for other programs.")] = False,
) -> None:
    """List saved states, as of 'pkmn play': environment, game, step and latest milestone. Newest first.

    A training begins in one with 'pkmn train --init-state FILE'.
    """
    described = list(_describing(get_registry()))
    files = [file for path in paths or [Path()] for file in _files(expand_home(path))]
    files.sort(key=lambda file: (-file.stat().st_mtime, str(file)))
    found = [_about(file, described) for file in dict.fromkeys(files)]
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    if not found:
        typer.echo("No saved state: save one with 'pkmn play', or name a folder, such as a run's starts/.")
        return
    rows = [
        [
            one["file"],
            *(_shown(one[key]) for key in ("environment", "game", "step", "milestone")),
            size_in_words(one["bytes"]),
            one["saved"][:16].replace("T", " "),
        ]
        for one in found
    ]
    typer.echo(
        table(["state", "environment", "game", "step", "milestone", "size", "saved"], rows, text=_TEXT, drop=_DROPPED)
    )


def _files(path: Path) -> Sequence[Path]:
    if path.is_dir():
        return [file for file in path.iterdir() if file.suffix == _SUFFIX and file.is_file()]
    if not path.is_file():
        raise ConfigurationError(f"there is no file or folder {path}")
    return [path]


def _describing(registry: Registry) -> Iterator[tuple[str, Describe]]:
    """Yield the environments that describe states. One that cannot be imported saved none here."""
    for entry in registry.registrations("environments"):
        try:
            describe = getattr(entry.load(), "describe_state", None)
        except PluginError:
            continue
        if describe is not None:
            yield entry.name, describe


def _about(file: Path, described: Sequence[tuple[str, Describe]]) -> dict[str, Any]:
    """Return what is known of a file; ``environment`` is None if no environment knows it."""
    try:
        status, data = file.stat(), read_given(file)
    except OSError as error:
        raise ConfigurationError(f"{file} can't be read: {error.strerror}") from None
    about: dict[str, Any] = {"file": str(file), "environment": None, "game": None, "step": None, "milestone": None}
    for name, describe in described:
        found = describe(data)
        if found is not None:
            about |= {"environment": name, **{key: found.get(key) for key in ("game", "step", "milestone")}}
            break
    return {**about, "bytes": status.st_size, "saved": iso_time(status.st_mtime)}


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else str(value)
