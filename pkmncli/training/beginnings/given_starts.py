"""Start state or battery save given to a training: copied into its run, and read from there afterwards."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pkmncli.api import read_given
from pkmncli.atomic_files import write_atomic
from pkmncli.config import ResolvedSettings
from pkmncli.errors import EnvironmentSetupError, RunError
from pkmncli.runs import Run

_SUFFIXES = {"init_state": "state", "cartridge": "sav"}


def read_given_starts(settings: ResolvedSettings) -> dict[str, bytes]:
    """Return the content of the given files by setting, read before there is a run, which needs them.

    Raises:
        EnvironmentSetupError: a file can't be read.
    """
    contents = {}
    for name, path in _given(settings):
        try:
            contents[name] = read_given(path)
        except OSError as error:
            raise EnvironmentSetupError(f"{name}: {path} can't be read: {error.strerror}; check the path") from None
    return contents


def keep_given_starts(contents: Mapping[str, bytes], run: Run) -> dict[str, Path]:
    """Copy the given files into the run, under their hash. Returns the copies by setting."""
    copies = {}
    for name, content in contents.items():
        copy = run.starts_folder / f"{_digest(content)}.{_SUFFIXES[name]}"
        copy.parent.mkdir(exist_ok=True)
        write_atomic(copy, content)
        copies[name] = copy
    return copies


def check_kept_starts(settings: ResolvedSettings, run: Run) -> None:
    """Ensure that a run still has its start state or battery save.

    Raises:
        RunError: its copy is missing, can't be read, or is another than the one whose hash it is called by.
    """
    for name, path in _given(settings):
        if path.parent != run.starts_folder:
            continue
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise RunError(
                f"the run's copy of its {name}, {path}, is missing: put it back, or start a new run"
            ) from None
        except OSError as error:
            raise RunError(f"the run's copy of its {name}, {path}, can't be read: {error.strerror}") from None
        if _digest(content) != path.stem:
            raise RunError(
                f"the run's copy of its {name}, {path}, is not what the run was begun with: "
                "put that back, or start a new run"
            )


def _given(settings: ResolvedSettings) -> Iterator[tuple[str, Path]]:
    for name in _SUFFIXES:
        path = getattr(settings.train, name)
        if path is not None:
            yield name, path


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def settle(settings: ResolvedSettings, run: Run, given: Mapping[str, bytes]) -> ResolvedSettings:
    """Return the settings as the run keeps them, so that it can be resumed without the files that began it.

    A start state or battery save is copied into the run under its hash. Decisions kept elsewhere get a folder with the
    run's name.
    """
    train = settings.train
    changes: dict[str, Any] = dict(keep_given_starts(given, run))
    if train.decision_db_path is not None:
        changes["decision_db_path"] = train.decision_db_path / run.name
    origin = "in the run, instead of what was given"
    return settings.changed(changes, may_change=tuple(changes), origin=origin) if changes else settings
