"""Demonstrations of the advised side: labels, their losses, the schedule, and their worth."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from support.variants import long_after

from pkmn_dqn.demonstrations import label_cross_entropy, margin_loss
from pkmn_dqn.learner import DQN
from pkmn_dqn.settings import DQNSettings
from pkmncli.api import Source, Transitions
from pkmncli.learners.labels import labels_of

LENGTH = 12
FORWARD = [step % 3 for step in range(LENGTH)]
"""The action that leads on from each tile of the corridor; any other leads back to its beginning."""
BLOCKED = 3
CAP = 2_500


def loss_of(values: list[float], label: int, mask: list[int]) -> float:
    return margin_loss(
        torch.tensor([values]), torch.tensor([label]), torch.tensor([mask], dtype=torch.uint8), margin=0.8
    ).item()


@pytest.mark.parametrize(
    ("values", "label", "mask", "expected"),
    [
        ([1.0, 2.0, 0.5], 0, [1, 1, 1], 2.0 + 0.8 - 1.0),  # another action seems better
        ([1.0, 0.9, 0.5], 0, [1, 1, 1], 0.9 + 0.8 - 1.0),  # it is the best, by less than the margin
        ([1.0, 0.1, 0.0], 0, [1, 1, 1], 0.0),  # by more
        ([1.0, 9.0, 0.5], 0, [1, 0, 1], 0.5 + 0.8 - 1.0),  # forbidden actions do not count
        ([1.0, 9.0, 9.0], 0, [1, 0, 0], 0.0),  # the only one allowed
        ([1.0, 9.0, 0.0], 0, [0, 0, 1], 0.0),  # the label counts even if the mask forbids it
        ([1.0, 2.0, 0.5], -1, [1, 1, 1], 0.0),  # no demonstration
    ],
)
def test_the_loss_is_the_shortfall_from_the_margin(
    values: list[float], label: int, mask: list[int], expected: float
) -> None:
    assert loss_of(values, label, mask) == pytest.approx(expected)


@pytest.mark.parametrize("loss", [margin_loss, label_cross_entropy])
def test_the_mean_is_over_all_steps_whether_they_demonstrate_or_not(loss: Any) -> None:
    values, ones = torch.tensor([[1.0, 2.0], [1.0, 2.0]]), torch.ones(2, 2, dtype=torch.uint8)
    alone = loss(values[:1], torch.tensor([0]), ones[:1], 0.8).item()
    assert alone > 0
    assert loss(values, torch.tensor([0, -1]), ones, 0.8).item() == pytest.approx(alone / 2)
    assert loss(values, torch.tensor([0, 0]), ones, 0.8, torch.tensor([0.5, 0.0])).item() == pytest.approx(alone / 4)


def test_the_cross_entropy_is_of_a_softmax_over_allowed_values() -> None:
    values = torch.tensor([[0.1, 0.3, 9.0]], requires_grad=True)
    mask = torch.tensor([[1, 1, 0]], dtype=torch.uint8)
    loss = label_cross_entropy(values, torch.tensor([0]), mask, temperature=0.1)
    assert loss.item() == pytest.approx(np.log(1 + np.exp(2)), rel=1e-5)
    loss.backward()
    assert values.grad is not None
    assert values.grad[0, 2] == 0
    assert values.grad[0, 0] < 0 < values.grad[0, 1]


@pytest.mark.parametrize(
    ("demonstrations", "expected"), [("every_step", [2, 1, -1, 2, 3]), ("pressed", [2, 1, -1, -1, -1])]
)
def test_labels_are_what_was_pressed_by_the_advised_side_or_would_have_been(
    demonstrations: Any, expected: list[int]
) -> None:
    sources = np.array([Source.RULE, Source.LLM, Source.RL, Source.RL, Source.EXPLORE], np.uint8)
    advised = np.array([-1, 3, -1, 2, 3])
    assert labels_of(np.array([2, 1, 0, 0, 0]), sources, advised, demonstrations).tolist() == expected


def corridor(tile: int, action: int) -> tuple[int, float, bool]:
    """Return the next tile, the reward, and whether the end is reached."""
    if action != FORWARD[tile]:
        return 0, 0.0, False
    return tile + 1, float(tile + 1 == LENGTH), tile + 1 == LENGTH


def shown(tile: int) -> dict[str, np.ndarray]:
    mask = np.ones((1, 4), np.int8)
    mask[0, BLOCKED] = 0
    return {"tile": np.eye(LENGTH + 1, dtype=np.float32)[[tile]], "action_mask": mask}


def learner_of(**settings: Any) -> DQN:
    chosen: dict[str, Any] = {
        "learning_rate": 1e-3,
        "learning_starts": 100,
        "vector_features": 32,
        "head_features": 32,
        "reward_scale": 1.0,
        "gamma": 0.95,
        "target_update_interval": 20,
        "exploration_fraction": 0.5,
    }
    return DQN(
        gymnasium.spaces.Dict(
            tile=gymnasium.spaces.Box(0, 1, (LENGTH + 1,), np.float32),
            action_mask=gymnasium.spaces.Box(0, 1, (4,), np.int8),
        ),
        gymnasium.spaces.Discrete(4),
        num_envs=1,
        seed=0,
        settings=DQNSettings(**(chosen | settings)),
        total_steps=CAP,
    )


def finds_the_way(learner: DQN) -> bool:
    tile = 0
    for _ in range(LENGTH):
        action = int(learner.act(shown(tile), explore=False)[0][0])
        tile, _, reached = corridor(tile, action)
        if reached:
            return True
    return False


def steps_until_the_learner_alone_gets_there(learner: DQN, demonstrated: float) -> int:
    """Return the steps until the greedy learner walks the corridor; a share of steps is taken by an expert."""
    rng = np.random.default_rng(0)
    tile, age = 0, 0
    for count in range(1, CAP + 1):
        before = shown(tile)
        actions, _, exploring = learner.act(before, explore=True)
        source = Source.EXPLORE if exploring[0] else Source.RL
        if rng.random() < demonstrated:
            actions, source = np.array([FORWARD[tile]]), Source.RULE
        following, reward, reached = corridor(tile, int(actions[0]))
        age += 1
        cut = age >= 50 and not reached
        learner.observe(
            Transitions(
                observations=before,
                actions=actions,
                rewards=np.array([reward], np.float32),
                terminated=np.array([reached]),
                truncated=np.array([cut]),
                next_observations=shown(following),
                sources=np.array([source], np.uint8),
            )
        )
        tile, age = (0, 0) if reached or cut else (following, age)
        if count % learner.update_interval == 0 and (sampled := learner.sample()) is not None:
            learner.learn(sampled)
            learner.publish()
        if count % 50 == 0 and finds_the_way(learner):
            return count
    return CAP


@pytest.mark.long
def test_demonstrations_shorten_learning() -> None:
    """Random actions pass one corridor in half a million; alone, the learner sees no reward within the budget."""
    alone = steps_until_the_learner_alone_gets_there(learner_of(), 0.0)
    shown_the_way = steps_until_the_learner_alone_gets_there(learner_of(), 0.8)
    without_margin = steps_until_the_learner_alone_gets_there(learner_of(demonstration_margin=0), 0.8)
    assert alone == CAP
    assert shown_the_way <= CAP / 5
    assert shown_the_way < without_margin


@pytest.mark.parametrize("final", long_after(1, [0.0, 0.2]))
def test_the_weight_falls_to_its_end_and_a_longer_budget_does_not_raise_it(
    scripted_training: Any, final: float
) -> None:
    training = scripted_training(demonstration_fraction=0.1, demonstration_final_weight=final)  # of 2,000 steps
    assert training.learner.demonstration_weight == 1.0
    training.run(50)  # of two environments
    assert training.learner.demonstration_weight == pytest.approx((1 + final) / 2)
    saved = training.learner.state_dict()
    training.run(60)
    assert training.learner.demonstration_weight == final
    longer = DQN(training.observation_space, training.action_space, 2, 7, training.learner.settings, "cpu", 1_000_000)
    longer.load_state_dict(saved)
    assert longer.demonstration_weight == pytest.approx((1 + final) / 2)


@pytest.mark.long
def test_presses_of_the_learners_own_bring_no_such_loss(scripted_training: Any) -> None:
    with_margin = scripted_training().run(100)  # no step is the advised side's
    without = scripted_training(demonstration_margin=0).run(100)
    assert with_margin.acted == without.acted
    assert all(metrics["demonstration_loss"] == 0 for metrics in with_margin.metrics)


RIGHT = [2, 0, 1]


def learner_of_labels(**settings: Any) -> DQN:
    """Return a learner after 400 steps of equal reward, all with a label."""
    chosen: dict[str, Any] = {
        "learning_rate": 3e-3,
        "learning_starts": 40,
        "vector_features": 16,
        "head_features": 16,
        "demonstration_fraction": 1.0,
    }
    learner = DQN(
        gymnasium.spaces.Dict(state=gymnasium.spaces.Box(0, 1, (3,), np.float32)),
        gymnasium.spaces.Discrete(4),
        num_envs=1,
        seed=0,
        settings=DQNSettings(**(chosen | settings)),
        total_steps=10_000,
    )
    states = np.eye(3, dtype=np.float32)
    for count in range(400):
        state = count % 3
        seen = {"state": states[[state]]}
        learner.observe(
            Transitions(
                observations=seen,
                actions=np.array([BLOCKED]),  # always the same wrong action of its own
                rewards=np.zeros(1, np.float32),
                terminated=np.array([False]),
                truncated=np.array([False]),
                next_observations={"state": states[[(state + 1) % 3]]},
                sources=np.array([Source.RL], np.uint8),
                advised=np.array([RIGHT[state]]),
            )
        )
        if count % 4 == 3 and (sampled := learner.sample()) is not None:
            learner.learn(sampled)
            learner.publish()
    return learner


def greedy(learner: DQN) -> list[int]:
    actions: list[int] = learner.act({"state": np.eye(3, dtype=np.float32)}, explore=False)[0].tolist()
    return actions


@pytest.mark.parametrize("loss", long_after(1, ["margin", "cross_entropy"]))
def test_labels_alone_fix_the_greedy_action(loss: str) -> None:
    assert greedy(learner_of_labels(demonstration_loss=loss)) == RIGHT


@pytest.mark.parametrize(
    "off", long_after(1, [{"demonstrations": "pressed"}, {"demonstration_margin": 0}, {"demonstration_weight": 0}])
)
def test_without_them_nothing_does(off: dict[str, Any]) -> None:
    assert greedy(learner_of_labels(**off)) != RIGHT


def test_exploration_is_small_once_there_are_labels(scripted_training: Any) -> None:
    alone, beside = scripted_training(), scripted_training(exploration_beside_rules=0.02)
    beside.advised = True
    assert beside.learner.epsilon == 1.0
    assert alone.run(2).learner.epsilon > 0.9
    assert beside.run(2).learner.epsilon == 0.02
    resumed = scripted_training(exploration_beside_rules=0.02).learner
    resumed.load_state_dict(beside.learner.state_dict())
    assert resumed.epsilon == 0.02


def test_sampled_actions_follow_the_values(scripted_training: Any) -> None:
    training = scripted_training(softmax_temperature=0.5).run(60)
    learner, seen = training.learner, training.observations(5)
    before = learner.state_dict()
    greedy_actions, confidences, _ = learner.act(seen, explore=False)
    values = learner.action_values()
    many = {name: np.repeat(array[:1], 4_000, axis=0) for name, array in seen.items()}
    sampled, sure = learner.sample_actions(many, np.random.default_rng(0))
    likely = np.exp((values[0] - values[0].max()) / 0.5)
    np.testing.assert_allclose(np.bincount(sampled, minlength=4) / 4_000, likely / likely.sum(), atol=0.03)
    assert sampled.tolist() == learner.sample_actions(many, np.random.default_rng(0))[0].tolist()
    np.testing.assert_allclose(sure, confidences[0])
    assert greedy_actions[0] == np.bincount(sampled).argmax()
    after = learner.state_dict()
    assert after["random.act"] == before["random.act"]
    assert after["record.gaps_seen"] == before["record.gaps_seen"]
