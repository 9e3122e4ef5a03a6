"""Checkpoints: everything that a run needs to resume exactly, in a folder that appears whole or not at all.

    step-000120000/
      meta.json              version, run, counters, plain values, and a checksum of every other file
      learner.safetensors    networks, optimiser and other arrays of the learner
      trainer.safetensors    arrays of the trainer: running episodes, and decisions that are held back
      worker-00.state        one environment's saved state each
      buffer/*.safetensors   the learner's experience; only in the newest checkpoint

Sealed buffer segments never change, so the next checkpoint links to them instead of writing them again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from pkmncli.api import Segment
from pkmncli.atomic_files import open_regular, read_json, read_regular, reason, to_disk, write_atomic
from pkmncli.checkpoint_index import META_FILE as META
from pkmncli.checkpoint_index import checkpoint_name, of_another_run, run_id
from pkmncli.errors import CheckpointError
from pkmncli.training.checkpoints.state import TrainerState, split_arrays
from pkmncli.training.workers.spec import WorkerState

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT_VERSION = 6

LEARNER = "learner.safetensors"
TRAINER = "trainer.safetensors"
BUFFER = "buffer"

_FILE_NAME = re.compile(rf"({BUFFER}/)?\w[\w.-]*")  # nothing that leads out of the checkpoint

logger = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The content of a checkpoint.

    ``learner`` mixes arrays and plain values by dotted name, as the learner gave them.
    """

    step: int
    learner: Mapping[str, Any]
    trainer: TrainerState
    workers: tuple[WorkerState, ...]
    milestone_names: tuple[str, ...] = ()
    best: bool = False
    """True to mark it as the best, whatever was measured. Not written."""


@dataclass(frozen=True, slots=True)
class WholeCheckpoint:
    """A checkpoint whose files were all verified, its experience included.

    ``content`` is read; the experience is loaded by :meth:`segments`.
    """

    folder: Path
    content: Checkpoint
    experience: Mapping[str, bool]
    """Files of the learner's experience, oldest first; True if sealed."""

    def segments(self) -> Iterator[Segment]:
        """Yield the learner's experience, oldest first."""
        for name, sealed in self.experience.items():
            yield Segment(Path(name).stem, sealed, _load_arrays(self.folder / name))


