"""Running normalisation: observations of mean 0 and deviation 1, and returns of deviation 1, by what was seen so far.

Statistics are collected in the trainer's process from the steps of a training, and never in evaluations. Their state at
sampling goes to the learning network with the sample, and to the acting network when weights are published. So both
read the same numbers, and results do not depend on timing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pkmncli.api import Transitions
from pkmncli.learners.observations import VECTOR, Columns, ObservationLayout
from pkmncli.learners.weights import under

LIMIT = 10.0
"""Deviations beyond which a normalised number is clipped, as in the library stable-baselines3."""

_EPSILON = 1e-8
"""Term that keeps the division stable where numbers do not vary."""


class RunningMoments:
    """Mean and variance of numbers that come in batches.

    Chan, Golub and LeVeque 1983, "Algorithms for computing the sample variance".

    Args:
        size: how many numbers one row has.
    """

    def __init__(self, size: int) -> None:
        self.count = 0
        self.mean = np.zeros(size)
        self._squares = np.zeros(size)  # sum of squared differences from the mean

    @property
    def variance(self) -> NDArray[np.float64]:
        """(size,) variances; 1 before the second row."""
        return self._squares / self.count if self.count > 1 else np.ones_like(self._squares)

    def note(self, rows: NDArray[Any]) -> None:
        """Take in rows (n, size)."""
        rows = rows.astype(np.float64)
        mean, total = rows.mean(axis=0), self.count + len(rows)
        difference = mean - self.mean
        self._squares += ((rows - mean) ** 2).sum(axis=0) + difference**2 * (self.count * len(rows) / total)
        self.mean += difference * (len(rows) / total)
        self.count = total

    def state_dict(self) -> dict[str, Any]:
        """Return copies of the state, as arrays by name."""
        return {"count": np.array(self.count), "mean": self.mean.copy(), "squares": self._squares.copy()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self.count = int(np.asarray(state["count"]).reshape(()))
        self.mean[:], self._squares[:] = state["mean"], state["squares"]


@dataclass(frozen=True, slots=True)
class VectorScale:
    """Statistics at one moment: ``(vector - mean) * factor`` is the normalised vector. Both are (d,) float32."""

    mean: NDArray[np.float32]
    factor: NDArray[np.float32]


class ObservationStatistics(RunningMoments):
    """Statistics of the vectors of a layout; categories keep their values."""

    def __init__(self, layout: ObservationLayout) -> None:
        super().__init__(layout.vector_size)
        self._kept = [one.place for one in layout.categories]

    @property
    def scale(self) -> VectorScale:
        """The statistics now."""
        mean, factor = self.mean.astype(np.float32), (1 / np.sqrt(self.variance + _EPSILON)).astype(np.float32)
        mean[self._kept], factor[self._kept] = 0, 1
        return VectorScale(mean, factor)


class RewardStatistics(RunningMoments):
    """Deviation of discounted returns so far, which rewards are divided by.

    Args:
        num_envs: number of environments.
        gamma: discount of the reward one step later.
    """

    def __init__(self, num_envs: int, gamma: float) -> None:
        super().__init__(1)
        self._gamma = gamma
        self._returns = np.zeros(num_envs)

    @property
    def factor(self) -> float:
        """Factor that rewards are multiplied by."""
        return float(1 / np.sqrt(self.variance[0] + _EPSILON))

    def note_step(self, rewards: NDArray[Any], ended: NDArray[np.bool_]) -> None:
        """Take in the rewards (num_envs,) of a step, and where an episode ended with it (num_envs,)."""
        self._returns = self._returns * self._gamma + rewards
        self.note(self._returns[:, None])
        self._returns[ended] = 0

    def scaled(self, rewards: NDArray[Any]) -> NDArray[np.float32]:
        """Return rewards in units of that deviation, clipped."""
        return scaled_rewards(rewards, self.factor)

    def state_dict(self) -> dict[str, Any]:
        """Return copies of the state, as arrays by name."""
        return super().state_dict() | {"returns": self._returns.copy()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        super().load_state_dict(state)
        if np.shape(state["returns"]) == self._returns.shape:  # weights may come from another number of environments
            self._returns[:] = state["returns"]


class NormalisingSettings(Protocol):
    """Settings that say what is normalised."""

    @property
    def normalize_observations(self) -> bool:
        """True if vectors are normalised."""

    @property
    def normalize_rewards(self) -> bool:
        """True if rewards are normalised."""

    @property
    def gamma(self) -> float:
        """Discount of the reward one step later."""


class Statistics:
    """All running statistics of a learner, as its settings want them.

    Args:
        layout: of the observations.
        settings: the learner's.
        num_envs: number of environments.
    """

    def __init__(self, layout: ObservationLayout, settings: NormalisingSettings, num_envs: int) -> None:
        wanted = settings.normalize_observations and layout.vector_size > 0
        self.observations = ObservationStatistics(layout) if wanted else None
        self.rewards = RewardStatistics(num_envs, settings.gamma) if settings.normalize_rewards else None
        parts = {"observations": self.observations, "rewards": self.rewards}
        self._parts = {f"statistics.{name}": part for name, part in parts.items() if part is not None}

    @property
    def scale(self) -> VectorScale | None:
        """The statistics of observations now; None if they are not normalised."""
        return None if self.observations is None else self.observations.scale

    def note(self, columns: Columns, transitions: Transitions) -> None:
        """Take in a step of every environment, and the columns that were acted on."""
        if self.observations is not None:
            self.observations.note(columns[VECTOR])
        if self.rewards is not None:
            self.rewards.note_step(transitions.rewards, transitions.terminated | transitions.truncated)

    def state_dict(self) -> dict[str, Any]:
        """Return copies of the state, as arrays by dotted name; empty if nothing is normalised."""
        return {
            f"{name}.{key}": value for name, part in self._parts.items() for key, value in part.state_dict().items()
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`; what is missing there is unchanged."""
        for name, part in self._parts.items():
            if own := under(name, state):
                part.load_state_dict(own)


def scaled_rewards(rewards: NDArray[Any], factor: float) -> NDArray[np.float32]:
    """Return rewards times a factor, clipped."""
    return np.clip(rewards * factor, -LIMIT, LIMIT).astype(np.float32)


class Scale(nn.Module):
    """Layer that normalises vectors by fixed statistics, which are part of the network's state.

    Args:
        size: how many numbers a vector has.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("factor", torch.ones(size))

    @torch.no_grad()
    def follow(self, scale: VectorScale) -> None:
        """Use other statistics from now on, in the same memory."""
        self.get_buffer("mean").copy_(torch.from_numpy(scale.mean))
        self.get_buffer("factor").copy_(torch.from_numpy(scale.factor))

    def forward(self, vectors: Tensor) -> Tensor:
        """Return normalised vectors (n, d), clipped."""
        return ((vectors - self.get_buffer("mean")) * self.get_buffer("factor")).clamp(-LIMIT, LIMIT)
