"""A single update: copies to the target network as the settings say, and importance weights on both losses."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from pkmn_dqn.q_learning import Batch, QLearning
from pkmn_dqn.replay_buffer import Sample
from pkmn_dqn.settings import DQNSettings
from pkmncli.api import Source
from pkmncli.learners.observations import layout_of

CPU = torch.device("cpu")


def learning(**settings: Any) -> QLearning:
    spaces = gymnasium.spaces.Dict(state=gymnasium.spaces.Box(0, 1, (3,), np.float32)), gymnasium.spaces.Discrete(2)
    small = {"vector_features": 8, "head_features": 8, "learning_rate": 1e-2}
    return QLearning(layout_of(*spaces, "dqn"), DQNSettings(**(small | settings)), 0, CPU)


def batch(weights: list[float] | None, steps: int = 4, demonstration_weight: float = 1.0) -> Batch:
    rng = np.random.default_rng(0)

    def columns() -> dict[str, np.ndarray]:
        return {"vector": rng.random((4, 3), np.float32)[:steps], "action_mask": np.ones((steps, 2), np.uint8)}

    sample = Sample(
        rows=np.arange(steps),
        observations=columns(),
        actions=np.array([0, 1, 0, 1])[:steps],
        returns=np.array([1, -2, 0.5, 3], np.float32)[:steps],
        discounts=np.full(steps, 0.9, np.float32),
        next_observations=columns(),
        sources=np.array([Source.RULE, Source.RL, Source.LLM, Source.RL], np.uint8)[:steps],
        advised=np.full(steps, -1),
    )
    return Batch.of(
        sample, CPU, DQNSettings(), demonstration_weight, None if weights is None else np.array(weights, np.float32)
    )


def parameters(network: torch.nn.Module) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten().clone() for parameter in network.parameters()])


def test_a_hard_copy_replaces_the_target_at_every_interval_and_never_between() -> None:
    learner = learning(target_update_interval=3, tau=1.0)
    expected = parameters(learner.target)
    for count in range(1, 8):
        learner.update(batch(None))
        if count % 3 == 0:
            expected = parameters(learner.online)
        assert torch.equal(parameters(learner.target), expected), count
        assert not torch.equal(parameters(learner.online), expected) or count % 3 == 0


def test_a_soft_copy_moves_the_target_by_tau() -> None:
    learner = learning(target_update_interval=2, tau=0.1)
    expected = parameters(learner.target)
    for count in range(1, 7):
        learner.update(batch(None))
        if count % 2 == 0:
            expected = 0.9 * expected + 0.1 * parameters(learner.online)
        torch.testing.assert_close(parameters(learner.target), expected)
    assert not torch.equal(parameters(learner.target), parameters(learner.online))


@pytest.mark.parametrize("demonstration_weight", [0.0, 1.0])
def test_a_weight_counts_a_step_in_both_losses(demonstration_weight: float) -> None:
    """Steps of weight 0 keep the gradients and losses of the others, which are means over the whole batch."""
    whole, part = learning(), learning()
    weighted = whole.update(batch([1, 1, 0, 0], demonstration_weight=demonstration_weight))
    alone = part.update(batch(None, steps=2, demonstration_weight=demonstration_weight))
    for name in ("loss", "demonstration_loss", "grad_norm"):
        assert weighted.metrics[name] == pytest.approx(alone.metrics[name] / 2, rel=1e-5), name
    assert (weighted.metrics["demonstration_loss"] > 0) == (demonstration_weight > 0)
    torch.testing.assert_close(weighted.td_errors[:2], alone.td_errors)


def test_weights_of_one_change_nothing() -> None:
    weighted, plain = learning(), learning()
    assert weighted.update(batch([1, 1, 1, 1])).metrics == plain.update(batch(None)).metrics
    assert torch.equal(parameters(weighted.online), parameters(plain.online))


def test_errors_are_those_before_the_update() -> None:
    learner = learning(double=False)
    given = batch(None)
    with torch.no_grad():
        values = learner.online(given.observations).gather(1, given.actions[:, None])[:, 0]
        targets = given.returns + given.discounts * learner.target(given.next_observations).amax(dim=1)
    torch.testing.assert_close(learner.update(given).td_errors, values - targets)
