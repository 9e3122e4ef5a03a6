"""The exported policies of PPO and A2C act as the learners do, with torch alone."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from support.exported_policies import NUM_ACTIONS, SPACES, allowed, assert_acts_alike, run_elsewhere, weights_of
from support.variants import long_after

from pkmn_ppo.learner import A2C, PPO
from pkmn_ppo.settings import A2CSettings, PPOSettings

SIZES: dict[str, Any] = {"screen_channels": (4, 4), "screen_features": 8, "vector_features": 8}


def untrained(rl: str, space: gymnasium.spaces.Dict) -> PPO | A2C:
    actions = gymnasium.spaces.Discrete(NUM_ACTIONS)
    if rl == "ppo":
        return PPO(space, actions, 1, 3, PPOSettings(**SIZES, n_steps=64))
    return A2C(space, actions, 1, 3, A2CSettings(**SIZES))


@pytest.mark.parametrize(
    ("kind", "rl"),
    long_after(1, [("packed", "ppo"), ("colour", "a2c"), ("stacked", "ppo"), ("map", "a2c"), ("counted", "ppo")]),
)
def test_they_act_as_the_learners_do(kind: str, rl: str) -> None:
    space = gymnasium.spaces.Dict(SPACES[kind])
    assert_acts_alike(untrained(rl, space), space)


@pytest.mark.long
def test_they_give_the_same_actions_and_values_where_nothing_of_this_program_can_be_imported() -> None:
    space = gymnasium.spaces.Dict(SPACES["map"])
    space.seed(1)
    observations = [allowed(space.sample()) for _ in range(100)]
    learner = untrained("ppo", space)
    found = run_elsewhere(learner.export_policy(), observations)
    batch = {name: np.stack([one[name] for one in observations]) for name in observations[0]}
    actions, *_ = learner.act(batch, explore=False)
    probabilities = learner.action_values()
    assert probabilities is not None
    np.testing.assert_array_equal(found["action"], actions)
    np.testing.assert_allclose(np.exp(found["scores"]), np.maximum(probabilities, 0), rtol=1e-4, atol=1e-5)
    assert len(set(found["value"].tolist())) > 50


@pytest.mark.long
def test_they_are_of_the_network_that_acts(scripted_training: Any) -> None:
    """Updates that were not published are not in them, and later learning changes no exported policy."""
    training = scripted_training("ppo")
    policy = training.learner.export_policy()
    before = weights_of(policy)
    training.run(60)
    later, state = weights_of(training.learner.export_policy()), training.learner.state_dict()
    assert all(weights_of(policy)[name].equal(before[name]) for name in before)
    assert any(not later[name].equal(before[name]) for name in before)
    assert all(later[name].equal(state[f"acting.{name}"]) for name in later)
    assert any(not later[name].equal(state[f"learning.network.{name}"]) for name in later)


@pytest.mark.parametrize("rl", long_after(1, ["ppo", "a2c"]))
def test_the_description_says_what_they_give(rl: str, scripted_training: Any) -> None:
    description = scripted_training(rl).learner.export_policy().description
    assert "log-probability" in description["gives"]["scores"]
    assert description["num_actions"] == 4
