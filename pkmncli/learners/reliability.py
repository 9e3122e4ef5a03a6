"""The reliability of predicted values: the evidence behind a learner's confidence.

*Reliability* is the correlation between the value that the learner predicted for an action and the reward that followed
within some hundred steps, over the latest actions that agreed with its own choice, whoever took them; times the share
of evidence collected. It is 0 at the start, about 0 for an untrained network, and 0 while there is no reward.

A learner's confidence is its reliability times the size of its action gap, which each kind of learner measures in its
own way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOMENTS = ("choices", "value_mean", "return_mean", "value_variance", "return_variance", "covariance")


class ValueReliability:
    """Running comparison of predicted values and the rewards that followed."""

    def __init__(self, num_envs: int, num_actions: int, gamma: float, horizon: int, memory: int) -> None:
        """Make an empty record.

        Args:
            num_envs: number of environments.
            num_actions: actions that values are given for.
            gamma: discount of the reward one step later.
            horizon: steps of reward that a choice is judged by.
            memory: number of latest choices that count.
        """
        self._memory = memory
        self._moments = dict.fromkeys(_MOMENTS, 0.0)
        # The value of every action at the next step, and the choice; -1 for none.
        self._values = np.zeros((num_envs, num_actions), np.float32)
        self._choices = np.full(num_envs, -1, np.int64)
        # Steps of each environment whose reward is not complete yet, the latest one last.
        self._predicted = np.zeros((num_envs, horizon), np.float32)
        self._own = np.zeros((num_envs, horizon), bool)
        self._rewards = np.zeros((num_envs, horizon), np.float32)
        self._open = np.zeros(num_envs, np.int64)
        exponents = np.arange(horizon)[None, :] - np.arange(horizon)[:, None]
        self._discounts = np.where(exponents >= 0, float(gamma) ** np.maximum(exponents, 0), 0.0)

    @property
    def reliability(self) -> float:
        """Agreement of predicted values with the rewards that followed, 0..1."""
        moments = self._moments
        spread = (moments["value_variance"] * moments["return_variance"]) ** 0.5
        if spread <= 0:
            return 0.0
        evidence = 1 - (1 - 1 / self._memory) ** moments["choices"]
        return float(evidence * min(1.0, max(0.0, moments["covariance"] / spread)))

    def note_choices(self, values: NDArray[np.float32], choices: NDArray[np.int64]) -> None:
        """Note the predictions for the next step.

        Args:
            values: (num_envs, num_actions), of every action.
            choices: (num_envs,), the action that the learner would take.
        """
        self._values[:] = values
        self._choices[:] = choices

    def note_outcomes(self, actions: NDArray[np.int64], rewards: NDArray[np.float32], ended: NDArray[np.bool_]) -> None:
        """Note a step of every environment: the action taken, its reward, and whether the episode ended."""
        for window in (self._predicted, self._own, self._rewards):
            window[:, :-1] = window[:, 1:]
        self._predicted[:, -1] = self._values[np.arange(len(actions)), actions]
        self._own[:, -1] = actions == self._choices
        self._rewards[:, -1] = rewards
        self._choices[:] = -1
        horizon = self._rewards.shape[1]
        self._open = np.minimum(self._open + 1, horizon)
        for environment in range(len(actions)):
            if ended[environment]:
                self._judge(environment, horizon - int(self._open[environment]), horizon)
                self._open[environment] = 0
            elif self._open[environment] == horizon:
                self._judge(environment, 0, 1)
                self._open[environment] = horizon - 1

    def state_dict(self) -> dict[str, Any]:
        """Return the state as arrays and plain values."""
        return {
            "moments": dict(self._moments),
            "values": self._values.copy(),
            "choices": self._choices.copy(),
            "predicted": self._predicted.copy(),
            "own": self._own.astype(np.uint8),
            "rewards": self._rewards.copy(),
            "open": self._open.copy(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self._moments = {name: float(state["moments"][name]) for name in _MOMENTS}
        self._values[:] = state["values"]
        self._choices[:] = state["choices"]
        self._predicted[:] = state["predicted"]
        self._own[:] = state["own"]
        self._rewards[:] = state["rewards"]
        self._open[:] = state["open"]

    def _judge(self, environment: int, first: int, stop: int) -> None:
        columns = first + np.flatnonzero(self._own[environment, first:stop])
        if not len(columns):
            return
        returns = self._discounts[columns] @ self._rewards[environment]
        for value, outcome in zip(self._predicted[environment, columns].tolist(), returns.tolist(), strict=True):
            self._compare(value, outcome)

    def _compare(self, value: float, outcome: float) -> None:
        moments = self._moments
        moments["choices"] += 1
        # Until the memory is full every choice has the same weight, so that the means do not start from zero.
        weight = max(1 / self._memory, 1 / moments["choices"])
        value_error = value - moments["value_mean"]
        return_error = outcome - moments["return_mean"]
        moments["value_mean"] += weight * value_error
        moments["return_mean"] += weight * return_error
        for name, product in (
            ("value_variance", value_error * value_error),
            ("return_variance", return_error * return_error),
            ("covariance", value_error * return_error),
        ):
            moments[name] = (1 - weight) * (moments[name] + weight * product)
