"""Retention of a run's checkpoints: writes the new one, enters it in the index, removes superfluous ones.

A checkpoint is written from memory alone, so damage of an earlier one never prevents the next.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Callable, Iterable
from pathlib import Path

from pkmncli.api import Segment
from pkmncli.atomic_files import write_errors_explained
from pkmncli.checkpoint_index import CheckpointIndex, Checkpoints
from pkmncli.errors import CheckpointError, RunError
from pkmncli.runs import Run
from pkmncli.training.checkpoints.files import (
    Checkpoint,
    drop_buffer,
    is_whole,
    read_checkpoint,
    remove,
    write_checkpoint,
)
from pkmncli.training.recording.counters import RECENT_EPISODES, TrainingStatistics

BYTES_PER_GB = 1e9

logger = logging.getLogger(__name__)


class CheckpointKeeper:
    """Writer of a run's checkpoints, which keeps the newest, the best, and the first one after each milestone.

    Only the newest holds the learner's experience, from which a run is resumed; the others hold what evaluation needs.

    Args:
        run: the run.
        keep: number of newest checkpoints to keep.
        disk_limit_gb: maximum size of the run.
        tell: takes messages about damage.
        resume: command that resumes a run which ``pkmn train`` has not made, for a message.
    """

    def __init__(
        self,
        run: Run,
        keep: int,
        disk_limit_gb: float,
        tell: Callable[[str], None] = logger.warning,
        resume: str = "",
    ) -> None:
        self._run = run
        self.keep = keep
        """Newest checkpoints to keep."""
        self._disk_limit_gb = disk_limit_gb
        self._tell = tell
        self._resume = resume
        self._index: CheckpointIndex | None = None
        """Index as this training wrote it last, even if the file is lost."""
        self._mend_index()

    def save(self, checkpoint: Checkpoint, segments: Callable[[], Iterable[Segment]]) -> Path:
        """Write a checkpoint. Raises RunError if the disk is full or the run exceeds its limit."""
        checkpoints = self._run.checkpoints
        names = checkpoints.names()
        folder = checkpoints.path(checkpoint.step)
        if folder.name in names:
            if is_whole(folder):
                return folder
            self._tell(f"{folder} is damaged: it is set aside, and written anew")
            self._run.set_aside(folder)
            names.remove(folder.name)
        if self._index is not None and self._index.latest is not None and not names:
            self._tell(
                f"{checkpoints.folder}: the checkpoints before it are gone; {folder.name} holds all that they did"
            )
        previous = checkpoints.folder / names[-1] if names else None
        with write_errors_explained(folder):
            self._mend_index()
            write_checkpoint(folder, checkpoint, segments(), previous, self._tell)
            statistics = checkpoint.trainer.statistics
            new = _reached(statistics) - {*self._known.milestones}
            score = _score(statistics, self._known.best_score)
            if checkpoint.best:
                score = score if score is not None else statistics.average_reward or 0.0
            self._index = checkpoints.record(checkpoint.step, best_score=score, milestones=sorted(new))
        self._take_away(previous)
        self._run.write_summary(statistics.summary())
        used = folder_bytes(self._run.folder) / BYTES_PER_GB
        if used > self._disk_limit_gb:
            limit = f"{math.ceil(20 * used) / 10:g}"
            train = f"'pkmn train --resume {self._run.folder} --disk-limit-gb {limit}'"
            how = f"'{self._resume}' and disk_limit_gb = {limit}" if self._resume else train
            raise RunError(
                f"the run takes {used:.2g} GB, more than its limit of {self._disk_limit_gb:g} GB; it is saved: go on "
                f"with {how}"
            )
        return folder

    @property
    def _known(self) -> CheckpointIndex:
        return self._index if self._index is not None else CheckpointIndex()

    def _mend_index(self) -> None:
        """Ensure that there is an index: without it the best checkpoint and those of milestones would be deleted."""
        checkpoints = self._run.checkpoints
        try:
            if checkpoints.has_index or not checkpoints.names():
                self._index = checkpoints.index()
                return
            damage = f"{checkpoints.index_file} is missing"
        except CheckpointError as error:
            damage = str(error).partition(";")[0]
        self._index = self._index or _index_from(checkpoints)
        self._tell(f"{damage}: it is written anew")
        if checkpoints.has_index:
            self._run.set_aside(checkpoints.index_file)
        checkpoints.write(self._index)

    def _take_away(self, previous: Path | None) -> None:
        """Remove what the new checkpoint makes superfluous. What can't be removed stays, with a message."""
        try:
            if previous is not None:
                drop_buffer(previous)
        except (CheckpointError, OSError) as error:
            logger.warning("the experience of %s stays: %s", previous, error)
        for superfluous in self._run.checkpoints.superfluous(self.keep):
            remove(superfluous)


def _score(statistics: TrainingStatistics, best: float | None) -> float | None:
    """Return the score of the best learner: its evaluation if that is the best so far, else its mean recent return.

    Args:
        statistics: of the training when the checkpoint is made.
        best: the mean return of the best checkpoint so far.

    Returns:
        None if it is not the best.
    """
    if statistics.evaluation is not None:
        found = float(statistics.evaluation["avg_reward"])
        now = statistics.evaluated_at == statistics.steps
        return found if now and found == statistics.best_evaluation else None
    score = statistics.average_reward
    if score is None or len(statistics.recent_rewards) < RECENT_EPISODES:
        return None
    return score if best is None or score > best else None


def _reached(statistics: TrainingStatistics) -> set[str]:
    """Return the milestones whose first checkpoint is kept: the game's, and the curriculum's stages."""
    return {*statistics.milestone_episodes, *(f"stage-{n}" for n in range(2, statistics.curriculum_stage + 1))}


def _index_from(checkpoints: Checkpoints) -> CheckpointIndex:
    """Return an index made from the checkpoints. One that was marked as the best by hand is forgotten."""
    milestones: dict[str, str] = {}
    best, best_score = None, None
    names = checkpoints.names()
    for name in names:
        try:
            statistics = read_checkpoint(checkpoints.folder / name).trainer.statistics
        except CheckpointError:
            continue
        milestones = {**dict.fromkeys(sorted(_reached(statistics)), name), **milestones}
        score = _score(statistics, best_score)
        if score is not None:
            best, best_score = name, score
    return CheckpointIndex(names[-1] if names else None, best, best_score, milestones)


def remove_leftovers(run: Run) -> None:
    """Remove what a killed training left half-written. Only the run's own training may do that."""
    for name in run.checkpoints.names()[:-1]:
        with contextlib.suppress(CheckpointError, OSError):  # a damaged one is reported where it is needed
            drop_buffer(run.checkpoints.folder / name)
    for folder in (run.folder, run.checkpoints.folder):
        for leftover in folder.glob(".*.tmp"):
            remove(leftover)


def folder_bytes(folder: Path) -> int:
    """Return the bytes of all files in a folder; files that vanish meanwhile count 0, links to one file once."""
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
