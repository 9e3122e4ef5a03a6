"""What a training measures of itself between two statuses: averages of the learner's metrics, times, speed."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from pkmncli.api import EpisodeSummary
from pkmncli.training.statistics import TrainingStatistics
from pkmncli.training.status import Status, TrainerOptions


class Meters:
    """Adds up until a status is made of it.

    Args:
        options: of the training.
    """

    def __init__(self, options: TrainerOptions) -> None:
        self.game = ""
        """Where the first environment's game stood lately, for people."""
        self._options = options
        self._sums: dict[str, float] = defaultdict(float)
        self._counts: dict[str, int] = defaultdict(int)
        self._seconds: dict[str, float] = defaultdict(float)
        self._averages: dict[str, float] = {}
        self._since = (0, time.perf_counter())

    def begin(self, steps: int) -> None:
        """Speed is counted from here."""
        self._since = (steps, time.perf_counter())

    def leave_out(self, seconds: float) -> None:
        """Time in which the training stood still, which counts for no speed."""
        steps, since = self._since
        self._since = (steps, since + seconds)

    def add(self, metrics: Mapping[str, float]) -> None:
        """Takes in the learner's metrics of an update."""
        for name, value in metrics.items():
            self._sums[name] += value
            self._counts[name] += 1

    def spend(self, **seconds: float) -> None:
        """Takes in what time went into; a name's underscores stand for spaces."""
        for name, spent in seconds.items():
            self._seconds[name.replace("_", " ")] += spent

    def take(self, statistics: TrainingStatistics) -> tuple[dict[str, float], Status]:
        """The metrics since the last time, and the status that goes with them; all begins anew."""
        averages = {f"learner/{name}": total / self._counts[name] for name, total in self._sums.items()}
        self._sums.clear()
        self._counts.clear()
        if statistics.average_reward is not None:
            averages["episode/average_reward"] = statistics.average_reward
        averages |= {f"share/{name}": share for name, share in statistics.source_shares().items()}
        self._averages = averages
        status = self._status(statistics)
        total = sum(status.seconds.values()) or 1.0
        shares = {f"time/{name}": spent / total for name, spent in status.seconds.items()}
        return {**averages, **shares, "time/steps_per_second": status.steps_per_second}, status

    def between(self, statistics: TrainingStatistics) -> Status:
        """A status without speed and times, which are those of the one before."""
        return Status(statistics, self._options, 0.0, {}, self._averages)

    def _status(self, statistics: TrainingStatistics) -> Status:
        steps, since = self._since
        now = time.perf_counter()
        rate = (statistics.steps - steps) / max(now - since, 1e-9)
        status = Status(statistics, self._options, rate, dict(self._seconds), self._averages, self.game)
        self._seconds.clear()
        self._since = (statistics.steps, now)
        return status

    def state_dict(self) -> dict[str, Any]:
        """The averages under way, as plain values; times are not kept."""
        return {"sums": dict(self._sums), "counts": dict(self._counts)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`state_dict`."""
        self._sums.update(state["sums"])
        self._counts.update(state["counts"])


def metrics_of(summary: EpisodeSummary, rewards: Mapping[str, float]) -> dict[str, float]:
    """The metrics of an episode that has ended, with what each part of its reward earned."""
    return {
        "episode/reward": summary.total_reward,
        "episode/length": summary.steps,
        "episode/milestones": len(summary.milestone_steps),
        "episode/llm_share": summary.llm_share,
        **{f"reward/{part}": total for part, total in sorted(rewards.items())},
        **{f"milestone/{name}/step": step for name, step in summary.milestone_steps.items() if step},
        **{f"milestone/{name}/frame": frame for name, frame in summary.milestone_frames.items() if frame},
    }
