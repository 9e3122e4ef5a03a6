"""Checkpoints: everything that decides a training's future, in a folder that appears whole or not at all.

    step-000120000/
      meta.json              version, counters, plain values, and a checksum of every other file
      learner.safetensors    networks, optimiser and other arrays of the learner
      trainer.safetensors    presses and hashes of the episodes that are running
      worker-00.state        one environment's saved state each
      buffer/*.safetensors   the learner's experience; only in the newest checkpoint

Sealed buffer segments never change, so the next checkpoint links to them instead of writing them again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from pkmncli.api import Segment
from pkmncli.atomic_files import to_disk, write_atomic
from pkmncli.errors import CheckpointError
from pkmncli.training.worker_spec import WorkerState

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT_VERSION = 6

META = "meta.json"
LEARNER = "learner.safetensors"
TRAINER = "trainer.safetensors"
BUFFER = "buffer"

_SYSTEM_ERROR = re.compile(r"\(os error (\d+)\)")  # how safetensors tells that the disk is full, and the like


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The content of a checkpoint.

    ``learner`` mixes arrays and plain values by dotted name, as the learner gave them; ``trainer`` is plain values;
    ``arrays`` belong to the trainer.
    """

    step: int
    learner: Mapping[str, Any]
    trainer: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    workers: tuple[WorkerState, ...]
    milestone_names: tuple[str, ...] = ()
    best: bool = False
    """Whether it is to be called the best, whatever was measured. Not kept in it."""


