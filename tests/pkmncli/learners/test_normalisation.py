"""Running normalisation: badly scaled tasks are learned with it, and only with it; it resumes exactly."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from support.exported_policies import loaded
from support.learner_stream import NUM_ENVS, LearnerStream, assert_equal_states, one_torch_thread, through_files
from support.variants import long_after

from pkmn_dqn.learner import DQN
from pkmn_dqn.settings import DQNSettings
from pkmn_ppo.learner import A2C, PPO
from pkmn_ppo.settings import A2CSettings, PPOSettings
from pkmncli.api import Transitions
from pkmncli.learners.normalisation import LIMIT, ObservationStatistics, RewardStatistics, RunningMoments, Scale
from pkmncli.learners.observations import layout_of

__all__ = ["one_torch_thread"]

LEARNERS = ("dqn", "ppo", "a2c")
BOTH = {"normalize_observations": True, "normalize_rewards": True}
SMALL = {"vector_features": 32, "head_features": 32}
TASKS = 4


def learner_of(rl: str, spaces: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    if rl == "dqn":
        own = {"learning_starts": 100, "learning_rate": 1e-3, "n_step": 1, "buffer_size": 5_000, **settings}
        return DQN(*spaces, DQNSettings(**own), "cpu", 3_000)
    if rl == "ppo":
        own = {"n_steps": 32, "batch_size": 32, "n_epochs": 4, "learning_rate": 3e-3, **settings}
        return PPO(*spaces, PPOSettings(**own), "cpu", 3_000)
    return A2C(*spaces, A2CSettings(**{"learning_rate": 3e-3, **settings}), "cpu", 3_000)


class Signs:
    """Steps that pay if the action is the sign of one small number; the numbers beside it are in the thousands."""

    space = gymnasium.spaces.Dict(state=gymnasium.spaces.Box(-np.inf, np.inf, (3,), np.float32))

    def __init__(self, pay: float) -> None:
        self.pay = pay
        self.random = np.random.default_rng(0)
        self.right = np.zeros(TASKS, np.int64)

    def shown(self) -> dict[str, np.ndarray]:
        self.right = self.random.integers(0, 2, TASKS)
        large = self.random.normal(3_000, 1_000, (2, TASKS))
        return {"state": np.column_stack([large[0], self.right * 2 - 1, large[1]]).astype(np.float32)}


def share_of_right_actions(rl: str, steps: int = 400, pay: float = 1.0, **settings: bool) -> float:
    """Return the share of right greedy actions after a training."""
    task = Signs(pay)
    spaces = (Signs.space, gymnasium.spaces.Discrete(2), TASKS, 1)
    learner = learner_of(rl, spaces, {**SMALL, "gamma": 0.0, "reward_scale": 1.0, **settings})
    seen = task.shown()
    for step in range(1, steps + 1):
        actions, _, exploring = learner.act(seen, explore=True)
        rewards = np.where(actions == task.right, task.pay, 0).astype(np.float32)
        following = task.shown()
        ended = np.ones(TASKS, bool)
        sources = exploring.astype(np.uint8)
        learner.observe(Transitions(seen, actions, rewards, ended, ~ended, following, sources))
        seen = following
        if step * TASKS % learner.update_interval == 0:
            learner.publish()
            sampled = learner.sample()
            if sampled is not None:
                learner.learn(sampled)
    return float(np.mean([learner.act(task.shown(), explore=False)[0] == task.right for _ in range(50)]))


@pytest.mark.long
@pytest.mark.parametrize("rl", LEARNERS)
def test_a_badly_scaled_task_is_learned_with_normal_observations_alone(rl: str) -> None:
    assert share_of_right_actions(rl) < 0.7
    assert share_of_right_actions(rl, normalize_observations=True) > 0.95


@pytest.mark.long
@pytest.mark.parametrize("rl", long_after(1, LEARNERS))
def test_tiny_rewards_are_learned_with_normal_rewards_alone(rl: str) -> None:
    assert share_of_right_actions(rl, pay=1e-5, normalize_observations=True) < 0.75
    assert share_of_right_actions(rl, pay=1e-5, **BOTH) > 0.95


def test_moments_of_batches_are_those_of_all_rows() -> None:
    rows = np.random.default_rng(0).normal([1e6, -3, 0], [2, 1e-3, 0], (100, 3))
    moments = RunningMoments(3)
    for batch in np.split(rows, [1, 2, 40]):
        moments.note(batch)
    np.testing.assert_allclose(moments.mean, rows.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(moments.variance, rows.var(axis=0), rtol=1e-6, atol=1e-18)


def test_normalised_vectors_have_mean_0_and_deviation_1_and_are_clipped() -> None:
    space = gymnasium.spaces.Dict(
        room=gymnasium.spaces.Discrete(5), chips=gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    )
    layout = layout_of(space, gymnasium.spaces.Discrete(2), "it")
    random = np.random.default_rng(0)
    rooms = random.integers(0, 5, 1_000)
    vectors = layout.encode({"room": rooms, "chips": random.normal([1e6, -2], [1e4, 1e-3], (1_000, 2))})["vector"]
    statistics = ObservationStatistics(layout)
    statistics.note(vectors)
    scale = Scale(3)
    scale.follow(statistics.scale)
    normal = scale(torch.from_numpy(vectors)).numpy()
    np.testing.assert_array_equal(normal[:, 0], (rooms / 4).astype(np.float32))
    np.testing.assert_allclose(normal[:, 1:].mean(axis=0), 0, atol=1e-3)
    np.testing.assert_allclose(normal[:, 1:].std(axis=0), 1, atol=1e-2)
    assert scale(torch.full((1, 3), 1e9))[0, 1:].tolist() == [LIMIT, LIMIT]


def test_rewards_are_divided_by_the_deviation_of_discounted_returns() -> None:
    statistics = RewardStatistics(2, gamma=0.5)
    statistics.note_step(np.array([1.0, 10.0]), np.array([False, True]))
    statistics.note_step(np.array([2.0, 4.0]), np.array([False, False]))
    deviation = np.std([1, 10, 2.5, 4])
    np.testing.assert_allclose(statistics.scaled(np.array([3.0, -1.0])), np.array([3, -1]) / deviation, rtol=1e-6)
    assert statistics.scaled(np.array([1e9])).tolist() == [LIMIT]


def streamed(rl: str, **settings: Any) -> LearnerStream:
    spaces = (LearnerStream.observation_space, LearnerStream.action_space, NUM_ENVS, 7)
    sizes: dict[str, Any] = {"screen_channels": (4, 4), "screen_features": 8, "map_features": 8, "vector_features": 8}
    own = {"dqn": {"learning_starts": 40, "batch_size": 8, "buffer_size": 300}, "ppo": {"n_steps": 15, "batch_size": 8}}
    return LearnerStream(learner_of(rl, spaces, sizes | own.get(rl, {}) | BOTH | settings), by_rules=0.3, advised=True)


@pytest.mark.parametrize("rl", long_after(1, LEARNERS))
def test_it_resumes_bit_for_bit(rl: str, tmp_path: Path) -> None:
    unbroken = streamed(rl).run(60)
    state, segments = through_files(
        tmp_path, copy.deepcopy(unbroken.learner.state_dict()), list(unbroken.learner.segments())
    )
    resumed = streamed(rl)
    resumed.learner.load_state_dict(state)
    resumed.learner.load_segments(segments)
    resumed.step = unbroken.step
    first, second = unbroken.run(60).learner.state_dict(), resumed.run(60).learner.state_dict()
    assert_equal_states(first, second)
    assert first["statistics.observations.count"] == 120 * NUM_ENVS
    assert np.abs(np.asarray(first["acting.scale.mean"])).max() > 0


@pytest.mark.parametrize("rl", long_after(1, LEARNERS[:2]))
def test_evaluations_leave_the_statistics_as_they_are_and_the_exported_policy_has_them(rl: str) -> None:
    stream = streamed(rl).run(60)
    learner = stream.learner
    before = copy.deepcopy(learner.state_dict())
    observations = stream.observations(7)
    observations["state_variables"] *= 1_000
    actions, *_ = learner.act(observations, explore=False)
    assert_equal_states(before, learner.state_dict())
    policy = loaded(learner.export_policy())
    for row in range(NUM_ENVS):
        found = policy({name: torch.as_tensor(array[row]) for name, array in observations.items()})
        assert int(found["action"]) == actions[row]
        scores = found["scores"].detach() if rl == "dqn" else found["scores"].detach().exp()
        allowed = observations["action_mask"][row] != 0
        np.testing.assert_allclose(scores.numpy()[allowed], learner.action_values()[row][allowed], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("rl", long_after(1, LEARNERS))
def test_weights_for_another_training_have_the_statistics_with_them(rl: str) -> None:
    trained, begun = streamed(rl).run(60), streamed(rl)
    begun.learner.take_weights(trained.learner.weights())
    observations = trained.observations(3)
    np.testing.assert_array_equal(
        begun.learner.act(observations, explore=False)[0], trained.learner.act(observations, explore=False)[0]
    )
    begun.run(60)
    assert begun.learner.state_dict()["statistics.observations.count"] == 120 * NUM_ENVS
