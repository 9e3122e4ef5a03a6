"""A learner of three methods: Q-learning with linear values (Watkins 1989; Sutton and Barto 2018, chapter 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmncli import hookimpl
from pkmncli.api import Register, Transitions
from pkmncli.learners.base import BaseLearner

DISCOUNT, STEP_SIZE, EXPLORATION = 0.99, 0.01, 0.1


class LinearLearner(BaseLearner):
    """Learner whose values are weighted sums of the numbers that it observes."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        vectors = {name: space for name, space in self.observation_space.items() if len(space.shape or ()) == 1}
        self.part = next(name for name in vectors if name != "action_mask")
        self.weights = np.zeros((self.num_actions, *(vectors[self.part].shape or ())), np.float32)

    def act(
        self, observations: Mapping[str, NDArray[Any]], explore: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]:
        """Return the best allowed actions, and now and then a random one."""
        values, allowed = self.values(observations), observations["action_mask"] == 1
        actions, exploring = values.argmax(axis=1), np.zeros(len(values), np.bool_)
        if explore:
            exploring = self.random.random(len(values)) < EXPLORATION
            by_chance = np.where(allowed, self.random.random(allowed.shape), -1).argmax(axis=1)
            actions = np.where(exploring, by_chance, actions)
        return actions, np.full(len(values), 0.5, np.float32), exploring

    def learn(self, sampled: Sequence[Transitions]) -> dict[str, float]:
        """Move the values of the actions taken towards reward and next value."""
        errors = np.zeros(0, np.float32)
        for step in sampled:
            rows = np.arange(len(step.actions))
            best_next = np.where(step.terminated, 0, self.values(step.next_observations).max(axis=1))
            errors = step.rewards + DISCOUNT * best_next - self.values(step.observations)[rows, step.actions]
            np.add.at(self.weights, step.actions, STEP_SIZE * errors[:, None] * step.observations[self.part])
        return {"error": float(np.abs(errors).mean())}

    def state(self) -> Mapping[str, NDArray[Any]]:
        """Return the weights."""
        return {"weights": self.weights}

    def values(self, observations: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Return the value of each action, (n, num_actions); minus infinity if it is not allowed."""
        return np.where(observations["action_mask"] == 1, observations[self.part] @ self.weights.T, -np.inf)


@hookimpl
def pkmn_register_algorithms(register: Register) -> None:
    """Register ``linear``."""
    register("linear", LinearLearner, help="Q-learning with linear values")
