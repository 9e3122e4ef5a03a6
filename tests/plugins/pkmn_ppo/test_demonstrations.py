"""The policy learns the rules' actions, whoever acts."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from support.variants import long_after

from pkmn_ppo.learner import A2C, PPO
from pkmn_ppo.settings import A2CSettings, PPOSettings
from pkmncli.api import Source, Transitions

BOTH = pytest.mark.parametrize("rl", ["ppo", "a2c"])
STATES = np.eye(3, dtype=np.float32)
RIGHT = [2, 0, 1]


def learner_of_labels(rl: str, advised: bool = True, **settings: Any) -> Any:
    """Return a learner from steps of equal reward whose own actions all have a label."""
    space = gymnasium.spaces.Dict(
        state=gymnasium.spaces.Box(0, 1, (3,), np.float32), action_mask=gymnasium.spaces.Box(0, 1, (4,), np.int8)
    )
    spaces = (space, gymnasium.spaces.Discrete(4), 1, 0)
    sizes: dict[str, Any] = {"vector_features": 16, "head_features": 16, "learning_rate": 3e-3} | settings
    if rl == "ppo":
        learner: Any = PPO(*spaces, PPOSettings(n_steps=60, batch_size=20, **sizes), "cpu", 10_000)
    else:
        learner = A2C(*spaces, A2CSettings(n_steps=6, **sizes), "cpu", 10_000)
    for count in range(480):
        before, after = count % 3, (count + 1) % 3
        actions, _, _ = learner.act(seen(before), explore=True)
        told = np.array([RIGHT[before]]) if advised else None
        none = np.array([False])
        learner.observe(
            Transitions(
                seen(before),
                actions,
                np.zeros(1, np.float32),
                none,
                none,
                seen(after),
                np.array([Source.RL], np.uint8),
                told,
            )
        )
        if (count + 1) % learner.update_interval == 0 and (sampled := learner.sample()) is not None:
            learner.learn(sampled)
            learner.publish()
    return learner


def seen(*states: int) -> dict[str, np.ndarray]:
    mask = np.ones((len(states), 4), np.int8)
    mask[:, 3] = 0
    return {"state": STATES[list(states)], "action_mask": mask}


def greedy(learner: Any) -> list[int]:
    actions: list[int] = learner.act(seen(0, 1, 2), explore=False)[0].tolist()
    return actions


@BOTH
def test_labels_alone_fix_the_likeliest_action(rl: str) -> None:
    assert greedy(learner_of_labels(rl)) == RIGHT


@BOTH
@pytest.mark.parametrize(
    "off",
    long_after(
        1,
        [
            {"advised": False},
            {"demonstration_weight": 0},
            {"demonstration_fraction": 0, "demonstration_final_weight": 0},
        ],
    ),
)
def test_without_them_nothing_does(rl: str, off: dict[str, Any]) -> None:
    assert greedy(learner_of_labels(rl, **off)) != RIGHT


@pytest.mark.long
@BOTH
def test_the_weight_falls_by_the_learners_own_steps(rl: str) -> None:
    learner = learner_of_labels(rl, demonstration_fraction=0.096)  # 960 of 10,000 steps; 480 were taken
    assert learner.demonstration_weight == pytest.approx((1 + 0.1) / 2)


@pytest.mark.long
@BOTH
def test_sampled_actions_are_the_policys(rl: str) -> None:
    learner = learner_of_labels(rl, demonstration_fraction=0.01)
    sampled, confidences = learner.sample_actions(seen(*[0] * 4_000), np.random.default_rng(0))
    shares = np.bincount(sampled, minlength=4) / 4_000
    np.testing.assert_allclose(shares, np.maximum(learner.action_values()[0], 0), atol=0.03)
    assert shares[3] == 0
    assert confidences.shape == (4_000,)


@BOTH
def test_a_label_that_the_mask_forbids_is_none(rl: str, scripted_training: Any) -> None:
    training = scripted_training(rl)
    observations = training.observations(3)
    observations["action_mask"][:] = [1, 1, 0, 1]
    learner = training.learner
    actions = learner.act(observations, explore=True)[0]
    no = np.zeros(2, bool)
    learner.observe(
        Transitions(
            observations,
            actions,
            np.zeros(2, np.float32),
            no,
            no,
            observations,
            np.zeros(2, np.uint8),
            np.array([2, 1]),
        )
    )
    assert learner.state_dict()["rollout.steps.labels"].tolist() == [[-1, 1]]
