"""The smallest learner: the guide's example has three methods, learns, trains, and resumes exactly."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from pkmncli.api import Transitions
from pkmncli.learners.base import BaseLearner
from pkmncli.plugins import get_registry
from pkmncli.testing import check_plugin

EXAMPLE = Path(__file__).parents[3] / "examples" / "linear_learner.py"
SPACE = spaces.Dict({"numbers": spaces.Box(0, 1, (2,), np.float32), "action_mask": spaces.Box(0, 1, (3,), np.int8)})


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("linear_learner", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def registered(example: ModuleType) -> Iterator[str]:
    """Name of the example's learner, while it is registered."""
    get_registry().register_plugin(example, "linear-learner")
    yield "linear"
    get_registry().unregister_plugin("linear-learner")


def observed(*numbers: tuple[float, float], mask: tuple[int, int, int] = (1, 1, 1)) -> dict[str, Any]:
    return {"numbers": np.array(numbers, np.float32), "action_mask": np.array([mask] * len(numbers), np.int8)}


def step(action: int, reward: float) -> Transitions:
    here = observed((1, 0))
    return Transitions(
        here,
        np.array([action]),
        np.array([reward], np.float32),
        np.array([True]),
        np.array([False]),
        observed((0, 1)),
        np.zeros(1, np.uint8),
    )


def learner_of(example: ModuleType) -> Any:
    return example.LinearLearner(SPACE, spaces.Discrete(3), 1, 0)


def test_the_example_has_three_methods_that_the_base_class_asks_for(example: ModuleType) -> None:
    assert BaseLearner.__abstractmethods__ == {"act", "learn", "state"}
    plugin = type("Plugin", (), {"pkmn_register_algorithms": staticmethod(example.pkmn_register_algorithms)})()
    assert [entry.name for entry in check_plugin(plugin)] == ["linear"]


def test_it_learns_which_action_pays_and_keeps_to_the_mask(example: ModuleType) -> None:
    learner = learner_of(example)
    for _ in range(50):
        learner.observe(step(1, 1.0))
        learner.observe(step(2, -1.0))
        learner.learn(learner.sample())
    assert learner.sample() is None
    assert learner.act(observed((1, 0)), explore=False)[0].tolist() == [1]
    assert learner.act(observed((1, 0), mask=(0, 0, 1)), explore=True)[0].tolist() == [2]


def test_a_state_has_what_was_learned_and_the_steps_not_learned_from_yet(example: ModuleType) -> None:
    learner, other = learner_of(example), learner_of(example)
    learner.observe(step(1, 1.0))
    learner.learn(learner.sample())
    learner.observe(step(2, 0.5))
    saved = learner.state_dict()
    other.load_state_dict(saved)
    for one in (learner, other):
        one.learn(one.sample())
    np.testing.assert_array_equal(learner.weights, other.weights)
    assert not np.array_equal(saved["weights"], learner.weights), "a saved state does not change"
    assert learner.random.random() == other.random.random()


@pytest.mark.long
def test_it_trains_and_resumes_exactly(
    registered: str,
    pkmn: Callable[..., Any],
    small_training: list[str],
    course: Callable[[Path], dict[str, Any]],
    tmp_path: Path,
) -> None:
    options = [*small_training, f"--rl={registered}", "--mode=rl-only"]
    for arguments in (["--steps=200", "--run-name=whole"], ["--steps=100", "--run-name=parts"]):
        result = pkmn("train", *options, *arguments)
        assert result.code == 0, result.err
    assert pkmn("train", "--resume", "parts", "--steps=200").code == 0
    whole, parts = (course(tmp_path / "runs" / name)["decisions"] for name in ("whole", "parts"))
    assert len(whole) >= 200
    assert whole == parts
