"""Advantages equal their definition, wherever episodes end."""

from __future__ import annotations

import numpy as np
import pytest

from pkmn_ppo.advantages import generalized_advantages, normalized

GAMMA, LAMBDA = 0.9, 0.8


def by_definition(
    rewards: np.ndarray, values: np.ndarray, next_values: np.ndarray, terminated: np.ndarray, ended: np.ndarray
) -> np.ndarray:
    """Return the sum over later steps of the same episode of (gamma lambda)^l delta, written out for every step."""
    n_steps, num_envs = rewards.shape
    advantages = np.zeros((n_steps, num_envs))
    for environment in range(num_envs):
        for start in range(n_steps):
            weight = 1.0
            for step in range(start, n_steps):
                place = (step, environment)
                following = 0.0 if terminated[place] else next_values[place]
                advantages[start, environment] += weight * (rewards[place] + GAMMA * following - values[place])
                if ended[place]:
                    break
                weight *= GAMMA * LAMBDA
    return advantages


def test_three_steps_by_hand() -> None:
    """Two environments: one terminates at the second step, one is truncated there before a value of 7."""
    rewards = np.array([[1, 1], [2, 2], [4, 4]], np.float32)
    values = np.array([[10, 10], [20, 20], [30, 30]], np.float32)
    next_values = np.array([[20, 20], [99, 7], [40, 40]], np.float32)
    terminated = np.array([[False, False], [True, False], [False, False]])
    ended = np.array([[False, False], [True, True], [False, False]])
    found = generalized_advantages(rewards, values, next_values, terminated, ended, 0.5, 0.5)
    last = 4 + 0.5 * 40 - 30
    # terminated: 2 - 20; truncated: 2 + 0.5 * 7 - 20; the step before carries a quarter of that
    np.testing.assert_allclose(found[2], [last, last])
    np.testing.assert_allclose(found[1], [-18, -14.5])
    np.testing.assert_allclose(found[0], [1 + 10 - 10 + 0.25 * -18, 1 + 10 - 10 + 0.25 * -14.5])


@pytest.mark.parametrize("seed", range(5))
def test_advantages_are_those_of_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (30, 3)
    rewards, values, next_values = (rng.normal(size=shape).astype(np.float32) for _ in range(3))
    ended = rng.random(shape) < 0.2
    terminated = ended & (rng.random(shape) < 0.5)
    arrays = (rewards, values, next_values, terminated, ended)
    np.testing.assert_allclose(
        generalized_advantages(*arrays, GAMMA, LAMBDA), by_definition(*arrays), rtol=1e-4, atol=1e-5
    )


def test_with_lambda_one_returns_are_the_discounted_rewards() -> None:
    rewards = np.ones((3, 1), np.float32)
    values = np.array([[5], [-3], [2]], np.float32)
    nothing = np.zeros((3, 1), bool)
    next_values = np.array([[-3], [2], [8]], np.float32)
    advantages = generalized_advantages(rewards, values, next_values, nothing, nothing, 0.5, 1.0)
    np.testing.assert_allclose(advantages[0] + values[0], 1 + 0.5 + 0.25 + 0.125 * 8)


def test_normalizing_counts_only_what_it_is_told_to() -> None:
    advantages = np.array([[1, 100], [3, -100]], np.float32)
    counted = np.array([[True, False], [True, False]])
    np.testing.assert_allclose(normalized(advantages, counted), [[-1, 98], [1, -102]], rtol=1e-6)


def test_a_single_advantage_is_left_as_it_is() -> None:
    advantages = np.array([[5.0]], np.float32)
    assert normalized(advantages, np.array([[True]])).tolist() == [[5.0]]
