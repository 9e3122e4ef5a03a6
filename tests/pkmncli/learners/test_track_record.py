"""Reliability is 0 without evidence or skill, and higher the better values predict rewards."""

from __future__ import annotations

import numpy as np
import pytest

from pkmncli.learners.reliability import ValueReliability


def played(skill: float, steps: int, own: bool = True, rewards_scale: float = 1.0) -> ValueReliability:
    """Return the record of a learner whose values are a share ``skill`` of the true ones, the rest noise."""
    rng = np.random.default_rng(0)
    record = ValueReliability(num_envs=2, num_actions=3, gamma=0.9, horizon=1, memory=500)
    for _ in range(steps):
        rewards = rng.normal(size=2).astype(np.float32)
        noise = rng.normal(size=2)
        values = np.zeros((2, 3), np.float32)
        values[:, 1] = skill * rewards + (1 - skill) * noise + 10
        record.note_choices(values, np.array([1, 1]))
        record.note_outcomes(np.full(2, 1 if own else 2), rewards * rewards_scale, np.zeros(2, bool))
    return record


def test_reliability_starts_at_zero() -> None:
    assert ValueReliability(2, 3, 0.9, 10, 500).reliability == 0


def test_reliability_rises_with_skill_and_with_evidence() -> None:
    assert played(1.0, 2_000).reliability > 0.95
    assert 0.5 < played(0.5, 2_000).reliability < 0.9
    assert played(0.0, 2_000).reliability < 0.15
    assert played(1.0, 20).reliability < 0.1


def test_wrong_foresight_is_no_reliability() -> None:
    assert played(1.0, 2_000, rewards_scale=-1).reliability == 0


def test_without_rewards_there_is_no_reliability() -> None:
    assert played(0.0, 2_000, rewards_scale=0).reliability == 0


def test_presses_that_the_learner_would_not_have_chosen_do_not_count() -> None:
    assert played(1.0, 2_000, own=False).reliability == 0


def test_outcomes_are_discounted_within_the_episode_and_the_horizon() -> None:
    record = ValueReliability(num_envs=1, num_actions=1, gamma=0.5, horizon=3, memory=10**9)
    values = [1.0, 0.0, 0.0, 0.0, 3.0, 0.0]
    rewards = [0.0, 0.0, 4.0, 8.0, 2.0, 2.0]
    ends = [False, False, False, True, False, True]
    for value, reward, end in zip(values, rewards, ends, strict=True):
        record.note_choices(np.array([[value]], np.float32), np.array([0]))
        record.note_outcomes(np.array([0]), np.array([reward], np.float32), np.array([end]))
    returns = [1.0, 4.0, 8.0, 8.0, 3.0, 2.0]  # 0 + 0/2 + 4/4; 0 + 4/2 + 8/4; 4 + 8/2; 8; 2 + 2/2; 2
    moments = record.state_dict()["moments"]
    assert moments["choices"] == 6
    assert moments["return_mean"] == pytest.approx(np.mean(returns))
    assert moments["return_variance"] == pytest.approx(np.var(returns))
    assert moments["covariance"] == pytest.approx(np.cov(values, returns, bias=True)[0, 1])
