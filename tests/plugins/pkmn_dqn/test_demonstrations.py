"""Presses of the advised side are demonstrations: the large-margin loss, its schedule, and what it is worth."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from pkmn_dqn.learner import DQN
from pkmn_dqn.q_learning import margin_loss
from pkmn_dqn.settings import DQNSettings
from pkmncli.api import Source, Transitions

LENGTH = 12
FORWARD = [step % 3 for step in range(LENGTH)]
"""The press that leads on from each tile of the corridor; any other one leads back to its beginning."""
BLOCKED = 3
CAP = 2_500


def loss_of(values: list[float], action: int, mask: list[int], demonstrated: bool = True) -> float:
    return margin_loss(
        torch.tensor([values]),
        torch.tensor([action]),
        torch.tensor([mask], dtype=torch.uint8),
        torch.tensor([demonstrated]),
        margin=0.8,
    ).item()


@pytest.mark.parametrize(
    ("values", "action", "mask", "expected"),
    [
        ([1.0, 2.0, 0.5], 0, [1, 1, 1], 2.0 + 0.8 - 1.0),  # another press seems better
        ([1.0, 0.9, 0.5], 0, [1, 1, 1], 0.9 + 0.8 - 1.0),  # it is the best, by less than the margin
        ([1.0, 0.1, 0.0], 0, [1, 1, 1], 0.0),  # by more
        ([1.0, 9.0, 0.5], 0, [1, 0, 1], 0.5 + 0.8 - 1.0),  # what the mask forbids demands nothing
        ([1.0, 9.0, 9.0], 0, [1, 0, 0], 0.0),  # the only one allowed
        ([1.0, 9.0, 0.0], 0, [0, 0, 1], 0.0),  # what was pressed counts even where the mask lacks it
    ],
)
def test_the_loss_is_the_shortfall_from_the_margin(
    values: list[float], action: int, mask: list[int], expected: float
) -> None:
    assert loss_of(values, action, mask) == pytest.approx(expected)


def test_only_demonstrations_are_held_against_the_learner() -> None:
    assert loss_of([1.0, 2.0, 0.5], 0, [1, 1, 1], demonstrated=False) == 0
    both = margin_loss(
        torch.tensor([[1.0, 2.0], [1.0, 2.0]]),
        torch.tensor([0, 0]),
        torch.ones(2, 2, dtype=torch.uint8),
        torch.tensor([True, False]),
        margin=0.8,
    )
    assert both.item() == pytest.approx(1.8 / 2)


def corridor(tile: int, action: int) -> tuple[int, float, bool]:
    """The next tile, the reward, and whether the end is reached."""
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
    """Steps taken before the greedy learner walks the corridor; of them a share is pressed by one who knows it."""
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
        if count % learner.update_interval == 0 and (drawn := learner.draw()) is not None:
            learner.learn(drawn)
            learner.publish()
        if count % 50 == 0 and finds_the_way(learner):
            return count
    return CAP


def test_demonstrations_shorten_learning() -> None:
    """Random presses pass one corridor in half a million; alone, the learner sees no reward within the budget."""
    alone = steps_until_the_learner_alone_gets_there(learner_of(), 0.0)
    shown_the_way = steps_until_the_learner_alone_gets_there(learner_of(), 0.8)
    without_margin = steps_until_the_learner_alone_gets_there(learner_of(demonstration_margin=0), 0.8)
    assert alone == CAP
    assert shown_the_way <= CAP / 5
    assert shown_the_way < without_margin


def test_the_weight_falls_to_nothing_and_a_longer_budget_does_not_raise_it(scripted_training: Any) -> None:
    training = scripted_training(demonstration_fraction=0.1)  # of 2,000 steps
    assert training.learner.demonstration_weight == 1.0
    training.run(50)  # of two environments
    assert training.learner.demonstration_weight == pytest.approx(0.5)
    saved = training.learner.state_dict()
    training.run(60)
    assert training.learner.demonstration_weight == 0.0
    longer = DQN(training.observation_space, training.action_space, 2, 7, training.learner._settings, "cpu", 1_000_000)
    longer.load_state_dict(saved)
    assert longer.demonstration_weight == pytest.approx(0.5)


def test_presses_of_the_learners_own_bring_no_such_loss(scripted_training: Any) -> None:
    with_margin = scripted_training().run(100)  # no step of it is the advised side's
    without = scripted_training(demonstration_margin=0).run(100)
    assert with_margin.acted == without.acted
    assert all(metrics["margin_loss"] == 0 for metrics in with_margin.metrics)
