"""Writes a run as one file to share: a checkpoint, settings, score, tables and film, without what is private.

Left out: the game's image, states of the emulator in a game that is not the bundled one, the learner's experience,
logs, command lines, and folders of this machine in settings.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from pkmncli.atomic_files import open_regular, reason, write_errors_explained, write_json
from pkmncli.checkpoint_index import CheckpointIndex
from pkmncli.config import ResolvedSettings
from pkmncli.config.run_file import toml_text, with_own_starts
from pkmncli.config.sources import CORE
from pkmncli.errors import RunError
from pkmncli.outgoing_text import redact
from pkmncli.run_upkeep.bundle import DESCRIPTION, FORMAT, belongs
from pkmncli.run_upkeep.facts import facts_of
from pkmncli.runs import Run
from pkmncli.training.assembly import tables_folder
from pkmncli.training.checkpoints.files import read_checkpoint, write_checkpoint

_TEXTS = (".json", ".jsonl", ".toml")
_WRITTEN_ANEW = ("config.toml", "versions.json", "checkpoints/")
_OF_THIS_MACHINE = ("platform",)
_FOLDER_IN_ORIGIN = re.compile(r"\s*\S*[/\\].*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class WrittenBundle:
    """Facts of a bundle, for a message."""

    bytes: int
    content: tuple[str, ...]
    """Parts that it holds, in words."""
    starts_left_out: bool
    """True if start states of episodes stayed behind, since they are of a game that is not the bundled one."""


def write_bundle(run: Run, settings: ResolvedSettings, checkpoint: Path, file: Path) -> WrittenBundle:
    """Write a run of ``pkmn train`` to a zip file, which appears when it is complete.

    Args:
        run: the run.
        settings: its settings.
        checkpoint: the checkpoint to take.
        file: the zip file; an existing one is replaced.

    Raises:
        RunError: a file of the run cannot be read or holds a secret, or the bundle cannot be written.
        CheckpointError: the checkpoint is damaged.
    """
    temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    with tempfile.TemporaryDirectory(prefix="pkmn-") as scratch:
        shared = Run(Path(scratch))
        score = _write_own_files(run, settings, checkpoint, shared)
        sources = {path.relative_to(scratch).as_posix(): path for path in shared.folder.rglob("*") if path.is_file()}
        bundled_game = _is_bundled_game(settings)
        starts_left_out = False
        for name, path in _files_of(run, tables_folder(settings, run)):
            if name.startswith("starts/") and not bundled_game:
                starts_left_out = True
            else:
                sources.setdefault(name, path)
        about = {"format": FORMAT, "run": run.name, "checkpoint": checkpoint.name, "score": score}
        about["versions"] = shared.read_versions()
        with write_errors_explained(file):
            try:
                _write_zip(temporary, sources, about)
                temporary.replace(file)
            finally:
                temporary.unlink(missing_ok=True)
    parts = {
        checkpoint.name: True,
        "settings": True,
        "score": score is not None,
        "tables": any(name.endswith(".parquet") for name in sources),
        "film": any(name.endswith((".mp4", ".gif")) for name in sources),
    }
    content = tuple(part for part, there in parts.items() if there)
    return WrittenBundle(file.stat().st_size, content, starts_left_out)


def _write_own_files(run: Run, settings: ResolvedSettings, checkpoint: Path, shared: Run) -> Any:
    """Write the files that differ from the run's. Return the score of its best evaluation, if there is one."""
    versions = {name: value for name, value in run.read_versions().items() if name not in _OF_THIS_MACHINE}
    write_json(shared.versions_file, versions, durable=False)
    shared.config_file.write_text(_shared_settings(settings, run), encoding="utf-8")
    content = replace(read_checkpoint(checkpoint), workers=())  # states of the emulator
    write_checkpoint(shared.checkpoints.folder / checkpoint.name, content, ())
    index = run.checkpoints.index()
    score = index.best_score if index.best == checkpoint.name else None
    shared.checkpoints.write(CheckpointIndex(latest=checkpoint.name, best=checkpoint.name, best_score=score))
    best = facts_of(run).best
    return None if best is None else asdict(best)


def _shared_settings(settings: ResolvedSettings, run: Run) -> str:
    """Return ``config.toml`` without folders of this machine."""
    values: dict[str, dict[str, Any]] = {section: dict(content) for section, content in settings.values().items()}
    values[CORE] = with_own_starts(values[CORE], run.folder)
    values[CORE]["decision_db_path"] = None  # the tables are in the bundle
    own = {section: _without_folders(content) for section, content in values.items()}
    return toml_text(own, lambda section, key: _FOLDER_IN_ORIGIN.sub("", settings.origin(section, key)))


def _without_folders(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_folders(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_folders(inner) for inner in value]
    text = str(value) if isinstance(value, Path) else value
    if isinstance(text, str):
        for kind in (PurePosixPath, PureWindowsPath):
            if kind(text).is_absolute():
                return kind(text).name
    return text


def _is_bundled_game(settings: ResolvedSettings) -> bool:
    """Return whether the run's game comes with pkmncli, so that its saved states may be shared."""
    train = settings.train
    return train.env == "pyboy" and train.rom_path is None and train.game_folder is None


def _files_of(run: Run, tables: Path) -> Iterator[tuple[str, Path]]:
    """Yield names and paths of the run's files that a bundle takes as they are."""
    for folder in dict.fromkeys((tables, run.folder)):  # first the tables, if they are elsewhere
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if belongs(name) and not name.startswith(_WRITTEN_ANEW) and path.is_file():
                yield name, path


def _write_zip(file: Path, sources: dict[str, Path], about: dict[str, Any]) -> None:
    files = {}
    with zipfile.ZipFile(file, "x", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        for name, path in sources.items():
            try:
                with open_regular(path) as source:
                    content = source.read()
            except OSError as error:
                raise RunError(f"{path} can't be read: {reason(error)}") from None
            if path.suffix in _TEXTS:
                text = content.decode("utf-8", "replace")
                if redact(text) != text:
                    raise RunError(f"{path} holds a secret: take it out of the run before you share it")
            archive.writestr(name, content)
            files[name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        archive.writestr(DESCRIPTION, json.dumps({**about, "files": files}, indent=2))
