"""Continuous actions: their distribution, known answers, and what is kept of them."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from support.exported_policies import loaded
from support.variants import long_after

from pkmn_ppo.gaussian import DiagonalGaussian, sample
from pkmn_ppo.learner import A2C, PPO
from pkmn_ppo.settings import A2CSettings, PPOSettings
from pkmncli.api import Transitions

NUM_ENVS = 8
LOW, HIGH = np.array([0, -3], np.float32), np.array([10, 1], np.float32)
ACTIONS = gymnasium.spaces.Box(LOW, HIGH, dtype=np.float32)
OBSERVATIONS = gymnasium.spaces.Dict(state=gymnasium.spaces.Box(-1, 1, (1,), np.float32))
SMALL: dict[str, Any] = {"vector_features": 32, "head_features": 32, "ent_coef": 0.0, "reward_scale": 1.0}
FAST: dict[str, Any] = {
    "ppo": {**SMALL, "n_steps": 32, "batch_size": 64, "n_epochs": 4, "learning_rate": 3e-3},
    "a2c": {**SMALL, "n_steps": 8, "learning_rate": 3e-3, "normalize_advantage": True},
}
GRU = {"recurrent": "gru", "gru_size": 16, "sequence_length": 4}


def learner_of(rl: str, total_steps: int = 10_000, **settings: Any) -> Any:
    spaces = OBSERVATIONS, ACTIONS, NUM_ENVS, 1
    if rl == "ppo":
        return PPO(*spaces, PPOSettings(**FAST[rl] | settings), "cpu", total_steps)
    return A2C(*spaces, A2CSettings(**FAST[rl] | settings), "cpu", total_steps)


def seen(random: np.random.Generator) -> dict[str, NDArray[np.float32]]:
    return {"state": random.uniform(-1, 1, (NUM_ENVS, 1)).astype(np.float32)}


def best(observations: dict[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the actions that earn most: inside the bounds, and another one for each observation."""
    state = observations["state"]
    return np.concatenate([5 + 3 * state, -1 - state], axis=1)


def play(learner: Any, random: np.random.Generator, observations: Any) -> Any:
    """Take one step, which is an episode. The reward falls with the square of the distance from the best action."""
    actions, confidences, exploring = learner.act(observations, explore=True)
    assert not actions.any()
    assert not exploring.any()
    assert ((confidences >= 0) & (confidences <= 1)).all()
    played = np.clip(learner.controls(), LOW, HIGH)
    missed = (played - best(observations)) / (HIGH - LOW)
    over, following = np.ones(NUM_ENVS, bool), seen(random)
    rewards = -(missed**2).sum(axis=1).astype(np.float32)
    learner.observe(
        Transitions(
            observations, actions, rewards, over, ~over, following, np.zeros(NUM_ENVS, np.uint8), controls=played
        )
    )
    return following


def train(learner: Any, steps: int) -> None:
    random = np.random.default_rng(0)
    observations, running = seen(random), None
    for step in range(1, steps + 1):
        observations = play(learner, random, observations)
        if step * NUM_ENVS % learner.update_interval == 0:
            if running is not None:
                learner.learn(running)
                learner.publish()
            running = learner.sample()


def test_densities_and_entropy_are_those_of_independent_normal_distributions() -> None:
    means, log_std, actions = torch.randn(7, 3), torch.tensor([-1.0, 0.0, 0.7]), torch.randn(7, 3)
    expected = torch.distributions.Independent(torch.distributions.Normal(means, log_std.exp()), 1)
    policy = DiagonalGaussian(means, log_std)
    torch.testing.assert_close(policy.log_prob(actions), expected.log_prob(actions))
    torch.testing.assert_close(policy.entropy(), expected.entropy())


def test_samples_have_the_mean_the_deviation_and_the_density_of_the_policy() -> None:
    means, log_std = np.full((20_000, 2), 3, np.float32), np.log(np.array([0.5, 2.0], np.float32))
    actions, log_probs = sample(means, log_std, np.random.default_rng(0))
    assert actions.mean(axis=0) == pytest.approx([3, 3], abs=0.05)
    assert actions.std(axis=0) == pytest.approx([0.5, 2.0], rel=0.03)
    policy = DiagonalGaussian(torch.tensor(means), torch.tensor(log_std))
    np.testing.assert_allclose(log_probs, policy.log_prob(torch.tensor(actions)).numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.long
@pytest.mark.parametrize(
    ("rl", "settings", "steps"),
    [("ppo", {}, 1_000), ("a2c", {}, 2_000), pytest.param("ppo", GRU, 1_600, marks=pytest.mark.long)],
)
def test_the_best_action_of_each_observation_is_learned(rl: str, settings: dict[str, Any], steps: int) -> None:
    learner = learner_of(rl, steps * NUM_ENVS, **settings)
    train(learner, steps)
    observations = {"state": np.linspace(-0.9, 0.9, NUM_ENVS, dtype=np.float32)[:, None]}
    learner.act(observations, explore=False)
    missed = np.abs(learner.controls() - best(observations)) / (HIGH - LOW)
    assert missed.max() < 0.1
    learner.sample_actions(observations, np.random.default_rng(0))
    assert np.abs(learner.controls() - best(observations)).max() > 0.01, "sampled, not greedy"


@pytest.mark.parametrize("settings", long_after(1, [{}, GRU]))
def test_a_learner_goes_on_as_before_from_within_a_rollout(settings: dict[str, Any]) -> None:
    learner, other = learner_of("ppo", **settings), learner_of("ppo", **settings)
    train(learner, 75)
    other.load_state_dict(learner.state_dict())
    chosen = []
    for one in (learner, other):
        random = np.random.default_rng(1)
        observations = seen(random)
        for _ in range(30):
            observations = play(one, random, observations)
        one.learn(one.sample())
        one.publish()
        one.act(observations, explore=True)
        chosen.append(one.controls())
    np.testing.assert_array_equal(*chosen)


@pytest.mark.parametrize("settings", long_after(1, [{}, GRU]))
def test_an_exported_policy_gives_the_greedy_controls(settings: dict[str, Any]) -> None:
    learner = learner_of("ppo", **settings)
    train(learner, 70)
    policy = learner.export_policy()
    assert policy.description["controls"] == {"low": [0, -3], "high": [10, 1]}
    observations = {"state": np.linspace(-1, 1, NUM_ENVS, dtype=np.float32)[:, None]}
    learner.act(observations, explore=False)
    for row, expected in zip(observations["state"], learner.controls(), strict=True):
        memory = (torch.zeros(16),) if settings else ()
        given = loaded(policy)({"state": torch.tensor(row)}, *memory)
        np.testing.assert_allclose(given["action"].numpy(), np.clip(expected, LOW, HIGH), rtol=1e-4, atol=1e-4)


def test_time_of_learning_is_measured() -> None:
    assert learner_of("ppo").time_learning() > 0