def write_checkpoint(
    folder: Path, checkpoint: Checkpoint, segments: Iterable[Segment], previous: Path | None = None
) -> None:
    """Writes a checkpoint to ``folder``, which must not exist yet.

    Args:
        folder: where it appears when it is complete.
        checkpoint: its content.
        segments: the learner's experience.
        previous: an earlier checkpoint, whose sealed segments are linked.
    """
    temporary = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        _write_into(temporary, checkpoint, segments, previous)
        for path in (*temporary.rglob("*"), temporary):
            to_disk(path)
        temporary.rename(folder)
        to_disk(folder.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _write_into(folder: Path, checkpoint: Checkpoint, segments: Iterable[Segment], previous: Path | None) -> None:
    learner_arrays, learner_values = _split(checkpoint.learner)
    checksums: dict[str, str] = {}
    _save_arrays(folder, LEARNER, learner_arrays, checksums)
    _save_arrays(folder, TRAINER, checkpoint.arrays, checksums)
    workers = []
    for index, state in enumerate(checkpoint.workers):
        name = f"worker-{index:02d}.state"
        (folder / name).write_bytes(state.environment)
        checksums[name] = _digest(folder / name)
        workers.append(
            {
                "file": name,
                "episode": state.episode,
                "step": state.step,
                "pilot": state.pilot,
                "tiles": list(state.tiles),
            }
        )
    old = _read_meta(previous) if previous is not None else {"checksums": {}, "sealed": []}
    sealed = []
    for segment in segments:
        name = f"{BUFFER}/{segment.name}.safetensors"
        (folder / BUFFER).mkdir(exist_ok=True)
        if segment.sealed:
            sealed.append(name)
            if previous is not None and name in old["sealed"] and _link(previous / name, folder / name):
                checksums[name] = old["checksums"][name]
                continue
        _save_arrays(folder, name, segment.arrays, checksums)
    meta = {
        "format_version": FORMAT_VERSION,
        "step": checkpoint.step,
        "learner": learner_values,
        "trainer": checkpoint.trainer,
        "workers": workers,
        "milestone_names": list(checkpoint.milestone_names),
        "sealed": sealed,
        "checksums": checksums,
    }
    (folder / META).write_text(_meta_text(meta), encoding="utf-8")


def _split(state: Mapping[str, Any]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    values: dict[str, Any] = {}
    for name, value in state.items():
        if hasattr(value, "detach"):  # a tensor, of whatever library has them
            arrays[name] = value.detach().cpu().numpy()
        elif isinstance(value, np.ndarray):
            arrays[name] = value
        else:
            values[name] = value
    return arrays, values


def _save_arrays(folder: Path, name: str, arrays: Mapping[str, NDArray[Any]], checksums: dict[str, str]) -> None:
    try:
        save_file({key: np.ascontiguousarray(array) for key, array in arrays.items()}, folder / name)
    except SafetensorError as error:
        code = _SYSTEM_ERROR.search(str(error))
        if code is None:
            raise
        raise OSError(int(code[1]), os.strerror(int(code[1])), str(folder / name)) from error
    checksums[name] = _digest(folder / name)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _link(source: Path, target: Path) -> bool:
    """Links a file, or copies it where the file system has no hard links. Says whether it was there."""
    try:
        target.hardlink_to(source)
    except FileNotFoundError:
        return False
    except OSError:
        shutil.copyfile(source, target)
    return True


def _meta_text(meta: Mapping[str, Any]) -> str:
    """The text of meta.json, with a checksum of all that it says: every other file has its own in it."""
    plain = json.loads(json.dumps(meta))
    return json.dumps({**plain, "checksum": _meta_checksum(plain)})


def _meta_checksum(plain: Mapping[str, Any]) -> str:
    text = json.dumps({name: value for name, value in plain.items() if name != "checksum"}, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _read_meta(folder: Path) -> dict[str, Any]:
    try:
        meta: dict[str, Any] = json.loads((folder / META).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CheckpointError(f"{folder} is no checkpoint: it has no {META}") from None
    except ValueError as error:
        raise CheckpointError(f"{folder / META} is damaged: {error}") from None
    version = meta.get("format_version") if isinstance(meta, dict) else None
    if version != FORMAT_VERSION:
        raise CheckpointError(f"{folder} has format {version}; this version of pkmn reads format {FORMAT_VERSION}")
    if meta.pop("checksum", None) != _meta_checksum(meta):
        raise CheckpointError(f"the checkpoint is damaged: {folder / META} is not what was written")
    return meta


def read_checkpoint(folder: Path) -> Checkpoint:
    """Reads a checkpoint, without its experience. Raises CheckpointError where anything is missing or damaged."""
    meta = _read_meta(folder)
    for name, expected in meta["checksums"].items():
        if not name.startswith(f"{BUFFER}/"):
            _verify(folder / name, expected)
    learner: dict[str, Any] = dict(_load_arrays(folder / LEARNER))
    learner.update(meta["learner"])
    workers = tuple(
        WorkerState(
            entry["episode"],
            entry["step"],
            (folder / entry["file"]).read_bytes(),
            entry["pilot"],
            tuple(entry.get("tiles", ())),  # a checkpoint of an earlier version has none
        )
        for entry in meta["workers"]
    )
    return Checkpoint(
        step=meta["step"],
        learner=learner,
        trainer=meta["trainer"],
        arrays=_load_arrays(folder / TRAINER),
        workers=workers,
        milestone_names=tuple(meta["milestone_names"]),
    )


def read_segments(folder: Path) -> Iterator[Segment]:
    """The experience that a checkpoint holds, oldest first. Raises CheckpointError where a file is damaged."""
    meta = _read_meta(folder)
    names = [name for name in meta["checksums"] if name.startswith(f"{BUFFER}/")]
    for name in names:
        _verify(folder / name, meta["checksums"][name])
        yield Segment(Path(name).stem, name in meta["sealed"], _load_arrays(folder / name))


def _verify(path: Path, expected: str) -> None:
    try:
        actual = _digest(path)
    except FileNotFoundError:
        raise CheckpointError(f"the checkpoint is incomplete: {path} is missing") from None
    if actual != expected:
        raise CheckpointError(f"the checkpoint is damaged: {path} is not what was written")


def _load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    try:
        arrays: dict[str, NDArray[Any]] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"the checkpoint is damaged: {path}: {error}") from None
    return arrays


def first_usable(folders: Iterable[Path], report: Callable[[str], None]) -> Path:
    """The first checkpoint that is whole. Says which ones are not. Raises CheckpointError when none is."""
    tried = 0
    for folder in folders:
        tried += 1
        try:
            read_checkpoint(folder)
            for _segment in read_segments(folder):
                pass
        except CheckpointError as error:
            report(f"{error}; going on from the checkpoint before it, which holds no experience of the learner")
        else:
            return folder
    if tried:
        raise CheckpointError("none of the run's checkpoints can be used")
    raise CheckpointError("the run has no checkpoint: it was ended before its first one; start a new run")


def drop_buffer(folder: Path) -> None:
    """Takes the experience out of an older checkpoint, which only the newest one keeps."""
    meta = _read_meta(folder)
    if not (folder / BUFFER).exists():
        return
    meta["checksums"] = {name: digest for name, digest in meta["checksums"].items() if not name.startswith(BUFFER)}
    meta["sealed"] = []
    write_atomic(folder / META, _meta_text(meta))
    shutil.rmtree(folder / BUFFER)
