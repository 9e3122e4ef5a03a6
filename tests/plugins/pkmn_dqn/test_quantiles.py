"""With several quantiles the distribution of returns is learned, and its mean decides."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch

from pkmn_dqn.learner import DQN
from pkmn_dqn.q_learning import td_losses
from pkmn_dqn.settings import DQNSettings
from pkmncli.api import Transitions

COUNT = 8


def gambler(**settings: int) -> DQN:
    """Return a learner that saw 600 coins: action 0 pays 0 or 2, each half of the time, action 1 always 0.9."""
    learner = DQN(
        gymnasium.spaces.Dict(state=gymnasium.spaces.Box(0, 1, (1,), np.float32)),
        gymnasium.spaces.Discrete(2),
        num_envs=1,
        seed=0,
        settings=DQNSettings(
            learning_rate=1e-2,
            learning_starts=50,
            reward_scale=1.0,
            n_step=1,
            vector_features=8,
            head_features=32,
            train_freq=1,
            **settings,
        ),
    )
    random, yes, no = np.random.default_rng(0), np.array([True]), np.array([False])
    shown = {"state": np.ones((1, 1), np.float32)}
    for count in range(600):
        paid = 2.0 * random.integers(2) if count % 2 == 0 else 0.9
        learner.observe(
            Transitions(
                shown, np.array([count % 2]), np.array([paid], np.float32), yes, no, shown, np.zeros(1, np.uint8)
            )
        )
        if (sampled := learner.sample()) is not None:
            learner.learn(sampled)
            learner.publish()
    return learner


@pytest.mark.long
def test_quantiles_are_those_of_what_came() -> None:
    learner = gambler(quantiles=COUNT)
    network = learner.learning.here.online
    with torch.no_grad():
        coin, sure = network.distributions({"vector": torch.ones(1, 1)})[0].sort(dim=1).values
    assert coin[0] < 0.3
    assert coin[-1] > 1.7
    assert (sure - 0.9).abs().max() < 0.3
    values = learner.act({"state": np.ones((1, 1), np.float32)}, explore=False) and learner.action_values()
    np.testing.assert_allclose(values, [[coin.mean(), sure.mean()]], rtol=1e-4)
    assert values[0] == pytest.approx([1.0, 0.9], abs=0.25)


def test_the_loss_by_hand() -> None:
    """Two quantiles, at levels 1/4 and 3/4; errors of at most 1 count half their square, larger ones less 1/2."""
    losses = td_losses(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 3.0]]), huber_delta=1.0)
    low = (0.25 * 0.125 + 0.25 * 2.5) / 2  # both targets are above
    high = (0.25 * 0.125 + 0.75 * 1.5) / 2  # the first one is below
    assert losses.item() == pytest.approx(low + high)


def test_a_single_one_is_the_huber_loss() -> None:
    predicted, targets = torch.tensor([[0.0], [3.0]]), torch.tensor([[0.5], [0.0]])
    assert td_losses(predicted, targets, huber_delta=1.0).tolist() == pytest.approx([0.125, 2.5])
