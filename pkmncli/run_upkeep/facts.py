"""Facts of a run for a list: who was trained on what, how far, its state, best evaluation, size and tags."""

from __future__ import annotations

import contextlib
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from pkmncli.api import recorded_steps
from pkmncli.comparison.compared_runs import TRAIN, ComparedRun, evaluations_of
from pkmncli.config import NONE
from pkmncli.config.run_file import COMMAND
from pkmncli.errors import CheckpointError, RunError
from pkmncli.run_labels import read_labels
from pkmncli.run_lock import is_locked
from pkmncli.runs import Run
from pkmncli.training.checkpoints.retention import folder_bytes
from pkmncli.training.evaluation.kept_evaluations import EVALUATIONS
from pkmncli.training.loop_options import has_finished


class State(StrEnum):
    """State of a run."""

    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    NOT_BEGUN = "not begun"


@dataclass(frozen=True, slots=True)
class Best:
    """Best evaluation of a run's trained side; ``reached`` of its episodes reached the goal, if there is one."""

    reward: float
    reached: int | None = None
    episodes: int | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of a run."""

    run: Run
    who: str
    """Learner, ``rules``, or the plugin's command that made the run."""
    what: str
    """Game or environment; empty if the run names none."""
    state: State
    steps: int
    """Recorded steps, also those since the latest checkpoint."""
    best: Best | None
    bytes: int
    created: float
    last_used: float
    """Time of the last change, in seconds since 1970, as ``created`` is."""
    tags: tuple[str, ...]

    @property
    def trained(self) -> str:
        """Learner and game in words, such as ``dqn on Quillwood``."""
        return f"{self.who} on {self.what}" if self.what else self.who

    def as_dict(self) -> dict[str, Any]:
        """Return the facts as plain values, for JSON."""
        return {
            "name": self.run.name,
            "folder": str(self.run.folder),
            "who": self.who,
            "what": self.what,
            "state": self.state.value,
            "steps": self.steps,
            "best_evaluation": None if self.best is None else asdict(self.best),
            "bytes": self.bytes,
            "created": iso_time(self.created),
            "last_used": iso_time(self.last_used),
            "tags": list(self.tags),
        }


def facts_of(run: Run) -> Facts:
    """Return the facts of a run. A damaged file counts as one that is missing."""
    settings, summary = _settings(run), _summary(run)
    trained_by = settings.get(COMMAND, TRAIN)
    learner, environment = settings.get("rl", ""), str(settings.get("env", ""))
    if trained_by != TRAIN:
        who = str(trained_by)
    else:
        who = str(settings.get("pilot", NONE)) if learner == NONE else str(learner)
    game = ""
    with contextlib.suppress(RunError):
        game = str(run.read_names().get("game") or "")
    tags: tuple[str, ...] = ()
    with contextlib.suppress(RunError):
        tags = read_labels(run.folder).tags
    compared = ComparedRun(run, settings)
    created = float(run.read_versions()["created"])
    return Facts(
        run=run,
        who=who or "?",
        what="" if game == who else game or environment,
        state=_state(run, settings, summary),
        steps=max(int(summary.get("total_steps") or 0), recorded_steps(compared.tables)),
        best=_best(compared, summary),
        bytes=folder_bytes(run.folder),
        created=created,
        last_used=max(created, _last_change(run)),
        tags=tags,
    )


def iso_time(seconds: float) -> str:
    """Return a time with its time zone, as ``2026-11-28T09:30:00+00:00``."""
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")


def time_in_words(seconds: float) -> str:
    """Return a time as ``2026-11-28 09:30``."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def size_in_words(size: int) -> str:
    """Return a number of bytes as ``1.2 GB``."""
    amount, unit = float(size), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:,.0f} {unit}" if unit == "bytes" or amount >= 100 else f"{amount:.1f} {unit}"


def _settings(run: Run) -> dict[str, Any]:
    """Return the core's settings. A whole check of the file takes twenty times as long, and is not needed here."""
    try:
        return tomllib.loads(run.config_file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return {}


def _summary(run: Run) -> dict[str, Any]:
    try:
        return run.read_summary()
    except RunError:
        return {}


def _state(run: Run, settings: Mapping[str, Any], summary: Mapping[str, Any]) -> State:
    if is_locked(run.folder):
        return State.RUNNING
    if not run.has_begun:
        return State.NOT_BEGUN
    if settings.get(COMMAND, TRAIN) != TRAIN:
        return State.FINISHED if summary.get("finished") else State.INTERRUPTED
    finished = has_finished(settings.get("steps"), settings.get("episodes"), summary)
    return State.FINISHED if finished else State.INTERRUPTED


def _best(compared: ComparedRun, summary: Mapping[str, Any]) -> Best | None:
    """Return the best evaluation: by the share of goals reached, then by reward."""
    found: list[Best] = []
    with contextlib.suppress(RunError, OSError):
        for one in evaluations_of(compared):
            reached = one.get("reached") if one.get("goal") is not None else None
            found.append(Best(float(one["avg_reward"]), reached, one.get("episodes")))
    found += _while_training(compared.run, summary)
    return max(found, key=_merit, default=None)


def _while_training(run: Run, summary: Mapping[str, Any]) -> Sequence[Best]:
    """Return the best evaluation during the training, whose reward is the score of the best checkpoint."""
    during = summary.get("final_evaluation")
    if not isinstance(during, Mapping) or not isinstance(during.get("avg_reward"), int | float):
        return ()
    rewards = [float(during["avg_reward"])]
    with contextlib.suppress(CheckpointError):
        score = run.checkpoints.index().best_score
        rewards += [] if score is None else [score]
    return (Best(max(rewards)),)


def _merit(best: Best) -> tuple[float, float]:
    return (best.reached / best.episodes if best.reached is not None and best.episodes else 0.0), best.reward


def _last_change(run: Run) -> float:
    """Return the time of the last change by a training, an evaluation or another use of the run.

    Tags, and the deletion of checkpoints, do not count.
    """
    newest = 0.0
    with contextlib.suppress(OSError):
        for path in run.folder.iterdir():
            used = path.is_file() if path.name != EVALUATIONS else True
            if used and path not in (run.labels_file, run.lock_file):
                newest = max(newest, path.stat().st_mtime)
    return newest
