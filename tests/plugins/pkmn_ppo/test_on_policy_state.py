"""A learner's state, and when it changes: exact resume, no effect of timing, no trace of greedy acting."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from support.variants import long_after

from pkmn_ppo.learner import PPO
from pkmn_ppo.settings import PPOSettings
from pkmncli.errors import CheckpointError

BOTH = pytest.mark.parametrize("rl", ["ppo", "a2c"])


def assert_equal_states(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert first.keys() == second.keys()
    for name, value in first.items():
        if isinstance(value, torch.Tensor | np.ndarray):
            np.testing.assert_array_equal(np.asarray(value), np.asarray(second[name]), err_msg=name)
        else:
            assert value == second[name], name


def through_files(folder: Path, state: dict[str, Any]) -> dict[str, Any]:
    """Write a state and read it back, in formats with arrays and plain values only."""
    arrays = {name: np.asarray(value) for name, value in state.items() if isinstance(value, torch.Tensor | np.ndarray)}
    plain = {name: value for name, value in state.items() if name not in arrays}
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, folder / "learner.safetensors")
    (folder / "learner.json").write_text(json.dumps(plain))
    read: dict[str, Any] = dict(load_file(folder / "learner.safetensors"))
    return read | json.loads((folder / "learner.json").read_text())


@pytest.mark.parametrize("at", long_after(1, [22, 45, 53]))
@pytest.mark.parametrize(
    ("rl", "settings"), [("ppo", {"target_kl": 0.002, "ent_coef_decay": 1}), ("a2c", {"n_steps": 4})]
)
def test_a_training_resumed_within_a_rollout_equals_an_unbroken_one_bit_for_bit(
    scripted_training: Any, tmp_path: Path, rl: str, settings: dict[str, Any], at: int
) -> None:
    settings = {"learning_rate_decay": 1, **settings}
    unbroken = scripted_training(rl, **settings).run(100)
    first = scripted_training(rl, **settings).run(at)
    resumed = scripted_training(rl, **settings)
    resumed.learner.load_state_dict(through_files(tmp_path, first.learner.state_dict()))
    resumed.step = at
    resumed.run(100 - at)
    assert first.metrics + resumed.metrics == unbroken.metrics
    assert first.acted + resumed.acted == unbroken.acted
    assert_equal_states(resumed.learner.state_dict(), unbroken.learner.state_dict())
    assert unbroken.metrics[-1]["updates"] > 20


def test_a_state_between_choosing_and_what_followed_is_whole(scripted_training: Any, tmp_path: Path) -> None:
    training, resumed = scripted_training(), scripted_training()
    observations = training.observations(0)
    actions, _, _ = training.learner.act(observations, explore=True)
    resumed.learner.load_state_dict(through_files(tmp_path, training.learner.state_dict()))
    for either in (training, resumed):
        either.observe(observations, actions)
    assert_equal_states(training.learner.state_dict(), resumed.learner.state_dict())
    assert resumed.learner.rollout.steps["own"][0].all()


@BOTH
def test_updates_in_a_thread_give_what_updates_in_place_give(scripted_training: Any, rl: str) -> None:
    in_place = scripted_training(rl).run(100)
    with ThreadPoolExecutor(1) as executor:
        threaded = scripted_training(rl).run(100, executor)
    assert threaded.metrics == in_place.metrics
    assert threaded.acted == in_place.acted
    assert_equal_states(threaded.learner.state_dict(), in_place.learner.state_dict())


@BOTH
def test_learned_weights_act_only_once_published(scripted_training: Any, rl: str) -> None:
    training = scripted_training(rl, n_steps=10).run(9)
    learner = training.learner
    before = learner.state_dict()
    observations = training.observations(9)
    training.observe(observations, learner.act(observations, explore=True)[0])
    learner.learn(learner.sample())
    unpublished = learner.state_dict()
    learner.publish()
    after = learner.state_dict()
    acting = [name for name in before if name.startswith("acting.")]
    assert all(torch.equal(before[name], unpublished[name]) for name in acting)
    assert all(torch.equal(after[name], after[name.replace("acting.", "learning.network.")]) for name in acting)
    assert any(not torch.equal(before[name], after[name]) for name in acting)


@BOTH
def test_greedy_acting_leaves_no_trace(scripted_training: Any, rl: str) -> None:
    plain, watched = scripted_training(rl).run(60), scripted_training(rl)
    for _ in range(6):
        watched.run(10)
        for step in range(5):
            watched.learner.act(watched.observations(step), explore=False)
    assert watched.acted == plain.acted
    assert_equal_states(watched.learner.state_dict(), plain.learner.state_dict())


@pytest.mark.long
def test_a_longer_budget_does_not_begin_the_schedules_again(scripted_training: Any) -> None:
    trained = scripted_training(total_steps=200, learning_rate_decay=1.0).run(100).learner
    longer = scripted_training(total_steps=10_000, learning_rate_decay=1.0).learner
    longer.load_state_dict(trained.state_dict())
    assert longer.learning_rate == trained.learning_rate == 0


@BOTH
def test_measuring_how_long_learning_takes_leaves_no_trace(scripted_training: Any, rl: str) -> None:
    measured, plain = scripted_training(rl), scripted_training(rl)
    assert measured.learner.time_learning() > 0
    assert_equal_states(measured.learner.state_dict(), plain.learner.state_dict())


def test_a_checkpoint_of_another_network_or_other_environments_is_refused(scripted_training: Any) -> None:
    state = scripted_training().run(3).learner.state_dict()
    with pytest.raises(CheckpointError, match=r"other layers.*\[ppo\] settings"):
        scripted_training(head_features=16).learner.load_state_dict(state)
    with pytest.raises(CheckpointError, match="3 environments, not 2"):
        scripted_training().learner.load_state_dict(state | {"num_envs": 3})
    with pytest.raises(CheckpointError, match="ppo state is of version 0"):
        scripted_training().learner.load_state_dict(state | {"version": 0})


def test_a_real_rollout_is_kept_packed() -> None:
    """2,048 steps of a packed screen, 25 numbers and a mask take about 6 megabytes, in memory and in a checkpoint."""
    space = gymnasium.spaces.Dict(
        screen=gymnasium.spaces.Box(0, 255, (144, 160, 3), np.uint8),
        state_variables=gymnasium.spaces.Box(0, 1, (25,), np.float32),
        action_mask=gymnasium.spaces.Box(0, 1, (9,), np.int8),
    )
    learner = PPO(space, gymnasium.spaces.Discrete(9), 1, 0, PPOSettings())
    arrays = (*learner.rollout.observations.values(), *learner.rollout.steps.values())
    assert sum(array.nbytes for array in arrays) < 6.5e6
    assert learner.experience_steps == 0
    assert list(learner.segments()) == []
