"""The exported policy acts as the learner does, with torch and safetensors alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from support.exported_policies import NUM_ACTIONS, SPACES, assert_acts_alike

from pkmn_dqn.learner import DQN
from pkmn_dqn.settings import DQNSettings


@pytest.mark.parametrize(("kind", "quantiles"), [*((kind, 1) for kind in SPACES), ("map", 3)])
@pytest.mark.parametrize("dueling", [True, False])
def test_it_acts_as_the_learner_does(kind: str, dueling: bool, quantiles: int, tmp_path: Path) -> None:
    space = gymnasium.spaces.Dict(SPACES[kind])
    settings = DQNSettings(
        dueling=dueling, quantiles=quantiles, screen_channels=(4, 4), screen_features=8, vector_features=8
    )
    assert_acts_alike(DQN(space, gymnasium.spaces.Discrete(NUM_ACTIONS), 1, 3, settings), space, tmp_path)


def test_it_is_of_the_network_that_acts(tmp_path: Path, scripted_training: Callable[..., Any]) -> None:
    """Updates that were not published are not in it, and later learning changes no exported policy."""
    training = scripted_training()
    policy = training.learner.export_policy()
    before = {name: tensor.clone() for name, tensor in policy.tensors.items()}
    training.run(60)
    assert all(policy.tensors[name].equal(before[name]) for name in before)
    later = training.learner.export_policy().tensors
    state = training.learner.state_dict()
    assert any(not later[name].equal(before[name]) for name in before)
    assert all(later[name].equal(state[f"acting.{name}"]) for name in later)
    assert any(not later[name].equal(state[f"learning.online.{name}"]) for name in later)


def test_the_description_says_what_it_takes(tmp_path: Path, scripted_training: Callable[..., Any]) -> None:
    description = scripted_training().learner.export_policy().description
    assert description["num_actions"] == 4
    assert description["observation"]["screen"]["shape"] == [24, 12]
    assert description["observation"]["vector"] == {"keys": ["state_variables"], "size": 5, "type": "float32"}
    assert description["network"]["layers"]["advantage.2.weight"] == [4, 8]
    assert description["network"]["strides"] == [8, 2]
