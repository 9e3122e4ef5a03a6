"""Checkpoints of the runs in a folder, by id: ``RUN/step-000000576``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pkmncli.api import find_run, runs

DEFAULT_FOLDER = "./checkpoints/multimodel"


@dataclass(frozen=True, slots=True)
class FoundCheckpoint:
    """Checkpoint of a run.

    Attributes:
        run: folder of the run.
        step: replies that were recorded before it.
        newest: True if the run has none after it.
    """

    run: Path
    step: int
    newest: bool


def list_available_checkpoints(checkpoint_dir: str = DEFAULT_FOLDER) -> list[str]:
    """Return the ids of all checkpoints in a folder of runs, the newest first."""
    found = [path for path in Path(checkpoint_dir).glob("*/checkpoints/step-*") if path.is_dir()]
    found.sort(key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)
    return [f"{path.parent.parent.name}/{path.name}" for path in found]


def load_checkpoint_metadata(checkpoint_id: str, checkpoint_dir: str = DEFAULT_FOLDER) -> dict[str, Any]:
    """Return what a checkpoint is of: run, step, games, adapters with updates and hashes, settings.

    Raises:
        FileNotFoundError: there is no such checkpoint.
        CheckpointError: it is damaged.
    """
    found = find_checkpoint(checkpoint_id, checkpoint_dir)
    state = runs.read_state(found.run, str(found.step))
    versions = {
        name.split("/")[2]: {"updates": int(value[0]), "hash": value[1]}
        for name, value in state.items()
        if name.startswith("population/versions/")
    }
    settings = find_run(found.run).settings["multimodel"]
    return {
        "checkpoint_id": checkpoint_id,
        "run": str(found.run),
        "step": found.step,
        "episode": int(state["episodes"]),
        "adapters": versions,
        "config": json.loads(json.dumps(settings, default=str)),
    }


def find_checkpoint(checkpoint_id: str, checkpoint_dir: str) -> FoundCheckpoint:
    """Return a checkpoint by its id. Raise FileNotFoundError if there is none."""
    run, _, name = str(checkpoint_id).partition("/")
    folder = Path(checkpoint_dir) / run / "checkpoints"
    if not name.startswith("step-") or not name[5:].isdigit() or not (folder / name).is_dir():
        known = list_available_checkpoints(checkpoint_dir)
        raise FileNotFoundError(
            f"Checkpoint not found: {checkpoint_id!r} in {checkpoint_dir}"
            + (f"; the newest is {known[0]}" if known else "")
        )
    newest = max(path.name for path in folder.glob("step-*") if path.is_dir())
    return FoundCheckpoint(Path(checkpoint_dir) / run, int(name[5:]), name == newest)
