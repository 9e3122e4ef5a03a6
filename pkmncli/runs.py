"""Run folder: its names and layout, making and finding a run, and the lock that only one training holds."""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import re
import shlex
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pkmncli.api import TABLES_INDEX, data_text, expand_home
from pkmncli.atomic_files import (
    read_json,
    read_regular,
    reason,
    to_disk,
    write_atomic,
    write_errors_explained,
    write_json,
)
from pkmncli.checkpoint_index import LATEST, VERSIONS_FILE, Checkpoints
from pkmncli.errors import CheckpointError, ConfigurationError, RunError, did_you_mean
from pkmncli.outgoing_text import redact
from pkmncli.run_labels import LABELS_FILE, read_labels
from pkmncli.run_lock import LOCK_FILE, RunLock, is_locked, read_holder

LAYOUT_VERSION = 1
"""Changes when files of a run folder change their name or meaning."""

LONGEST_NAME = 255
"""Maximum bytes of one name in a path, a limit of file systems."""

SUPERSEDED = "superseded"
"""Folder of a run for data that a resumed training no longer counts: rows of repeated steps, damaged files."""

RECORDED_PACKAGES = ("pkmncli", "torch", "pyboy", "numpy", "duckdb", "gymnasium", "safetensors")

_SUMMARY_KINDS: dict[tuple[type, ...], tuple[str, ...]] = {
    (int, float): ("total_steps", "total_episodes", "final_avg_reward", "best_reward"),
    (dict,): ("milestones", "source_shares", "final_evaluation", "journey", "llm", "learner_alone", "pilot", "random"),
}
"""Types of the values of a summary that other code computes with."""

RUN_NAME = re.compile(r"[\w][\w.+-]*")
"""Name of a run, or a tag."""


