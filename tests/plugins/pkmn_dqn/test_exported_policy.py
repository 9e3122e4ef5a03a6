"""The exported policy acts as the learner does, with torch alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from support.exported_policies import NUM_ACTIONS, SPACES, allowed, assert_acts_alike, run_elsewhere, weights_of
from support.variants import long_after

from pkmn_dqn.learner import DQN
from pkmn_dqn.settings import DQNSettings

SIZES: dict[str, Any] = {"screen_channels": (4, 4), "screen_features": 8, "vector_features": 8}


def untrained(space: gymnasium.spaces.Dict, **settings: Any) -> DQN:
    return DQN(space, gymnasium.spaces.Discrete(NUM_ACTIONS), 1, 3, DQNSettings(**SIZES, **settings))


@pytest.mark.parametrize(("kind", "quantiles"), long_after(1, [*((kind, 1) for kind in SPACES), ("map", 3)]))
def test_it_acts_as_the_learner_does(kind: str, quantiles: int) -> None:
    space = gymnasium.spaces.Dict(SPACES[kind])
    assert_acts_alike(untrained(space, dueling=kind != "packed", quantiles=quantiles), space)


@pytest.mark.long
def test_it_gives_the_same_actions_and_values_where_nothing_of_this_program_can_be_imported() -> None:
    space = gymnasium.spaces.Dict(SPACES["packed"] | {"pair": SPACES["counted"]["pair"]})
    space.seed(1)
    observations = [allowed(space.sample()) for _ in range(100)]
    learner = untrained(space)
    found = run_elsewhere(learner.export_policy(), observations)
    batch = {name: np.stack([one[name] for one in observations]) for name in observations[0]}
    actions, *_ = learner.act(batch, explore=False)
    values = learner.action_values()
    assert values is not None
    np.testing.assert_array_equal(found["action"], actions)
    np.testing.assert_allclose(found["scores"], values, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found["value"], values.max(axis=1), rtol=1e-4, atol=1e-5)


@pytest.mark.long
def test_it_is_of_the_network_that_acts(scripted_training: Callable[..., Any]) -> None:
    """Updates that were not published are not in it, and later learning changes no exported policy."""
    training = scripted_training()
    policy = training.learner.export_policy()
    before = weights_of(policy)
    training.run(60)
    later = weights_of(training.learner.export_policy())
    state = training.learner.state_dict()
    assert all(weights_of(policy)[name].equal(before[name]) for name in before)
    assert any(not later[name].equal(before[name]) for name in before)
    assert all(later[name].equal(state[f"acting.{name}"]) for name in later)
    assert any(not later[name].equal(state[f"learning.online.{name}"]) for name in later)


@pytest.mark.long
def test_the_description_says_what_it_takes_and_gives(scripted_training: Callable[..., Any]) -> None:
    description = scripted_training().learner.export_policy().description
    assert description["num_actions"] == 4
    assert description["observation"]["screen"] == {"shape": [24, 12], "type": "uint8"}
    assert description["observation"]["state_variables"] == {"shape": [5], "type": "float32"}
    assert "return of each action" in description["gives"]["scores"]
