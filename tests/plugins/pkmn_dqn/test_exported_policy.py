"""The policy that leaves the program acts as the learner does, with torch and safetensors alone."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from safetensors.torch import save_file

from pkmn_dqn.learner import DQN
from pkmn_dqn.settings import DQNSettings
from pkmncli.api import ExportedPolicy, ExportingAlgorithm

NUM_ACTIONS = 6
OBSERVATIONS = 40


def box(shape: tuple[int, ...], kind: type = np.float32, high: int = 1) -> gymnasium.spaces.Box:
    return gymnasium.spaces.Box(0, high, shape, kind)


MASK = box((NUM_ACTIONS,), np.int8)
VECTOR = box((5,))
SPACES = {
    "packed": {"screen": box((24, 12), np.uint8, 255), "state_variables": VECTOR, "action_mask": MASK},
    "colour": {"screen": box((48, 48, 3), np.uint8, 255), "state_variables": VECTOR, "action_mask": MASK},
    "stacked": {"screen": box((3, 24, 12), np.uint8, 255), "action_mask": MASK},
    "vectors": {"a": box((2, 3)), "b": box((4,), np.float64)},
}


def written(policy: ExportedPolicy, folder: Path) -> Callable[[dict[str, Any]], int]:
    """The ``act`` of the example, after all was written as `pkmn export` does."""
    save_file(dict(policy.tensors), folder / "policy.safetensors")
    (folder / "policy.json").write_text(json.dumps(policy.description))
    (folder / "policy.py").write_text(policy.example)
    act: Callable[[dict[str, Any]], int] = runpy.run_path(str(folder / "policy.py"))["act"]
    return act


@pytest.mark.parametrize("dueling", [True, False])
@pytest.mark.parametrize("kind", SPACES)
def test_it_acts_as_the_learner_does(kind: str, dueling: bool, tmp_path: Path) -> None:
    space = gymnasium.spaces.Dict(SPACES[kind])
    settings = DQNSettings(dueling=dueling, screen_channels=(4, 4), screen_features=8, vector_features=8)
    learner: ExportingAlgorithm = DQN(space, gymnasium.spaces.Discrete(NUM_ACTIONS), 1, 3, settings)
    act = written(learner.export_policy(), tmp_path)
    space.seed(0)
    chosen = []
    for _ in range(OBSERVATIONS):
        observation = space.sample()
        if "action_mask" in observation and not observation["action_mask"].any():
            observation["action_mask"][0] = 1
        batch = {name: np.asarray(value)[None] for name, value in observation.items()}
        chosen.append(int(learner.act(batch, explore=False)[0][0]))
        assert act(observation) == chosen[-1]
    assert len(set(chosen)) > 1, "or anything would agree"


def test_it_is_of_the_network_that_acts(tmp_path: Path, scripted_training: Callable[..., Any]) -> None:
    """Updates that were not published yet are not in it, and learning on changes no policy that was taken."""
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
