"""Measurements between two statuses: averages of the learner's metrics, times, speed, memory."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from pkmncli.api import EpisodeSummary
from pkmncli.training.display.status import Scene, Status
from pkmncli.training.loop_options import TrainerOptions
from pkmncli.training.recording.counters import TrainingStatistics
from pkmncli.training.recording.journey import Journey

LEAST_SECONDS = 1.0
"""A stretch that is long enough to tell speed by."""


class Meters:
    """Sums, until a status is made of them.

    Args:
        options: of the training.
    """

    def __init__(self, options: TrainerOptions) -> None:
        self._options = options
        self._sums: dict[str, float] = defaultdict(float)
        self._counts: dict[str, int] = defaultdict(int)
        self.seconds: dict[str, float] = defaultdict(float)
        """Times by what they were spent on, to be added to."""
        self._averages: dict[str, float] = {}
        self._since = (0, time.perf_counter())
        self._lately: tuple[float, Mapping[str, float]] = (0.0, {})
        """Speed and times of the last stretch that was long enough to tell."""

    def begin(self, steps: int) -> None:
        """Count speed from here."""
        self._since = (steps, time.perf_counter())

    def leave_out(self, seconds: float) -> None:
        """Leave out time in which the training was paused: it counts for no speed."""
        steps, since = self._since
        self._since = (steps, since + seconds)

    def add(self, metrics: Mapping[str, float]) -> None:
        """Take in the learner's metrics of an update."""
        for name, value in metrics.items():
            self._sums[name] += value
            self._counts[name] += 1

    def add_step(
        self, began: float, asked: float, acted: float, stepped: float, recorded: float, learned: float
    ) -> None:
        """Take in the times at which a step began and each of its parts was done, in seconds."""
        seconds = self.seconds
        seconds["advice"] += asked - began
        seconds["acting"] += acted - asked
        seconds["environment"] += stepped - acted
        seconds["recording"] += recorded - stepped
        seconds["waiting for the learner"] += learned - recorded

    def take(self, statistics: TrainingStatistics) -> dict[str, float]:
        """Return the metrics since the last call, and start again."""
        averages = {f"learner/{name}": total / self._counts[name] for name, total in self._sums.items()}
        self._sums.clear()
        self._counts.clear()
        if statistics.average_reward is not None:
            averages["episode/average_reward"] = statistics.average_reward
        if statistics.recent_learner_share is not None:
            averages["share/learner_lately"] = statistics.recent_learner_share
        averages |= {f"share/{name}": share for name, share in statistics.source_shares().items()}
        self._averages = averages
        rate = self._rate(statistics)
        total = sum(self.seconds.values()) or 1.0
        shares = {f"time/{name}": spent / total for name, spent in self.seconds.items()}
        self._lately = (rate, dict(self.seconds))
        self.seconds.clear()
        self._since = (statistics.steps, time.perf_counter())
        return {**averages, **shares, "time/steps_per_second": rate}

    def look(
        self,
        statistics: TrainingStatistics,
        scene: Scene,
        journey: Journey | None = None,
        metrics: Mapping[str, float] | None = None,
    ) -> Status:
        """Return a status, with ``metrics`` of this moment. The learner's metrics are the latest averages."""
        shown = {**self._averages, **(metrics or {})}
        return Status(statistics, self._options, *self._latest(statistics), shown, scene, journey)

    def steps_per_second(self, statistics: TrainingStatistics) -> float:
        """Return the latest speed, with everything that took time except pauses; 0 before it is known."""
        return self._latest(statistics)[0]

    def _latest(self, statistics: TrainingStatistics) -> tuple[float, Mapping[str, float]]:
        if not self._lately[0] or time.perf_counter() - self._since[1] >= LEAST_SECONDS:
            self._lately = (self._rate(statistics), dict(self.seconds))
        return self._lately

    def _rate(self, statistics: TrainingStatistics) -> float:
        steps, since = self._since
        return (statistics.steps - steps) / max(time.perf_counter() - since, 1e-9)

    def state_dict(self) -> dict[str, Any]:
        """Return the current sums as plain values; times are not kept."""
        return {"sums": dict(self._sums), "counts": dict(self._counts)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore from :meth:`state_dict`."""
        self._sums.update(state["sums"])
        self._counts.update(state["counts"])


def metrics_of(summary: EpisodeSummary, rewards: Mapping[str, float]) -> dict[str, float]:
    """Return the metrics of an episode that has ended, with the total of each part of its reward."""
    return {
        "episode/reward": summary.total_reward,
        "episode/length": summary.steps,
        "episode/milestones": len(summary.milestone_steps),
        "episode/llm_share": summary.llm_share,
        **({} if summary.success is None else {"episode/success": float(summary.success)}),
        **{f"environment/{name}": value for name, value in sorted(summary.metrics.items())},
        **{f"reward/{part}": total for part, total in sorted(rewards.items())},
        **{f"milestone/{name}/step": step for name, step in summary.milestone_steps.items() if step},
        **{f"milestone/{name}/frame": frame for name, frame in summary.milestone_frames.items() if frame},
    }


def peak_memory_bytes() -> int:
    """Return the peak resident memory of this process in bytes, workers not included; 0 if unknown."""
    if sys.platform == "win32":
        return 0
    import resource  # noqa: PLC0415 - not there on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # kilobytes everywhere else
