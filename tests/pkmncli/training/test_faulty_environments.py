"""Trainings of environments with faults say where the fault is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Pkmn = Callable[..., Any]

_ENVIRONMENTS = """
import gymnasium
import numpy as np


class Corridor(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0, 10, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)
    taken = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self.seen(), {}

    def seen(self):
        return np.array([self.steps, 1], np.float32)

    def step(self, action):
        self.steps += 1
        self.taken += 1
        return self.seen(), 1.0, False, self.steps == 10, {}


class Divided(Corridor):
    def seen(self):
        return super().seen() / np.float32(self.steps != 7)


class Endless(Corridor):
    def step(self, action):
        observation, reward, *others = super().step(action)
        return observation, reward * float("inf"), *others


class Tired(Corridor):
    def step(self, action):
        if self.taken == 45:
            raise RuntimeError("tired")
        return super().step(action)


for kind in (Divided, Endless, Tired):
    gymnasium.register(f"Faulty/{kind.__name__}-v0", kind)
"""


@pytest.fixture
def train(pkmn: Pkmn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Train in an environment with a fault."""
    (tmp_path / "faulty_environments.py").write_text(_ENVIRONMENTS)
    monkeypatch.syspath_prepend(tmp_path)
    return lambda name, *options: pkmn(
        "train", f"--env=gym:faulty_environments:Faulty/{name}-v0", "--steps=60", "--final-episodes=0", *options
    )


@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_an_observation_that_is_not_finite_is_said_once_with_its_place(train: Callable[..., Any]) -> None:
    result = train("Divided")
    assert result.code == 0, result.err
    said = "Environment 0 observes inf in 'observation' after 7 steps of the training: no learner can learn from it"
    assert (result.out + result.err).count(said) == 1
    assert (result.out + result.err).count("observes") == 1


def test_a_reward_that_is_not_finite_is_said_with_its_place(train: Callable[..., Any]) -> None:
    result = train("Endless")
    assert result.code == 1
    assert "The reward of environment 0 is inf at step 1 of episode 0" in result.out + result.err


@pytest.mark.long
def test_lost_workers_are_counted_even_in_a_quiet_training(train: Callable[..., Any], tmp_path: Path) -> None:
    result = train("Tired", "--steps=150", "--quiet", "--run-name=it")
    assert result.code == 0, result.err
    lost = json.loads((tmp_path / "runs" / "it" / "summary.json").read_text())["workers_lost"]
    assert lost > 0
    assert f"Workers lost and replaced: {lost}. The run's log.txt says why." in result.out
    assert "RuntimeError: tired" in (tmp_path / "runs" / "it" / "log.txt").read_text()
