"""Acting and checks of the learners: masks, whose actions count, confidence, schedules, clear errors."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from support.variants import long_after

from pkmn_ppo.learner import A2C
from pkmn_ppo.settings import A2CSettings
from pkmncli.api import Source
from pkmncli.errors import ConfigurationError, TrainingError

NO_MEMORY = np.zeros((2, 0), np.float32)
BOTH = pytest.mark.parametrize("rl", ["ppo", "a2c"])


def test_probabilities_are_those_that_the_presses_were_sampled_with(scripted_training: Any) -> None:
    """Also after an update published within the rollout."""
    training = scripted_training("ppo", n_steps=4, batch_size=4, learning_rate=0.01).run(9)
    learner = training.learner
    observations = training.observations(9)
    actions, _, _ = learner.act(observations, explore=True)
    policy = learner.acting.judge(observations, NO_MEMORY, learner.steps).log_probs
    training.observe(observations, actions)
    np.testing.assert_array_equal(learner.rollout.steps["log_probs"][1], policy[[0, 1], actions])


def test_presses_of_others_are_not_the_learners_own(scripted_training: Any) -> None:
    training = scripted_training()
    learner, observations = training.learner, training.observations(0)
    observations["action_mask"][:] = 1
    cases = [
        (0, Source.RL, True),
        (0, Source.EXPLORE, True),
        (0, Source.RULE, False),  # the same action, but chosen by the rules
        (0, Source.LLM, False),
        (1, Source.RL, False),  # another action
    ]
    for row, (distance, source, own) in enumerate(cases):
        sampled = learner.act(observations, explore=True)[0]
        training.observe(observations, (sampled + distance) % 4, source)
        assert learner.rollout.steps["own"][row].tolist() == [own, own]
    training.observe(observations, sampled)  # nothing was sampled for this step
    assert not learner.rollout.steps["own"][len(cases)].any()


def test_a_rollout_that_nobody_drew_waits(scripted_training: Any) -> None:
    """As in a user's loop that counts other steps."""
    training = scripted_training(n_steps=4, batch_size=4)
    learner, observations = training.learner, training.observations(0)
    for _ in range(6):
        training.observe(observations, learner.act(observations, explore=True)[0])
    assert learner.sample().rollout.filled == 4
    assert learner.sample() is None
    assert learner.steps == 12


@BOTH
@pytest.mark.parametrize("explore", [True, False])
def test_every_action_is_allowed_by_its_mask(scripted_training: Any, rl: str, explore: bool) -> None:
    training = scripted_training(rl)
    for step in range(200):
        observations = training.observations(step)
        actions, confidences, exploring = training.learner.act(observations, explore=explore)
        assert observations["action_mask"][np.arange(2), actions].all()
        assert ((confidences >= 0) & (confidences <= 1)).all()
        assert explore or not exploring.any()


def test_what_it_thought_of_every_action_are_probabilities(scripted_training: Any) -> None:
    training = scripted_training()
    observations = training.observations(0)
    likeliest, _, _ = training.learner.act(observations, explore=False)
    values = training.learner.action_values()
    assert values.argmax(axis=1).tolist() == likeliest.tolist()
    allowed = observations["action_mask"] != 0
    assert np.where(allowed, values, 0).sum(axis=1) == pytest.approx([1, 1], abs=1e-5)
    assert (np.isfinite(values) == allowed).all()


def test_what_is_sampled_is_exploration_unless_it_is_the_most_probable(scripted_training: Any) -> None:
    training = scripted_training()
    for step in range(50):
        observations = training.observations(step)
        likeliest, _, _ = training.learner.act(observations, explore=False)
        sampled, _, exploring = training.learner.act(observations, explore=True)
        assert exploring.tolist() == (sampled != likeliest).tolist()


def test_confidence_is_reliability_times_the_lead_of_the_likeliest(scripted_training: Any) -> None:
    training = scripted_training().run(20)
    learner, observations = training.learner, training.observations(0)
    observations["action_mask"][1] = [0, 0, 1, 0]
    moments = {"choices": 1e9, "value_variance": 1.0, "return_variance": 1.0, "covariance": 0.5}
    state = learner.state_dict()
    learner.load_state_dict(state | {"record.moments": state["record.moments"] | moments})
    assert learner.reliability == pytest.approx(0.5)
    _, confidences, _ = learner.act(observations, explore=False)
    first, second = np.sort(learner.action_values()[0])[::-1][:2]
    assert confidences == pytest.approx([0.5 * (first - second), 0.5], abs=1e-6)


def test_an_untrained_learner_is_not_sure_of_anything(scripted_training: Any) -> None:
    training = scripted_training()
    assert training.learner.act(training.observations(0), explore=False)[1].tolist() == [0, 0]


@pytest.mark.parametrize(("steps", "share"), long_after(1, [(0, 1.0), (50, 0.75), (100, 0.5), (150, 0.5)]))
def test_schedules_fall_in_a_straight_line_by_the_learners_own_steps(
    scripted_training: Any, steps: int, share: float
) -> None:
    learner = scripted_training(total_steps=200, learning_rate_decay=0.5, ent_coef_decay=0.5).run(steps).learner
    assert learner.learning_rate == pytest.approx(1e-3 * share)
    assert learner.ent_coef == pytest.approx(0.01 * share)


