"""Checks shared by learners: an allowed action, finite rewards, a state that fits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmncli.errors import CheckpointError, TrainingError


def require_an_action(allowed: NDArray[np.bool_]) -> None:
    """Raise TrainingError if a row of ``allowed`` (n, num_actions) is all false."""
    if not allowed.any(axis=1).all():
        environment = int(np.flatnonzero(~allowed.any(axis=1))[0])
        raise TrainingError(
            f"Environment {environment} allows no action: its action_mask is all 0. "
            "An environment must allow at least one."
        )


def require_finite_rewards(rewards: NDArray[Any], steps: int) -> None:
    """Raise TrainingError if one of the rewards (num_envs,), given after ``steps`` steps, is not finite."""
    if not np.isfinite(rewards).all():
        environment = int(np.flatnonzero(~np.isfinite(rewards))[0])
        raise TrainingError(
            f"Environment {environment} gave the reward {rewards[environment]} after "
            f"{steps:,} steps: look into the rewards in use."
        )


def require_own_state(state: Mapping[str, Any], learner: str, version: int, num_envs: int) -> None:
    """Raise CheckpointError if a learner's state has another version or number of environments."""
    if state.get("version") != version:
        raise CheckpointError(
            f"The checkpoint's {learner} state is of version {state.get('version')}, this program's is "
            f"{version}: use the version of pkmncli that wrote it."
        )
    if state["num_envs"] != num_envs:
        raise CheckpointError(
            f"The checkpoint is of {state['num_envs']} environments, not {num_envs}: resume with as many."
        )
