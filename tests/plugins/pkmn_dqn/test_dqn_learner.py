"""The learner's promises to the trainer: exact resume, no effect of timing, masks, clear errors."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from support.learner_stream import assert_equal_states, through_files
from support.variants import long_after

from pkmn_dqn.learner import DQN
from pkmn_dqn.settings import DQNSettings
from pkmncli.api import Transitions
from pkmncli.errors import CheckpointError, ConfigurationError, TrainingError

PRIORITISED = {"priority_exponent": 0.6, "demonstration_priority": 0.5, "gradient_steps": 2}


@pytest.mark.parametrize(
    "settings",
    long_after(
        2,
        [
            {"n_step": 1, "double": False, "dueling": False, "tau": 0.1},
            PRIORITISED | {"exploration_schedule": "exponential", "buffer_size": 150},  # priorities wrap around
            PRIORITISED,
            {},
        ],
    ),
)
def test_a_resumed_training_equals_an_unbroken_one_bit_for_bit(
    scripted_training: Any, tmp_path: Path, settings: dict[str, Any]
) -> None:
    unbroken = scripted_training(**settings).run(200)
    first_half = scripted_training(**settings).run(100)
    state, segments = through_files(tmp_path, first_half.learner.state_dict(), list(first_half.learner.segments()))
    resumed = scripted_training(**settings)
    resumed.learner.load_state_dict(state)
    resumed.learner.load_segments(segments)
    resumed.step = 100
    resumed.run(100)
    assert first_half.metrics + resumed.metrics == unbroken.metrics
    assert first_half.acted + resumed.acted == unbroken.acted
    assert_equal_states(resumed.learner.state_dict(), unbroken.learner.state_dict())
    assert unbroken.metrics[-1]["updates"] > 70


@pytest.mark.long
@pytest.mark.parametrize("settings", [PRIORITISED, {}])
def test_updates_in_a_thread_give_what_updates_in_place_give(scripted_training: Any, settings: dict[str, Any]) -> None:
    in_place = scripted_training(**settings).run(200)
    with ThreadPoolExecutor(1) as executor:
        threaded = scripted_training(**settings).run(200, executor)
    assert threaded.metrics == in_place.metrics
    assert threaded.acted == in_place.acted
    assert_equal_states(threaded.learner.state_dict(), in_place.learner.state_dict())


def test_learned_weights_act_only_once_published(scripted_training: Any) -> None:
    training = scripted_training(learning_rate=0.1).run(60)
    learner = training.learner
    learner.publish()
    before = learner.state_dict()
    learner.learn(learner.sample())
    unpublished = learner.state_dict()
    learner.publish()
    after = learner.state_dict()
    acting = [name for name in before if name.startswith("acting.")]
    assert all(torch.equal(before[name], unpublished[name]) for name in acting)
    assert all(torch.equal(after[name], after[name.replace("acting.", "learning.online.")]) for name in acting)
    assert any(not torch.equal(before[name], after[name]) for name in acting)


@pytest.mark.parametrize("settings", long_after(1, [{}, PRIORITISED]))
def test_a_saved_state_is_not_changed_by_further_learning(scripted_training: Any, settings: dict[str, Any]) -> None:
    training = scripted_training(**settings).run(60)
    state = training.learner.state_dict()
    copies = {
        name: np.asarray(value).copy() for name, value in state.items() if isinstance(value, torch.Tensor | np.ndarray)
    }
    training.run(60)
    for name, copy in copies.items():
        np.testing.assert_array_equal(np.asarray(state[name]), copy, err_msg=name)


@pytest.mark.parametrize("explore", [True, False])
def test_every_action_is_allowed_by_its_mask(scripted_training: Any, explore: bool) -> None:
    training = scripted_training(exploration_final=0.5)
    for step in range(200):
        observations = training.observations(step)
        actions, confidences, exploring = training.learner.act(observations, explore=explore)
        assert observations["action_mask"][np.arange(2), actions].all()
        assert ((confidences >= 0) & (confidences <= 1)).all()
        assert explore or not exploring.any()


def test_what_it_thought_of_every_action_is_told(scripted_training: Any) -> None:
    training = scripted_training()
    assert training.learner.action_values() is None
    observations = training.observations(0)
    greedy, _, _ = training.learner.act(observations, explore=False)
    values = training.learner.action_values()
    assert values.dtype == np.float32
    assert values.argmax(axis=1).tolist() == greedy.tolist()
    assert (np.isfinite(values) == (observations["action_mask"] != 0)).all()


def test_exploration_presses_every_allowed_action_about_equally(scripted_training: Any) -> None:
    training = scripted_training(exploration_fraction=1.0)
    observations = training.observations(0)
    observations["action_mask"][:] = [0, 1, 1, 1]
    pressed = np.concatenate([training.learner.act(observations, explore=True)[0] for _ in range(1_000)])
    assert np.bincount(pressed, minlength=4)[0] == 0
    assert np.bincount(pressed, minlength=4)[1:].min() > 550  # 667 are expected; five standard deviations less


@pytest.mark.long
def test_greedy_acting_leaves_no_trace(scripted_training: Any) -> None:
    plain = scripted_training().run(100)
    watched = scripted_training()
    for _ in range(10):
        watched.run(10)
        for step in range(5):
            watched.learner.act(watched.observations(step), explore=False)
    assert watched.acted == plain.acted
    assert watched.learner.state_dict()["random.act"] == plain.learner.state_dict()["random.act"]


def test_a_longer_budget_does_not_start_exploration_again(scripted_training: Any) -> None:
    trained = scripted_training(exploration_fraction=0.1).run(100).learner
    assert trained.epsilon == pytest.approx(0.05)
    space, actions = scripted_training.observation_space, scripted_training.action_space
    settings = trained.settings
    longer = DQN(space, actions, 2, 7, settings, "cpu", 1_000_000)
    longer.load_state_dict(trained.state_dict())
    assert longer.epsilon == trained.epsilon


def test_exploration_falls_by_the_learners_own_steps(scripted_training: Any) -> None:
    training = scripted_training(exploration_fraction=0.1)  # of 2,000 steps
    assert training.learner.epsilon == 1.0
    training.run(50)  # of two environments
    assert training.learner.epsilon == pytest.approx(0.525)


@pytest.mark.long
def test_exponential_exploration_falls_by_the_same_factor_to_the_same_end(scripted_training: Any) -> None:
    training = scripted_training(exploration_fraction=0.1, exploration_schedule="exponential", exploration_final=0.01)
    shares = [training.run(25).learner.epsilon for _ in range(5)]
    assert shares == pytest.approx([10**-0.5, 10**-1, 10**-1.5, 0.01, 0.01])


def test_nothing_is_sampled_before_learning_starts(scripted_training: Any) -> None:
    training = scripted_training(learning_starts=60)
    training.run(29)
    assert training.learner.sample() is None
    training.run(1)
    assert training.learner.sample() is not None


@pytest.mark.parametrize("settings", long_after(1, [{}, PRIORITISED]))
def test_without_its_experience_a_learner_first_collects_anew(scripted_training: Any, settings: dict[str, Any]) -> None:
    trained = scripted_training(learning_starts=60, **settings).run(100).learner
    weights_only = scripted_training(learning_starts=60, **settings)
    weights_only.learner.load_state_dict(trained.state_dict())
    assert weights_only.learner.sample() is None
    weights_only.step = 100
    weights_only.run(30)
    sampled = weights_only.learner.sample()
    assert sampled is not None
    assert all(int(row) in weights_only.learner.replay.sampleable(5) for row in sampled.samples[0][0].rows)


def test_a_mask_that_allows_nothing_is_an_error(scripted_training: Any) -> None:
    training = scripted_training()
    observations = training.observations(0)
    observations["action_mask"][1] = 0
    with pytest.raises(TrainingError, match="Environment 1 allows no action"):
        training.learner.act(observations, explore=True)


def test_a_reward_that_is_not_finite_is_an_error(scripted_training: Any) -> None:
    training = scripted_training()
    before = training.observations(0)
    no = np.zeros(2, bool)
    step = Transitions(
        before, np.zeros(2, np.int64), np.array([0, np.nan], np.float32), no, no, before, np.zeros(2, np.uint8)
    )
    with pytest.raises(TrainingError, match="Environment 1 gave the reward nan"):
        training.learner.observe(step)


def test_a_checkpoint_of_another_network_is_refused(scripted_training: Any) -> None:
    state = scripted_training().learner.state_dict()
    other = scripted_training(head_features=16).learner
    with pytest.raises(CheckpointError, match="other layers"):
        other.load_state_dict(state)


@pytest.mark.parametrize(
    ("space", "complaint"),
    [
        (gymnasium.spaces.Box(0, 1, (3,)), "Dict observation space"),
        (
            gymnasium.spaces.Dict(a=gymnasium.spaces.Sequence(gymnasium.spaces.Discrete(3))),
            "cannot learn from the observation 'a'",
        ),
        (gymnasium.spaces.Dict(action_mask=gymnasium.spaces.MultiBinary(4)), "gives none"),
        (gymnasium.spaces.Dict(screen=gymnasium.spaces.Box(0, 255, (16, 8), np.uint8)), "24 x 24"),
    ],
)
def test_spaces_that_do_not_fit_are_configuration_errors(space: Any, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        DQN(space, gymnasium.spaces.Discrete(4), 1, 0, DQNSettings(), "cpu", 100)


def test_building_a_learner_leaves_torchs_random_numbers_alone(scripted_training: Any) -> None:
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    scripted_training()
    assert torch.equal(torch.rand(4), expected)


@pytest.mark.parametrize("priority_exponent", long_after(1, [0.0, 0.6]))
def test_a_hundred_thousand_multi_modal_steps_fit_in_400_megabytes(priority_exponent: float) -> None:
    num_envs = 40
    space = gymnasium.spaces.Dict(
        screen=gymnasium.spaces.Box(0, 255, (72, 40), np.uint8),
        state_variables=gymnasium.spaces.Box(0, 1, (25,), np.float32),
        action_mask=gymnasium.spaces.Box(0, 1, (9,), np.int8),
    )
    settings = DQNSettings(priority_exponent=priority_exponent)
    learner = DQN(space, gymnasium.spaces.Discrete(9), num_envs, 0, settings, "cpu", 100_000)
    rng = np.random.default_rng(0)
    observations = {
        "screen": rng.integers(0, 256, (num_envs, 72, 40), np.uint8),
        "state_variables": rng.random((num_envs, 25), np.float32),
        "action_mask": np.ones((num_envs, 9), np.int8),
    }
    rewards, actions = np.zeros(num_envs, np.float32), np.zeros(num_envs, np.int64)
    no, sources = np.zeros(num_envs, bool), np.zeros(num_envs, np.uint8)
    for step in range(2_600):
        ended = no if step % 500 else ~no  # an episode of 500 steps is a short one
        learner.observe(Transitions(observations, actions, rewards, no, ended, observations, sources))
    segments = list(learner.segments())
    assert len(learner.replay) == learner.experience_steps == 100_000
    assert learner.replay.nbytes <= 400e6
    assert sum(array.nbytes for segment in segments for array in segment.arrays.values()) <= 400e6


def test_a_training_too_short_for_an_update_says_which_setting_mends_it(
    scripted_training: Any,
) -> None:
    training = scripted_training()
    assert training.learner.remarks(40) == ()
    (remark,) = training.learner.remarks(39)
    assert "dqn learns nothing in 39 steps" in remark and "lower dqn.learning_starts = 40" in remark
    assert training.run(15).learner.remarks(10) == ()
