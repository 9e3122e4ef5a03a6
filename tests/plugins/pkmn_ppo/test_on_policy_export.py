"""The exported policies of PPO and A2C act as the learners do, with torch and safetensors alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import pytest
import torch
from support.exported_policies import NUM_ACTIONS, SPACES, assert_acts_alike

from pkmn_ppo.learner import A2C, PPO
from pkmn_ppo.settings import A2CSettings, PPOSettings

SIZES: dict[str, Any] = {"screen_channels": (4, 4), "screen_features": 8, "vector_features": 8}


def untrained(rl: str, space: gymnasium.spaces.Dict) -> PPO | A2C:
    actions = gymnasium.spaces.Discrete(NUM_ACTIONS)
    if rl == "ppo":
        return PPO(space, actions, 1, 3, PPOSettings(**SIZES, n_steps=64))
    return A2C(space, actions, 1, 3, A2CSettings(**SIZES))


@pytest.mark.parametrize("rl", ["ppo", "a2c"])
@pytest.mark.parametrize("kind", SPACES)
def test_they_act_as_the_learners_do(kind: str, rl: str, tmp_path: Path) -> None:
    space = gymnasium.spaces.Dict(SPACES[kind])
    assert_acts_alike(untrained(rl, space), space, tmp_path)


@pytest.mark.parametrize("rl", ["ppo", "a2c"])
def test_they_are_of_the_network_that_acts(rl: str, scripted_training: Any) -> None:
    """Updates that were not published are not in them, and later learning changes no exported policy."""
    training = scripted_training(rl)
    policy = training.learner.export_policy()
    before = {name: tensor.clone() for name, tensor in policy.tensors.items()}
    training.run(60)
    assert all(torch.equal(policy.tensors[name], before[name]) for name in before)
    later, state = training.learner.export_policy().tensors, training.learner.state_dict()
    assert any(not torch.equal(later[name], before[name]) for name in before)
    assert all(torch.equal(later[name], state[f"acting.{name}"]) for name in later)
    assert any(not torch.equal(later[name], state[f"learning.network.{name}"]) for name in later)


@pytest.mark.parametrize("rl", ["ppo", "a2c"])
def test_the_description_says_what_they_give(rl: str, scripted_training: Any) -> None:
    description = scripted_training(rl).learner.export_policy().description
    assert "logit" in description["gives"]
    assert description["num_actions"] == 4
    assert description["network"]["layers"]["policy.2.weight"] == [4, 8]
    assert description["network"]["strides"] == [8, 2]
