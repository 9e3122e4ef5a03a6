"""Generalized advantage estimation: how much better an action turned out than the value predicted.

Schulman et al. 2016, "High-dimensional continuous control using generalized advantage estimation".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def generalized_advantages(
    rewards: NDArray[np.float32],
    values: NDArray[np.float32],
    next_values: NDArray[np.float32],
    terminated: NDArray[np.bool_],
    ended: NDArray[np.bool_],
    gamma: float,
    gae_lambda: float,
) -> NDArray[np.float32]:
    """Return the advantages of a rollout; with the values added they are the returns that values are learned from.

    After a terminated episode nothing more is earned; a truncated episode is worth the value of its last observation.
    Neither includes anything of the next episode, which begins in the row below.

    Args:
        rewards: (n_steps, num_envs), as all arrays that follow.
        values: of the observations acted on.
        next_values: of the observations that followed each step; the episode's last observation if it ended. Not used
            if it terminated.
        terminated: True if an episode terminated at a step.
        ended: True if it terminated or was truncated.
        gamma: discount of the reward one step later.
        gae_lambda: weight of longer returns; 0 looks one step ahead, 1 at all rewards.
    """
    td_errors = rewards + gamma * np.where(terminated, 0, next_values) - values
    carried = gamma * gae_lambda * ~ended
    advantages = np.empty(rewards.shape, np.float64)
    following = np.zeros(rewards.shape[1])
    for step in reversed(range(len(rewards))):
        following = advantages[step] = td_errors[step] + carried[step] * following
    return advantages.astype(np.float32)


def normalized(advantages: NDArray[np.float32], counted: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return advantages shifted and scaled so that the ``counted`` ones have mean 0 and deviation 1."""
    chosen = advantages[counted]
    if len(chosen) < 2:
        return advantages
    return np.asarray((advantages - chosen.mean()) / (chosen.std() + 1e-8), np.float32)