def write_checkpoint(
    folder: Path,
    checkpoint: Checkpoint,
    segments: Iterable[Segment],
    previous: Path | None = None,
    report: Callable[[str], None] = logger.warning,
) -> None:
    """Write a checkpoint to ``folder``, which must not exist yet, in the checkpoints folder of its run.

    Args:
        folder: where it appears when it is complete.
        checkpoint: its content.
        segments: the learner's experience.
        previous: an earlier checkpoint, whose sealed segments are linked as far as they are whole.
        report: takes a message about what is damaged in it, and so written again.
    """
    temporary = folder.with_name(f".{folder.name}.tmp")
    remove(temporary)
    temporary.mkdir(parents=True)
    try:
        _write_into(temporary, checkpoint, segments, previous, report)
        for path in (*temporary.rglob("*"), temporary):
            to_disk(path)
        temporary.rename(folder)
        to_disk(folder.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _write_into(
    folder: Path,
    checkpoint: Checkpoint,
    segments: Iterable[Segment],
    previous: Path | None,
    report: Callable[[str], None],
) -> None:
    learner_arrays, learner_values = split_arrays(checkpoint.learner)
    trainer_values, trainer_arrays = checkpoint.trainer.to_disk()
    checksums: dict[str, str] = {}
    _save_arrays(folder, LEARNER, learner_arrays, checksums)
    _save_arrays(folder, TRAINER, trainer_arrays, checksums)
    workers = []
    for index, state in enumerate(checkpoint.workers):
        name = f"worker-{index:02d}.state"
        _save(folder, name, state.environment, checksums)
        workers.append(
            {
                "file": name,
                "episode": state.episode,
                "step": state.step,
                "pilot": state.pilot,
                "tiles": list(state.tiles),
            }
        )
    linkable = {} if previous is None else _sealed(previous, report)
    sealed = []
    for segment in segments:
        name = f"{BUFFER}/{segment.name}.safetensors"
        (folder / BUFFER).mkdir(exist_ok=True)
        if segment.sealed:
            sealed.append(name)
            if previous is not None and name in linkable:
                checksums[name] = linkable[name]
                if _link(previous / name, folder / name, linkable[name], report):
                    continue
        _save_arrays(folder, name, segment.arrays, checksums)
    meta = {
        "format_version": FORMAT_VERSION,
        "run": run_id(_run_folder(folder)),
        "step": checkpoint.step,
        "learner": learner_values,
        "trainer": trainer_values,
        "workers": workers,
        "milestone_names": list(checkpoint.milestone_names),
        "sealed": sealed,
        "checksums": checksums,
    }
    (folder / META).write_text(meta_text(meta), encoding="utf-8")


def _save_arrays(folder: Path, name: str, arrays: Mapping[str, NDArray[Any]], checksums: dict[str, str]) -> None:
    # written here, since safetensors makes its files readable to their owner alone
    _save(folder, name, save({key: np.ascontiguousarray(array) for key, array in arrays.items()}), checksums)


def _save(folder: Path, name: str, content: bytes, checksums: dict[str, str]) -> None:
    (folder / name).write_bytes(content)
    checksums[name] = hashlib.blake2b(content, digest_size=16).hexdigest()


def digest(path: Path) -> str:
    """Return the checksum of a file."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _sealed(previous: Path, report: Callable[[str], None]) -> dict[str, str]:
    """Return the sealed segments of an earlier checkpoint with their checksums; none if it is damaged."""
    try:
        meta = _read_meta(previous)
        return {name: meta["checksums"][name] for name in meta["sealed"]}
    except CheckpointError as error:
        report(f"{error}; the next one holds all that it held")
        return {}


def _link(source: Path, target: Path, expected: str, report: Callable[[str], None]) -> bool:
    """Link a file, or copy it if the file system has no hard links. Returns whether it is what was written."""
    try:
        try:
            target.hardlink_to(source)
        except OSError:
            target.write_bytes(read_regular(source))
        if digest(target) == expected:
            return True
        report(f"{source} is not what was written; the next checkpoint holds it anew")
    except OSError as error:
        report(f"{source} can't be read ({reason(error)}); the next checkpoint holds it anew")
    target.unlink(missing_ok=True)
    return False


def remove(path: Path) -> None:
    """Remove a file or folder, as far as possible."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _run_folder(checkpoint: Path) -> Path:
    return checkpoint.parent.parent


def meta_text(meta: Mapping[str, Any]) -> str:
    """Return the text of meta.json with a checksum of its content, which holds those of all other files."""
    plain = json.loads(json.dumps(meta))
    return json.dumps({**plain, "checksum": _meta_checksum(plain)})


def _meta_checksum(plain: Mapping[str, Any]) -> str:
    text = json.dumps({name: value for name, value in plain.items() if name != "checksum"}, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _read_meta(folder: Path) -> dict[str, Any]:
    path = folder / META
    try:
        meta = read_json(path)
    except FileNotFoundError:
        raise CheckpointError(f"{folder} is no checkpoint: it has no {META}") from None
    except OSError as error:
        raise CheckpointError(f"{path} can't be read: {reason(error)}") from None
    except ValueError as error:
        raise CheckpointError(f"{path} is damaged: {error}") from None
    version = meta.get("format_version")
    if version != FORMAT_VERSION:
        raise CheckpointError(f"{folder} has format {version}; this version of pkmn reads format {FORMAT_VERSION}")
    if meta.pop("checksum", None) != _meta_checksum(meta):
        raise CheckpointError(f"the checkpoint is damaged: {path} is not what was written")
    checksums, sealed = meta.get("checksums"), meta.get("sealed")
    names = [*checksums, *sealed] if isinstance(checksums, dict) and isinstance(sealed, list) else [None]
    named = all(isinstance(name, str) and _FILE_NAME.fullmatch(name) for name in names)
    if not named or not isinstance(meta.get("step"), int):
        raise CheckpointError(f"the checkpoint is damaged: {path} names no step or files, or files outside of it")
    if of_another_run(_run_folder(folder), meta.get("run")):
        raise CheckpointError(f"{folder} is the checkpoint of another run")
    if folder.name.startswith("step-") and folder.name != (own := checkpoint_name(meta["step"])):
        raise CheckpointError(f"{folder} is not the checkpoint of that step: it is {own}")
    return meta


def read_checkpoint(folder: Path) -> Checkpoint:
    """Read a checkpoint, without its experience. Raises CheckpointError if anything is missing or damaged."""
    return _read_content(folder, _read_meta(folder))


def read_whole(folder: Path) -> WholeCheckpoint:
    """Read a checkpoint and verify its experience. Raises CheckpointError if anything is missing or damaged."""
    meta = _read_meta(folder)
    content = _read_content(folder, meta)
    experience = {name: name in meta["sealed"] for name in meta["checksums"] if name.startswith(f"{BUFFER}/")}
    for name in experience:
        _verify(folder / name, meta["checksums"][name])
    return WholeCheckpoint(folder, content, experience)


def _read_content(folder: Path, meta: Mapping[str, Any]) -> Checkpoint:
    checksums = meta["checksums"]
    for name, expected in checksums.items():
        if not name.startswith(f"{BUFFER}/"):
            _verify(folder / name, expected)
    try:
        learner: dict[str, Any] = dict(_load_arrays(folder / LEARNER))
        learner.update(meta["learner"])
        workers = tuple(
            WorkerState(
                entry["episode"],
                entry["step"],
                _read_state(folder / entry["file"]),
                entry["pilot"],
                tuple(entry.get("tiles", ())),  # a checkpoint of an earlier version has none
            )
            for entry in meta["workers"]
            if checksums[entry["file"]]  # one without has not been verified
        )
        return Checkpoint(
            step=meta["step"],
            learner=learner,
            trainer=TrainerState.from_disk(meta["trainer"], _load_arrays(folder / TRAINER)),
            workers=workers,
            milestone_names=tuple(meta["milestone_names"]),
        )
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(f"the checkpoint is damaged: {folder / META} lacks something: {error!r}") from None


def read_segments(folder: Path) -> Iterator[Segment]:
    """Return the experience that a checkpoint holds, oldest first. Raises CheckpointError if a file is damaged."""
    return read_whole(folder).segments()


def _verify(path: Path, expected: str) -> None:
    try:
        actual = digest(path)
    except FileNotFoundError:
        raise CheckpointError(f"the checkpoint is incomplete: {path} is missing") from None
    except OSError as error:
        raise CheckpointError(f"the checkpoint can't be used: {path} can't be read: {reason(error)}") from None
    if actual != expected:
        raise CheckpointError(f"the checkpoint is damaged: {path} is not what was written")


def _load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    try:
        arrays: dict[str, NDArray[Any]] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"the checkpoint is damaged: {path}: {error}") from None
    return arrays


def _read_state(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError as error:
        raise CheckpointError(f"the checkpoint can't be used: {path} can't be read: {reason(error)}") from None


def is_whole(folder: Path) -> bool:
    """Return whether a checkpoint can be read, its experience included."""
    try:
        read_whole(folder)
    except CheckpointError:
        return False
    return True


def first_whole(folders: Sequence[Path], report: Callable[[str], None]) -> WholeCheckpoint:
    """Return the first checkpoint that is whole, its experience included. Only the newest one has experience.

    Args:
        folders: the checkpoints, newest first.
        report: takes the error of each that is not whole.

    Raises:
        CheckpointError: none is whole, or there is none.
    """
    return _first(folders, read_whole, report, ", which holds no experience of the learner")


def first_readable(folders: Sequence[Path], report: Callable[[str], None]) -> Path:
    """Return the first checkpoint that can be read without its experience.

    Args:
        folders: the checkpoints, newest first.
        report: takes the error of each that cannot be read.

    Raises:
        CheckpointError: none can be read, or there is none.
    """

    def read(folder: Path) -> Path:
        read_checkpoint(folder)
        return folder

    return _first(folders, read, report)


def _first(folders: Sequence[Path], read: Callable[[Path], T], report: Callable[[str], None], remark: str = "") -> T:
    for number, folder in enumerate(folders, start=1):
        try:
            return read(folder)
        except CheckpointError as error:
            is_last = number == len(folders)
            report(str(error) if is_last else f"{error}; going on from the checkpoint before it{remark}")
    if folders:
        raise CheckpointError("none of the run's checkpoints can be used: start a new run")
    raise CheckpointError(
        "the run has no checkpoint: it was ended before its first one, or they were removed; start a new run"
    )


def drop_buffer(folder: Path) -> None:
    """Remove the experience from an older checkpoint: only the newest one keeps it."""
    meta = _read_meta(folder)
    if not (folder / BUFFER).exists():
        return
    meta["checksums"] = {name: digest for name, digest in meta["checksums"].items() if not name.startswith(BUFFER)}
    meta["sealed"] = []
    write_atomic(folder / META, meta_text(meta))
    shutil.rmtree(folder / BUFFER)
