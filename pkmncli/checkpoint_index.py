"""Names of a run's checkpoints, and the index that says which is the latest, the best, and each milestone's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from pkmncli.atomic_files import write_json
from pkmncli.errors import CheckpointError

INDEX_FILE = "index.json"
LATEST = "latest"
BEST = "best"

_NAME = re.compile(r"step-(\d{9,})")


def checkpoint_name(step: int) -> str:
    """The folder name of the checkpoint after so many environment steps: ``step-000120000``."""
    return f"step-{step:09d}"


def checkpoint_step(name: str) -> int:
    """The environment steps that a checkpoint's name tells.

    Raises:
        CheckpointError: it is no checkpoint's name.
    """
    found = _NAME.fullmatch(name)
    if not found:
        raise CheckpointError(f"'{name}' is no checkpoint's name; they are called like {checkpoint_name(120_000)}")
    return int(found[1])


@dataclass(frozen=True, slots=True)
class CheckpointIndex:
    """Which checkpoint is which, by folder name."""

    latest: str | None = None
    best: str | None = None
    best_score: float | None = None
    """What the best one was measured at; its meaning is the trainer's."""
    milestones: Mapping[str, str] = field(default_factory=dict)
    """The checkpoint in which each milestone was first reached."""


class Checkpoints:
    """The checkpoints folder of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, step: int) -> Path:
        """Where the checkpoint after so many steps stands."""
        return self.folder / checkpoint_name(step)

    def names(self) -> list[str]:
        """The names of all complete checkpoints, oldest first. A folder gets its name when it is complete."""
        if not self.folder.is_dir():
            return []
        return sorted((p.name for p in self.folder.iterdir() if _NAME.fullmatch(p.name)), key=checkpoint_step)

    def index(self) -> CheckpointIndex:
        """The index, held against what is really there: the newest folder counts even if the index misses it.

        Raises:
            CheckpointError: the index is damaged.
        """
        names = self.names()
        path = self.folder / INDEX_FILE
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            index = CheckpointIndex(
                content["latest"], content["best"], content["best_score"], dict(content["milestones"])
            )
        except FileNotFoundError:
            index = CheckpointIndex()
        except (ValueError, KeyError, TypeError):
            raise CheckpointError(f"{path} is damaged: delete it, and the newest checkpoint is taken") from None
        best_exists = index.best in names
        return CheckpointIndex(
            latest=names[-1] if names else None,
            best=index.best if best_exists else None,
            best_score=index.best_score if best_exists else None,
            milestones={milestone: name for milestone, name in index.milestones.items() if name in names},
        )

    def record(self, step: int, *, best_score: float | None = None, milestones: Iterable[str] = ()) -> CheckpointIndex:
        """Enters a checkpoint that is complete on disk.

        Args:
            step: environment steps that it was made after.
            best_score: given if it is the best so far, with what it was measured at.
            milestones: those reached for the first time.
        """
        name = checkpoint_name(step)
        index = replace(self.index(), latest=name)
        if best_score is not None:
            index = replace(index, best=name, best_score=best_score)
        index = replace(index, milestones={**dict.fromkeys(milestones, name), **index.milestones})
        self._write(index)
        return index

    def mark_best(self, name: str) -> None:
        """Calls a checkpoint the best, whatever was measured.

        Raises:
            CheckpointError: there is no such checkpoint.
        """
        self._write(replace(self.index(), best=self.resolve(name).name))

    def resolve(self, which: str = LATEST) -> Path:
        """The folder of a checkpoint: ``latest``, ``best``, a milestone, a name, or a number of steps.

        Raises:
            CheckpointError: there is no such checkpoint; with what there is.
        """
        index, names = self.index(), self.names()
        if not names:
            raise CheckpointError(f"no checkpoint in {self.folder} yet: the run has not saved one")
        name = {LATEST: index.latest, BEST: index.best}.get(which, index.milestones.get(which, which))
        if name is None:
            raise CheckpointError(
                f"no checkpoint in {self.folder} is the best yet: fewer than 10 episodes have ended; use {LATEST}"
            )
        if name.isdecimal():
            name = checkpoint_name(int(name))
        if name not in names:
            known = [LATEST, BEST, *index.milestones, *names]
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ";"
            raise CheckpointError(f"no checkpoint '{which}' in {self.folder}{hint} there are {', '.join(names)}")
        return self.folder / name

    def superfluous(self, keep: int) -> list[Path]:
        """The checkpoints that may be deleted: not among the ``keep`` newest, not the best, no milestone's."""
        index, names = self.index(), self.names()
        kept = {*names[-keep:], index.best, *index.milestones.values()}
        return [self.folder / name for name in names if name not in kept]

    def _write(self, index: CheckpointIndex) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        content = {
            "latest": index.latest,
            "best": index.best,
            "best_score": index.best_score,
            "milestones": dict(index.milestones),
        }
        write_json(self.folder / INDEX_FILE, content)