@dataclass(frozen=True, slots=True)
class Run:
    """Run folder. Its properties are paths, whether or not they exist yet."""

    folder: Path

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.folder.name

    @property
    def config_file(self) -> Path:
        """File of the settings with their origins."""
        return self.folder / "config.toml"

    @property
    def command_file(self) -> Path:
        """File of the command that made the run, and of each one that resumed it."""
        return self.folder / "command.txt"

    @property
    def versions_file(self) -> Path:
        """File of the layout version, and of the versions of the packages that the run depends on."""
        return self.folder / VERSIONS_FILE

    @property
    def summary_file(self) -> Path:
        """File of the results, also while running."""
        return self.folder / "summary.json"

    @property
    def names_file(self) -> Path:
        """File of the names of maps, phases and the like, by their numbers."""
        return self.folder / "names.json"

    @property
    def tables_file(self) -> Path:
        """Index of the tables; there once rows were written."""
        return self.folder / TABLES_INDEX

    @property
    def log_file(self) -> Path:
        """File of the messages."""
        return self.folder / "log.txt"

    @property
    def labels_file(self) -> Path:
        """File of tags and former names."""
        return self.folder / LABELS_FILE

    @property
    def lock_file(self) -> Path:
        """File that the running training holds locked, with its process id inside."""
        return self.folder / LOCK_FILE

    @property
    def checkpoints(self) -> Checkpoints:
        """Checkpoints and their index."""
        return Checkpoints(self.folder / "checkpoints")

    @property
    def starts_folder(self) -> Path:
        """Folder of the start states of episodes, named by their hash."""
        return self.folder / "starts"

    @property
    def reports_folder(self) -> Path:
        """Folder of the reports of pilots, one file each."""
        return self.folder / "reports"

    def write_command(self, arguments: Sequence[str]) -> None:
        """Add a command line to ``command.txt``, with its time and folder."""
        try:
            earlier = read_regular(self.command_file)
        except FileNotFoundError:
            earlier = b""
        except OSError:
            self.set_aside(self.command_file)
            earlier = b""
        try:
            where = str(Path.cwd())
        except OSError:
            where = "a folder that was deleted"
        text = f"# {time.strftime('%Y-%m-%d %H:%M:%S%z')} in {where}\n{redact(shlex.join(arguments))}\n"
        write_atomic(self.command_file, earlier + text.encode("utf-8", "surrogateescape"))

    def set_aside(self, path: Path) -> None:
        """Move a file or folder of the run to ``superseded``, under an unused name.

        Raises:
            RunError: it cannot be moved.
        """
        folder = self.folder / SUPERSEDED
        aside, number = folder / path.name, 1
        with write_errors_explained(aside):
            folder.mkdir(exist_ok=True)
            while os.path.lexists(aside):
                number += 1
                aside = folder / f"{path.name}-{number}"
            path.rename(aside)
            to_disk(path.parent)
            to_disk(folder)

    def read_versions(self) -> dict[str, Any]:
        """Return the content of ``versions.json``.

        Raises:
            RunError: it is missing or damaged, so this is not a run folder.
        """
        try:
            content = read_json(self.versions_file)
            return {**content, "layout": int(content["layout"]), "created": float(content["created"])}
        except FileNotFoundError:
            raise RunError(f"{self.folder} is no run folder: it has no {self.versions_file.name}") from None
        except OSError as error:
            raise RunError(f"{self.versions_file} can't be read: {reason(error)}") from None
        except (ValueError, KeyError, TypeError, OverflowError):
            raise RunError(f"{self.versions_file} is damaged") from None

    def check_layout(self) -> None:
        """Check that this version can read the folder.

        Raises:
            RunError: it cannot; names the version that wrote it.
        """
        versions = self.read_versions()
        if versions["layout"] != LAYOUT_VERSION:
            raise RunError(
                f"run {self.folder} has layout {versions['layout']}, and this pkmncli reads layout {LAYOUT_VERSION}; "
                f"use the version that wrote it: pip install 'pkmncli=={versions.get('pkmncli', '?')}'"
            )

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Replace ``summary.json``. Called often during a training, so it does not wait for the disk."""
        if self.summary_file.is_dir():
            self.set_aside(self.summary_file)
        write_json(self.summary_file, summary, durable=False)

    def read_summary(self) -> dict[str, Any]:
        """Return the content of ``summary.json``; empty before the first one was written.

        Raises:
            RunError: it is damaged.
        """
        try:
            summary = read_json(self.summary_file)
            for kinds, names in _SUMMARY_KINDS.items():
                if not all(isinstance(summary[name], kinds) for name in names if summary.get(name) is not None):
                    raise ValueError("a value has another type")
            return summary
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise RunError(f"{self.summary_file} can't be read: {reason(error)}") from None
        except ValueError:
            raise RunError(f"{self.summary_file} is damaged: delete it, and the next training writes it") from None

    def read_names(self) -> dict[str, Any]:
        """Return the content of ``names.json``.

        Raises:
            RunError: it is missing or damaged.
        """
        try:
            return read_json(self.names_file)
        except FileNotFoundError:
            raise RunError(f"{self.names_file} is missing") from None
        except OSError as error:
            raise RunError(f"{self.names_file} can't be read: {reason(error)}") from None
        except ValueError:
            raise RunError(f"{self.names_file} is damaged") from None

    @contextlib.contextmanager
    def locked(self) -> Iterator[RunLock]:
        """Lock the run for this process. The operating system unlocks it when the process ends in any way.

        Raises:
            RunError: another training holds it; names its process id.
        """
        lock = RunLock(self.folder)
        lock.take()
        try:
            yield lock
        finally:
            lock.release()

    @property
    def has_begun(self) -> bool:
        """True if something was recorded or saved, or a process writes it now. False for a start that failed."""
        try:
            saved = self.summary_file.exists() or self.tables_file.exists() or bool(self.checkpoints.names())
        except (CheckpointError, OSError):
            return True
        return saved or is_locked(self.folder)

    def in_use_by(self) -> int | None:
        """Return the id of the process that holds the run, if it has written it; None if no process holds it."""
        return read_holder(self.folder) if is_locked(self.folder) else None


def create_run(save_dir: Path, game: str, made_by: str, name: str | None = None) -> Run:
    """Make a new run folder with its ``versions.json``.

    Args:
        save_dir: the folder for run folders; made if it is missing.
        game: name of the game, for the folder's name.
        made_by: name of the learner or the command, for the folder's name.
        name: the folder's name; by default ``20261127-2214-quillwood-dqn``, with ``-2`` and so on if that is taken.
            An empty game is left out.

    Raises:
        ConfigurationError: the name is invalid.
        RunError: the name is taken, or the folder cannot be made.
    """
    check_run_name(save_dir, name)
    stem = name or "-".join(filter(None, (time.strftime("%Y%m%d-%H%M"), game, made_by)))
    run = Run(_make_folder(save_dir, stem, unique=name is None))
    about = {"layout": LAYOUT_VERSION, "id": uuid.uuid4().hex, "created": time.time()}
    write_json(run.versions_file, {**about, **installed_versions()})
    return run


def check_run_name(save_dir: Path, name: str | None) -> None:
    """Check the name of a new run.

    Raises:
        ConfigurationError: no run can have it.
        RunError: it is taken, or the folder's name can't be written.
    """
    if not _is_unicode(str(save_dir.absolute())):
        raise RunError(
            f"save_dir {str(save_dir)!r}: a name in it is no UTF-8, as config.toml needs it; rename the folder"
        )
    if name is not None and not RUN_NAME.fullmatch(name):
        raise ConfigurationError(f"run name {name!r}: use letters, digits, '.', '_', '+' and '-', without a folder")
    if name is not None and len(name.encode()) > LONGEST_NAME:
        raise ConfigurationError(f"run name {name[:40]}...: has more than {LONGEST_NAME} bytes, too long for a folder")
    if name == LATEST:
        raise ConfigurationError(f"run name {name!r}: is the word for the newest run; choose another name")
    if name is not None and (save_dir / name).exists():
        raise RunError(f"run {save_dir / name} exists already: choose another name, or resume that run")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def default_save_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the default folder for run folders: ``PKMN_SAVE_DIR``, or ``runs`` in the current folder."""
    return expand_home(Path(environ.get("PKMN_SAVE_DIR") or "runs"))


