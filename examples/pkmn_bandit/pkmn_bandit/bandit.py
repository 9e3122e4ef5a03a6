"""A bandit, and Thompson sampling of its arms (Thompson 1933; Chapelle and Li 2011)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROUND = 100
"""Pulls of a round, which counts as an episode."""


def chances(arms: int, seed: int) -> NDArray[np.float64]:
    """Return the chance of each arm to pay, (arms,)."""
    return np.random.default_rng(seed).random(arms)


class Thompson:
    """Learner that pulls the arm which pays best in a world sampled from its beliefs.

    Args:
        arms: number of arms.
        seed: of its random numbers.
    """

    def __init__(self, arms: int, seed: int) -> None:
        self.paid = np.ones(arms)
        self.unpaid = np.ones(arms)
        self.random = np.random.default_rng(seed)

    def choose(self) -> int:
        """Return the arm to pull."""
        return int(self.random.beta(self.paid, self.unpaid).argmax())

    def learn(self, arm: int, reward: float) -> None:
        """Take in what a pull has paid: 0 or 1."""
        self.paid[arm] += reward
        self.unpaid[arm] += 1 - reward

    def state(self) -> dict[str, Any]:
        """Return all that a resumed run needs: arrays and plain values."""
        return {"paid": self.paid, "unpaid": self.unpaid, "random": self.random.bit_generator.state}

    def load(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state`."""
        self.paid, self.unpaid = state["paid"].copy(), state["unpaid"].copy()
        self.random.bit_generator.state = state["random"]
