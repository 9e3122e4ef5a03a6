"""Keeps a run's checkpoints: writes the new one, enters it in the index, takes away what is no longer needed."""

from __future__ import annotations

import contextlib
import math
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from pkmncli.api import Segment
from pkmncli.atomic_files import write_errors_explained
from pkmncli.errors import CheckpointError, RunError
from pkmncli.runs import Run
from pkmncli.training.checkpoints import Checkpoint, drop_buffer, write_checkpoint
from pkmncli.training.statistics import RECENT_EPISODES, TrainingStatistics

BYTES_PER_GB = 1e9


class CheckpointKeeper:
    """Writes checkpoints of a run and keeps the newest, the best, and the first one after each milestone.

    Only the newest holds the learner's experience, from which a run is resumed; the others hold what evaluation needs.
    """

    def __init__(self, run: Run, keep: int, disk_limit_gb: float) -> None:
        self._run = run
        self._keep = keep
        self._disk_limit_gb = disk_limit_gb
        self._milestones: set[str] = set(run.checkpoints.index().milestones)

    def save(self, checkpoint: Checkpoint, segments: Callable[[], Iterable[Segment]]) -> Path:
        """Writes a checkpoint. Raises RunError when the disk or the run's share of it is full."""
        checkpoints = self._run.checkpoints
        names = checkpoints.names()
        previous = checkpoints.folder / names[-1] if names else None
        folder = checkpoints.path(checkpoint.step)
        if folder.exists():
            return folder
        with write_errors_explained(folder):
            write_checkpoint(folder, checkpoint, segments(), previous)
            statistics = TrainingStatistics.from_state_dict(dict(checkpoint.trainer["statistics"]))
            stages = {f"stage-{number}" for number in range(2, statistics.curriculum_stage + 1)}
            new = {*statistics.milestone_episodes, *stages} - self._milestones
            score = self._score_if_best(statistics)
            if checkpoint.best:
                score = score if score is not None else statistics.average_reward or 0.0
            index = checkpoints.record(checkpoint.step, best_score=score, milestones=sorted(new))
            self._milestones = set(index.milestones)
            if previous is not None:
                drop_buffer(previous)
            for superfluous in checkpoints.superfluous(self._keep):
                shutil.rmtree(superfluous, ignore_errors=True)
        self._run.write_summary(statistics.summary())
        used = folder_bytes(self._run.folder) / BYTES_PER_GB
        if used > self._disk_limit_gb:
            raise RunError(
                f"the run takes {used:.2g} GB, more than its limit of {self._disk_limit_gb:g} GB; it is saved: go on "
                f"with 'pkmn train --resume {self._run.folder} --disk-limit-gb {math.ceil(20 * used) / 10:g}'"
            )
        return folder

    def _score_if_best(self, statistics: TrainingStatistics) -> float | None:
        """What the learner was evaluated at, if that was never better; where it never is, the mean recent return."""
        if statistics.evaluation is not None:
            found = float(statistics.evaluation["avg_reward"])
            now = statistics.evaluated_at == statistics.steps
            return found if now and found == statistics.best_evaluation else None
        score = statistics.average_reward
        if score is None or len(statistics.recent_rewards) < RECENT_EPISODES:
            return None
        best = self._run.checkpoints.index().best_score
        return score if best is None or score > best else None


def remove_leftovers(run: Run) -> None:
    """Removes what a killed training left half-written or undone. Only the run's own training may do that."""
    for name in run.checkpoints.names()[:-1]:
        with contextlib.suppress(CheckpointError):  # a damaged one is told where it is needed
            drop_buffer(run.checkpoints.folder / name)
    for folder in (run.folder, run.checkpoints.folder):
        for leftover in folder.glob(".*.tmp"):
            if leftover.is_dir():
                shutil.rmtree(leftover, ignore_errors=True)
            else:
                leftover.unlink(missing_ok=True)


def folder_bytes(folder: Path) -> int:
    """Disk space of everything in a folder; files that vanish meanwhile count as nothing, links to one file once."""
    total, seen = 0, set()
    for path in folder.rglob("*"):
        try:
            status = path.lstat()
        except OSError:
            continue
        if status.st_ino not in seen:
            seen.add(status.st_ino)
            total += status.st_size
    return total
