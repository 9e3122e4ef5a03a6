"""Deletion of what is no longer needed: checkpoints of runs, or whole runs."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pkmncli.atomic_files import write_errors_explained
from pkmncli.errors import ConfigurationError
from pkmncli.run_labels import read_labels
from pkmncli.run_upkeep.facts import Facts, State
from pkmncli.runs import Run
from pkmncli.training.checkpoints.files import remove
from pkmncli.training.checkpoints.retention import folder_bytes

KEEP_TAG = "keep"
"""Tag of runs that are never deleted."""

_BEGINS_WITHIN_S = 60
"""Seconds in which a new run is locked by the process that made it."""

_AGE = re.compile(r"(\d{1,6})([hdw])")
_UNIT_S = {"h": 3600, "d": 86_400, "w": 7 * 86_400}


@dataclass(frozen=True, slots=True)
class Deletion:
    """Deletion of some checkpoints of a run, or of the whole run (no checkpoints)."""

    run: Run
    checkpoints: tuple[Path, ...]
    bytes: int

    @property
    def of_run(self) -> bool:
        """True if the whole run is deleted."""
        return not self.checkpoints

    def carry_out(self) -> None:
        """Delete it.

        Raises:
            RunError: a process writes the run now, or it cannot be deleted.
        """
        with self.run.locked(), write_errors_explained(self.run.folder):
            if self.of_run:
                shutil.rmtree(self.run.folder)
            for folder in self.checkpoints:
                remove(folder)


def seconds_of(age: str) -> int:
    """Return an age such as ``30d`` in seconds: hours, days or weeks.

    Raises:
        ConfigurationError: it is none.
    """
    found = _AGE.fullmatch(age.strip())
    if not found:
        raise ConfigurationError(f"--older-than {age!r}: give hours, days or weeks, as 12h, 30d or 8w")
    return int(found[1]) * _UNIT_S[found[2]]


def plan_runs(runs: Sequence[Facts], *, older_than_s: int | None, keep: int | None) -> list[Deletion]:
    """Return the whole runs to delete. A run must meet every condition; one that is written or tagged ``keep`` stays.

    Args:
        runs: newest first.
        older_than_s: minimum seconds since the last change; None for no condition.
        keep: number of newest runs that stay; None for no condition.

    Raises:
        RunError: the tags of a run that would be deleted are damaged.
    """
    now = time.time()
    return [
        Deletion(one.run, (), one.bytes)
        for place, one in enumerate(runs)
        if (keep is None or place >= keep)
        and (older_than_s is None or now - one.last_used > older_than_s)
        and not _stays(one)
    ]


def plan_checkpoints(runs: Sequence[Facts], *, milestones: bool) -> list[Deletion]:
    """Return the checkpoints to delete of runs that no process writes: neither the newest nor the best.

    Args:
        runs: the runs. Of one that never began, the whole run is deleted.
        milestones: true to keep the first checkpoint after each milestone too.

    Raises:
        CheckpointError: the index of a run's checkpoints is damaged, so that its best one is not known.
        RunError: the tags of a run are damaged.
    """
    plan = []
    for one in runs:
        if _stays(one):
            continue
        if one.state is State.NOT_BEGUN:
            if time.time() - one.created > _BEGINS_WITHIN_S:
                plan.append(Deletion(one.run, (), one.bytes))
        elif superfluous := one.run.checkpoints.superfluous(1, milestones=milestones):
            plan.append(Deletion(one.run, tuple(superfluous), sum(map(folder_bytes, superfluous))))
    return plan


def _stays(one: Facts) -> bool:
    """Return whether a run is never deleted. Its tags are read again: in its facts, damaged ones count as none."""
    return one.state is State.RUNNING or KEEP_TAG in read_labels(one.run.folder).tags
