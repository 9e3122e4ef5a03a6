"""Results of each strategy: running means and variances of reward and length, updated one episode at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from statistics import fmean, stdev
from typing import Any

_CERTAIN = 1e9
"""Value used for an infinite t, which JSON cannot hold."""


@dataclass
class Running:
    """Count, mean and spread of values (B. P. Welford, «Note on a method for calculating corrected sums», 1962)."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    """Sum of the squared differences from the mean."""

    def add(self, value: float) -> None:
        """Add a value."""
        self.count += 1
        before = value - self.mean
        self.mean += before / self.count
        self.squares += before * (value - self.mean)

    @property
    def squared_error(self) -> float:
        """Squared standard error of the mean; infinite for fewer than two values."""
        return self.squares / (self.count - 1) / self.count if self.count > 1 else math.inf


@dataclass
class StrategyRecord:
    """Results of the episodes that ended while a strategy was in use."""

    rewards: Running = field(default_factory=Running)
    lengths: Running = field(default_factory=Running)
    """Lengths of the episodes that reached their goal: only these are better if shorter."""
    llm_usage: Running = field(default_factory=Running)
    successes: Running = field(default_factory=Running)
    best_reward: float | None = None
    all_steps: int = 0
    times_chosen: int = 0

    def add(self, performance: Mapping[str, Any]) -> None:
        """Add an episode's performance metrics, as far as present."""
        reward = float(performance["episode_reward"])
        self.rewards.add(reward)
        self.best_reward = reward if self.best_reward is None else max(self.best_reward, reward)
        length, success = performance.get("episode_length"), performance.get("success")
        self.all_steps += int(length or 0)
        if success is not None:
            self.successes.add(float(success))
            if success and length is not None:
                self.lengths.add(float(length))
        if performance.get("llm_usage_rate") is not None:
            self.llm_usage.add(float(performance["llm_usage_rate"]))

    def summary(self) -> dict[str, Any]:
        """Return the results for people and programs; None for unknown values."""
        episodes = self.rewards.count
        return {
            "episodes": episodes,
            "times_chosen": self.times_chosen,
            "average_reward": self.rewards.mean if episodes else None,
            "best_reward": self.best_reward,
            "average_length": self.all_steps / episodes if episodes else None,
            "average_llm_usage": self.llm_usage.mean if self.llm_usage.count else None,
            "success_rate": self.successes.mean if self.successes.count else None,
        }

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return asdict(self)

    @classmethod
    def from_state_dict(cls, state: Mapping[str, Any]) -> StrategyRecord:
        """Return the record that :meth:`state_dict` returned as plain values."""
        running = {name: Running(**state[name]) for name in ("rewards", "lengths", "llm_usage", "successes")}
        return cls(**{**state, **running})


def t_of_mean(values: Iterable[float]) -> float:
    """Return Student's t of the mean of at least two values against 0."""
    values = list(values)
    mean, spread = fmean(values), stdev(values)
    return _quotient(mean, spread / math.sqrt(len(values)))


def t_of_difference(one: Running, other: Running) -> float:
    """Return Welch's t of the difference of two means (B. L. Welch, 1947); 0 if either has fewer than two values."""
    if min(one.count, other.count) < 2:
        return 0.0
    return _quotient(one.mean - other.mean, math.sqrt(one.squared_error + other.squared_error))


def _quotient(difference: float, error: float) -> float:
    if error <= abs(difference) / _CERTAIN:
        return math.copysign(_CERTAIN, difference) if difference else 0.0
    return difference / error