@pytest.mark.long
def test_the_optimizer_steps_by_the_schedule(scripted_training: Any) -> None:
    training = scripted_training(total_steps=60, learning_rate_decay=1.0).run(60)
    assert [metrics["learning_rate"] for metrics in training.metrics] == pytest.approx([5e-4, 0, 0, 0])
    before = training.learner.state_dict()
    training.run(30)
    weights = [name for name in before if name.startswith("learning.network.")]
    assert all(torch.equal(before[name], training.learner.state_dict()[name]) for name in weights)


def test_an_update_ends_early_when_the_policy_has_moved_far_enough(scripted_training: Any) -> None:
    free = scripted_training(learning_rate=0.01).run(15).metrics[0]
    held = scripted_training(learning_rate=0.01, target_kl=0.001).run(15).metrics[0]
    assert free["gradient_steps"] == 3 * 4
    assert held["gradient_steps"] == 1 * 4, "the first epoch has reached it"
    assert free["approx_kl"] > held["approx_kl"] > 0.001


@BOTH
def test_what_is_reported_is_what_the_guide_lists(scripted_training: Any, rl: str) -> None:
    reported = set(scripted_training(rl).run(20).metrics[-1])
    common = {"loss", "policy_loss", "value_loss", "entropy", "grad_norm", "updates", "own_share"}
    common |= {"learning_rate", "ent_coef", "gradient_steps", "reliability"}
    common |= {"demonstration_loss", "demonstration_weight"}
    assert reported == common | ({"explained_variance", "approx_kl", "clip_fraction"} if rl == "ppo" else set())


def test_a_batch_larger_than_a_rollout_is_refused(scripted_training: Any) -> None:
    with pytest.raises(ConfigurationError) as caught:
        scripted_training(n_steps=10, batch_size=21)
    assert str(caught.value) == (
        "ppo.batch_size = 21 is more than the 20 steps of a rollout (ppo.n_steps = 10, times 2 environments): "
        "set it lower."
    )


def test_a_mask_that_allows_nothing_is_an_error(scripted_training: Any) -> None:
    training = scripted_training()
    observations = training.observations(0)
    observations["action_mask"][1] = 0
    with pytest.raises(TrainingError, match="Environment 1 allows no action"):
        training.learner.act(observations, explore=True)


@BOTH
@pytest.mark.parametrize("reward", [np.nan, np.inf])
def test_a_reward_that_is_not_finite_is_an_error(scripted_training: Any, rl: str, reward: float) -> None:
    training = scripted_training(rl)
    observations = training.observations(0)
    with pytest.raises(TrainingError, match=f"Environment 1 gave the reward {reward}"):
        training.observe(observations, np.zeros(2, np.int64), rewards=(0, reward))


def test_observations_that_are_not_finite_are_an_error(scripted_training: Any) -> None:
    training = scripted_training()
    observations = training.observations(0)
    observations["state_variables"][0, 0] = np.nan
    with pytest.raises(TrainingError, match="policy of ppo is not finite"):
        training.learner.act(observations, explore=True)


@BOTH
def test_a_loss_that_is_not_finite_is_an_error(scripted_training: Any, rl: str) -> None:
    training = scripted_training(rl, n_steps=10)
    for _ in range(10):
        training.observe(training.observations(0), np.zeros(2, np.int64), rewards=(1e38, 1e38))
    with pytest.raises(TrainingError, match=rf"The loss of {rl} became \w+ at gradient step 1: lower {rl}"):
        training.learner.learn(training.learner.sample())


@pytest.mark.parametrize(
    ("space", "complaint"),
    [
        (gymnasium.spaces.Box(0, 1, (3,)), "a2c needs a Dict observation space"),
        (gymnasium.spaces.Dict(screen=gymnasium.spaces.Box(0, 255, (16, 8), np.uint8)), "a2c needs a screen of at"),
    ],
)
def test_spaces_that_do_not_fit_are_configuration_errors(space: Any, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        A2C(space, gymnasium.spaces.Discrete(4), 1, 0, A2CSettings(), "cpu", 100)


def test_building_a_learner_leaves_torchs_random_numbers_alone(scripted_training: Any) -> None:
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    scripted_training()
    assert torch.equal(torch.rand(4), expected)


def test_a_training_too_short_for_an_update_says_which_setting_mends_it(scripted_training: Any) -> None:
    learner = scripted_training(n_steps=15, batch_size=8).learner
    assert learner.remarks(30) == ()
    (remark,) = learner.remarks(28)
    assert remark == (
        "ppo learns nothing in 28 steps, since its next update comes after 30: lower ppo.n_steps = 15 to 7 or less, "
        "or give it more steps."
    )
    (remark,) = scripted_training("a2c").learner.remarks(3)
    assert "a2c learns nothing in 3 steps" in remark and "after 10: give it more steps" in remark


def test_the_rollout_under_way_counts_for_the_next_update(scripted_training: Any) -> None:
    training = scripted_training(n_steps=15, batch_size=8).run(10)
    assert training.learner.remarks(10) == ()
    assert "after 10: " in training.learner.remarks(9)[0]
