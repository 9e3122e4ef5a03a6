"""Stacked observations: what is in them, that they are saved exactly, and a task that needs two of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from safetensors.numpy import load_file
from support.memory_games import Trend

from pkmn_ppo.learner import PPO
from pkmn_ppo.settings import PPOSettings
from pkmncli.api import Transitions
from pkmncli.errors import EnvironmentSetupError
from pkmncli.training.workers.frame_stack import stacked, unstacked_state

Pkmn = Callable[..., Any]


def numbers(observation: Any) -> list[float]:
    return [float(number) for number in observation["me"]["number"].ravel()]


def test_the_latest_observations_are_in_one_oldest_first_and_a_reset_fills_all_places() -> None:
    plain, environment = Trend(), stacked(Trend(), 3)
    assert environment.observation_space["me"]["number"].shape == (3, 1)  # type: ignore[index]
    assert environment.observation_space["tiles"].shape == (5, 5)
    assert set(environment.observation_space) == {"me", "tiles", "action_mask"}
    shown = [*numbers(plain.reset(seed=1)[0])] * 3
    assert numbers(environment.reset(seed=1)[0]) == shown
    for _ in range(4):
        shown = [*shown[1:], *numbers(plain.step(0)[0])]
        observation = environment.step(0)[0]
        assert numbers(observation) == shown
    assert observation["me"]["round"] == 4
    assert observation["action_mask"].tolist() == [1, 1]
    assert len(set(numbers(environment.reset(seed=2)[0]))) == 1


def test_steps_at_which_nothing_looks_are_in_it_too() -> None:
    looked, blind = stacked(Trend(), 3), stacked(Trend(), 3)
    looked.reset(seed=1)
    blind.reset(seed=1)
    for action in (0, 1, 1, 0):
        observation = looked.step(action)[0]
        blind.advance(action)
    state = blind.save_state()
    assert numbers(blind.load_state(state)[0]) == numbers(observation)


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_a_saved_state_goes_on_exactly_in_another_environment(steps: int) -> None:
    unbroken, resumed = stacked(Trend(), 4), stacked(Trend(), 4)
    unbroken.reset(seed=3)
    for _ in range(steps):
        unbroken.advance(1)
    resumed.reset(seed=9)
    resumed.step(0)
    resumed.load_state(unbroken.save_state())
    for _ in range(5):
        first, second = unbroken.step(1), resumed.step(1)
        assert numbers(first[0]) == numbers(second[0])
        assert first[1:] == second[1:]


def test_a_state_in_it_is_the_environments_own_for_starts_and_replays() -> None:
    environment = stacked(Trend(), 2)
    environment.reset(seed=1)
    environment.step(0)
    state = environment.save_state()
    plain = Trend()
    plain.load_state(unstacked_state(state))
    assert plain.save_state() == unstacked_state(state) == unstacked_state(unstacked_state(state))
    assert len(set(numbers(environment.load_state(plain.save_state())[0]))) == 1, "all places are filled"


def test_what_cannot_be_stacked_or_read_is_refused() -> None:
    class Words(Trend):
        def __init__(self) -> None:
            super().__init__()
            mask = self.observation_space["action_mask"]
            self.observation_space = gymnasium.spaces.Dict(room=gymnasium.spaces.Discrete(3), action_mask=mask)

    with pytest.raises(EnvironmentSetupError, match=r"stack = 2: the observation of the environment has no Box"):
        stacked(Words(), 2)
    environment = stacked(Trend(), 2)
    environment.reset(seed=1)
    with pytest.raises(EnvironmentSetupError, match="of another stack or environment"):
        stacked(Trend(), 3).load_state(environment.save_state())
    plain = Trend()
    assert stacked(plain, 1) is plain


def mean_reward(count: int, steps: int = 1_500) -> float:
    """Return the mean reward of a step of a trained policy."""
    environment: Any = stacked(Trend(), count)
    settings = PPOSettings(
        n_steps=128, batch_size=64, n_epochs=6, learning_rate=3e-3, gamma=0.0, vector_features=32, head_features=32
    )
    learner = PPO(environment.observation_space, environment.action_space, 1, 1, settings, "cpu", steps)
    seen, rewards = environment.reset(seed=1)[0], []
    for step in range(1, steps + 1):
        batch = learner_batch(seen)
        actions, _, exploring = learner.act(batch, explore=True)
        after, reward, terminated, truncated, _ = environment.step(int(actions[0]))
        rewards.append(reward)
        ends = np.array([terminated]), np.array([truncated])
        given = np.array([reward], np.float32)
        learner.observe(Transitions(batch, actions, given, *ends, learner_batch(after), exploring.astype(np.uint8)))
        seen = environment.reset()[0] if truncated else after
        if step % learner.update_interval == 0:
            learner.publish()
            learner.learn(learner.sample())
    return float(np.mean(rewards[-500:]))


def learner_batch(observation: dict[str, Any]) -> dict[str, Any]:
    return {
        name: learner_batch(one) if isinstance(one, dict) else np.asarray(one)[None]
        for name, one in observation.items()
    }


@pytest.mark.long
def test_a_task_that_needs_two_observations_is_learned_with_two_alone() -> None:
    assert mean_reward(1) < 0.85, "the number itself says three quarters"
    assert mean_reward(2) > 0.9


@pytest.mark.long
def test_a_training_with_it_resumes_exactly_and_is_evaluated_and_exported(pkmn: Pkmn, tmp_path: Path) -> None:
    options = ["--env=gym:CartPole-v1", "--set=env.stack=3", "--rl=dqn", "--mode=rl-only"]
    options += ["--save-interval=50", "--no-film", "--final-episodes=0", "--set=dqn.normalize_observations=true"]
    options += ["--set=dqn.learning_starts=20", "--set=dqn.exploration_fraction=0"]
    assert pkmn("train", *options, "--steps=100", "--run-name=unbroken").code == 0
    assert pkmn("train", *options, "--steps=50", "--run-name=resumed").code == 0
    assert "stack = 3" in (tmp_path / "runs" / "resumed" / "config.toml").read_text()
    assert pkmn("train", "--resume", "resumed", "--steps=100").code == 0
    first, second = (
        load_file(tmp_path / "runs" / name / "checkpoints" / "step-000000100" / "learner.safetensors")
        for name in ("unbroken", "resumed")
    )
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert pkmn("eval", "resumed", "--episodes=1").code == 0
    assert pkmn("export", "resumed", "--policy", "--no-tables").code == 0
