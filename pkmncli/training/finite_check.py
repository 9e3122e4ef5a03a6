"""Check that rewards and observations of environments are finite numbers, before anything is learned from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmncli.training.workers.step_result import StepResult


class FiniteCheck:
    """Reports the first reward and the first observation that are not finite.

    A learner refuses them, an observation only at its next update. Without a learner nothing else would notice.

    Args:
        part_names: names of the reward's parts.
    """

    def __init__(self, part_names: Sequence[str]) -> None:
        self._part_names = part_names
        self._reward_reported = self._observation_reported = False

    def of_rewards(self, result: StepResult) -> str:
        """Return the problem of the rewards of steps, once; else an empty text."""
        if self._reward_reported:
            return ""
        rewards = result.rows["reward"]
        if np.isfinite(rewards).all():
            return ""
        self._reward_reported = True
        step, environment = np.argwhere(~np.isfinite(rewards))[0]
        record = result.rows[step, environment]
        parts = zip(self._part_names, record["reward_parts"], strict=False)
        wrong = [name for name, part in parts if not np.isfinite(part)]
        of = f", by its part {wrong[0]!r}" if wrong else ""
        return (
            f"The reward of environment {environment} is {record['reward']} at step {record['step']} of episode "
            f"{record['episode']}{of}: it is recorded so, and sums and averages with it say nothing."
        )

    def of_observations(self, observations: Mapping[str, NDArray[Any]], step: int) -> str:
        """Return the problem of observations, (num_envs, ...), after so many steps, once; else an empty text."""
        if self._observation_reported:
            return ""
        for name, array in observations.items():
            if array.dtype.kind != "f" or np.isfinite(array).all():
                continue
            self._observation_reported = True
            place = tuple(np.argwhere(~np.isfinite(array))[0])
            return (
                f"Environment {place[0]} observes {array[place]} in {name!r} after {step:,} steps of the training: "
                "no learner can learn from it; see what the environment returns."
            )
        return ""
