"""Common parts of the on-policy learners' tests: small learners on a scripted stream, a third of it by the rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.learner_stream import NUM_ENVS, LearnerStream, one_torch_thread

from pkmn_ppo.learner import A2C, PPO
from pkmn_ppo.settings import A2CSettings, PPOSettings
from pkmncli.api import Source, Transitions

__all__ = ["one_torch_thread"]

SMALL: dict[str, Any] = {
    "learning_rate": 1e-3,
    "screen_channels": (4, 4),
    "screen_features": 8,
    "map_channels": (4, 4),
    "map_features": 8,
    "vector_features": 8,
    "head_features": 8,
    "confidence_horizon": 10,
}
SMALL_ROLLOUTS: dict[str, Any] = {"n_steps": 15, "batch_size": 8, "n_epochs": 3}


class ScriptedTraining(LearnerStream):
    """A small PPO or A2C on the stream."""

    def __init__(self, rl: str = "ppo", total_steps: int = 2_000, **settings: Any) -> None:
        spaces = (self.observation_space, self.action_space, NUM_ENVS, 7)
        if rl == "ppo":
            chosen = SMALL | SMALL_ROLLOUTS | settings
            learner: Any = PPO(*spaces, PPOSettings(**chosen), "cpu", total_steps)
        else:
            learner = A2C(*spaces, A2CSettings(**(SMALL | settings)), "cpu", total_steps)
        super().__init__(learner, by_rules=0.3)

    def observe(
        self,
        observations: dict[str, np.ndarray],
        actions: np.ndarray,
        source: Source = Source.RL,
        rewards: tuple[float, float] = (0, 0),
    ) -> None:
        """Give the learner one step by hand."""
        no, sources = np.zeros(NUM_ENVS, bool), np.full(NUM_ENVS, source, np.uint8)
        paid = np.array(rewards, np.float32)
        self.learner.observe(Transitions(observations, actions, paid, no, no, observations, sources))


@pytest.fixture
def scripted_training() -> Callable[..., ScriptedTraining]:
    return ScriptedTraining
