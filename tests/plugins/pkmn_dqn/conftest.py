"""Common parts of the tests of the DQN: a small one on a scripted stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.learner_stream import NUM_ENVS, LearnerStream, one_torch_thread

from pkmn_dqn.learner import DQN
from pkmn_dqn.settings import DQNSettings

__all__ = ["one_torch_thread"]


class ScriptedTraining(LearnerStream):
    """A small DQN on the stream."""

    def __init__(self, device: str = "cpu", by_rules: float = 0.0, **settings: Any) -> None:
        chosen: dict[str, Any] = {
            "learning_starts": 40,
            "batch_size": 8,
            "target_update_interval": 5,
            "buffer_size": 300,
            "learning_rate": 1e-3,
            "screen_channels": (4, 4),
            "screen_features": 8,
            "map_channels": (4, 4),
            "map_features": 8,
            "vector_features": 8,
            "head_features": 8,
            "confidence_horizon": 10,
        }
        spaces = (self.observation_space, self.action_space, NUM_ENVS, 7)
        super().__init__(DQN(*spaces, DQNSettings(**(chosen | settings)), device, 2_000), by_rules)


@pytest.fixture
def scripted_training() -> Callable[..., ScriptedTraining]:
    return ScriptedTraining