def open_run(which: str | Path | None, save_dir: Path | None = None) -> Run:
    """Find an existing run.

    Args:
        which: the run's folder, its name under ``save_dir``, or None for the latest. After a renaming the old name
            is still found.
        save_dir: the folder for run folders; :func:`default_save_dir` by default.

    Raises:
        RunError: there is no such run, or this version cannot read it.
    """
    save_dir = save_dir or default_save_dir()
    if which is None:
        run = _latest(save_dir)
    else:
        which = expand_home(Path(which))
        named = save_dir / which
        folder = which if is_folder(which) else named
        renamed = None if is_folder(folder) else find_renamed(which) or find_renamed(named)
        if renamed is None and not is_folder(folder):
            raise RunError(_no_such_run(str(which), save_dir))
        run = renamed or Run(_absolute(folder))
    run.check_layout()
    return run


def list_runs(save_dir: Path) -> list[Run]:
    """Return the runs under a folder, oldest first, without other folders and damaged runs."""
    found = []
    for folder in _folders(save_dir):
        run = Run(_absolute(folder))
        with contextlib.suppress(RunError, OSError):
            found.append((run.read_versions()["created"], run.name, run))
    return [run for _, _, run in sorted(found, key=lambda item: item[:2])]


def find_renamed(folder: Path) -> Run | None:
    """Return the run that had the name of a folder before it was renamed; None if there is none."""
    for run in reversed(list_runs(folder.parent)):
        with contextlib.suppress(RunError):
            if folder.name in read_labels(run.folder).former_names:
                return run
    return None


def installed_versions() -> dict[str, str]:
    """Return the versions of packages that a training depends on, from installed metadata without importing them."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - 20 ms

    versions = {"python": platform.python_version(), "platform": platform.platform()}
    for package in RECORDED_PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions


def _make_folder(save_dir: Path, stem: str, *, unique: bool) -> Path:
    number = 1
    while True:
        folder = _absolute(save_dir / (stem if number == 1 else f"{stem}-{number}"))
        try:
            folder.mkdir(parents=True)
            to_disk(folder.parent)
        except FileExistsError:
            if not unique:
                raise RunError(f"run {folder} exists already: choose another name, or resume that run") from None
            number += 1
        except OSError as error:
            raise RunError(f"run folder {folder} cannot be made: {reason(error)}; choose another save_dir") from None
        else:
            return folder


def is_folder(path: Path) -> bool:
    """Return whether a folder has the name, which may be invalid on this system.

    Raises:
        RunError: the path cannot be examined.
    """
    try:
        return data_text.is_folder(path)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise RunError(f"{path} can't be read: {reason(error)}") from None


def _folders(save_dir: Path) -> list[Path]:
    try:
        return list(save_dir.iterdir()) if is_folder(save_dir) else []
    except OSError as error:
        raise RunError(f"{save_dir} can't be read: {reason(error)}") from None


def _absolute(path: Path) -> Path:
    try:
        return path.absolute()
    except FileNotFoundError:
        raise RunError(f"the current folder was deleted, so there is no {path}: go to one that is there") from None


def _latest(save_dir: Path) -> Run:
    runs = list_runs(save_dir)
    latest = next((run for run in reversed(runs) if run.has_begun), None)
    if latest is None:
        failed = f", only {len(runs):,} that failed at the start" if runs else ""
        raise RunError(
            f"no run yet in {_absolute(save_dir)}{failed}: make one with 'pkmn train', or name a run's folder"
        )
    return latest


def _no_such_run(which: str, save_dir: Path) -> str:
    names = [run.name for run in list_runs(save_dir)]
    latest = f"; the latest is '{names[-1]}'" if names else ": it has no run yet; make one with 'pkmn train'"
    return f"no run '{which}' here or in {_absolute(save_dir)}{did_you_mean(which, names, latest, lead='; ')}"
