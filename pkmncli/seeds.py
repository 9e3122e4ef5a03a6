"""Seeds derived from a run's seed: each purpose and each episode has its own, and none depends on timing."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np


class Purpose(IntEnum):
    """Purpose of a seed. Evaluation never uses a seed of training."""

    TRAINING = 0
    EVALUATION = 1
    LEARNER = 2
    ARBITER = 3
    RANDOM_PLAY = 4
    ADVICE = 5
    MEASUREMENT = 6
    STARTS = 7


def derive_seed(run_seed: int, purpose: Purpose, number: int = 0) -> int:
    """Return a 32-bit seed for the ``number``-th use of ``purpose`` in a run."""
    parts: Any = [run_seed, int(purpose), number]
    if run_seed < 1 << 32 and number < 1 << 32:
        parts = np.array(parts, np.uint32)  # the same entropy, which takes half the time
    return int(np.random.SeedSequence(parts).generate_state(1)[0])


def episode_number(environment: int, episode: int, num_envs: int) -> int:
    """Return the number of an environment's episode among those of all environments, which take turns."""
    return environment + episode * num_envs
