"""The losses of PPO and A2C are those of their papers; steps of other sides train values only."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from pkmn_ppo.a2c import A2CLearning, policy_gradient_loss
from pkmn_ppo.experience import Experience
from pkmn_ppo.ppo import PPOLearning, clipped_surrogate, importance_weights, value_error
from pkmn_ppo.settings import A2CSettings, PPOSettings
from pkmn_ppo.update import PolicyLearning
from pkmncli.learners.observations import layout_of

SIZES = {"vector_features": 8, "head_features": 8}


def learning_of(rl: str, **settings: Any) -> PolicyLearning[Any]:
    space = gymnasium.spaces.Dict(state=gymnasium.spaces.Box(-1, 1, (3,), np.float32))
    layout = layout_of(space, gymnasium.spaces.Discrete(4), rl)
    device = torch.device("cpu")
    if rl == "ppo":
        return PPOLearning(layout, PPOSettings(**(SIZES | settings)), 0, device)
    return A2CLearning(layout, A2CSettings(**(SIZES | settings)), 0, device)


def batch_of(size: int = 6, own: tuple[float, ...] = (1, 1, 1, 0, 1, 0)) -> Experience:
    generator = torch.Generator().manual_seed(0)
    mask = torch.ones(size, 4, dtype=torch.uint8)
    mask[::2, 3] = 0

    def numbers() -> torch.Tensor:
        return torch.randn(size, generator=generator)

    owned = torch.tensor(own, dtype=torch.float32)
    return Experience(
        observations={"vector": torch.randn(size, 3, generator=generator), "action_mask": mask},
        actions=torch.tensor([0, 1, 2, 3, 1, 0]),
        labels=torch.tensor([2, 0, -1, 3, -1, 1]),
        on_policy=owned,
        log_probs=(-1.2 + 0.5 * numbers()) * owned,
        log_probs_before=-1.0 + 0.5 * numbers(),
        values=numbers(),
        advantages=numbers(),
        returns=numbers(),
    )


def gradients(learning: PolicyLearning[Any], batch: Experience, ent_coef: float = 0.01) -> dict[str, torch.Tensor]:
    learning.network.zero_grad(set_to_none=True)
    learning.loss(batch, ent_coef)[0].backward()
    return {
        name: torch.zeros_like(weight) if weight.grad is None else weight.grad.clone()
        for name, weight in learning.network.named_parameters()
    }


def test_the_clipped_surrogate_by_hand() -> None:
    """Ratios 1.5 and 0.5 with a range of 0.2: gains are clipped, losses are not; the last action is another side's."""
    ratios = torch.tensor([1.5, 1.5, 0.5, 0.5, 1.1, 9.0])
    advantages = torch.tensor([2.0, -2.0, 2.0, -2.0, 1.0, 5.0])
    weights = torch.tensor([1.0, 1, 1, 1, 0.5, 0])
    loss, clipped = clipped_surrogate(ratios.log(), torch.zeros(6), weights, advantages, 0.2)
    assert loss.item() == pytest.approx(-(1.2 * 2 - 1.5 * 2 + 0.5 * 2 - 0.8 * 2 + 0.5 * 1.1) / 6)
    assert clipped.item() == pytest.approx(4 / 5)


def test_a_press_counts_as_much_as_it_became_likelier_since_it_was_sampled() -> None:
    before, sampled = torch.tensor([0.3, 0.2, 0.9, 0.5]).log(), torch.tensor([0.2, 0.4, 0.1, 0.5]).log()
    weights = importance_weights(before, sampled, torch.tensor([1.0, 1, 1, 0]), most=2.0)
    np.testing.assert_allclose(weights, [1.5, 0.5, 2.0, 0.0], rtol=1e-6)


@pytest.mark.parametrize("clip_range_vf", [0.0, 0.3])
def test_the_loss_of_ppo_by_hand(clip_range_vf: float) -> None:
    learning = learning_of("ppo", clip_range_vf=clip_range_vf)
    batch = batch_of()
    loss, metrics = learning.loss(batch, ent_coef=0.1)
    with torch.no_grad():
        features = learning.network.features(batch.observations)
        logits, values = learning.network.policy(features).double(), learning.network.value(features)[:, 0].double()
    policy_loss = entropy_sum = value_loss = 0.0
    ratios = []
    for row in range(6):
        allowed = [action for action in range(4) if batch.observations["action_mask"][row, action]]
        weights = {action: math.exp(logits[row, action]) for action in allowed}
        shares = {action: weight / sum(weights.values()) for action, weight in weights.items()}
        value, before, wanted = (float(x) for x in (values[row], batch.values[row], batch.returns[row]))
        errors = [(value - wanted) ** 2]
        if clip_range_vf:
            errors.append((before + min(max(value - before, -0.3), 0.3) - wanted) ** 2)
        value_loss += max(errors) / 6
        if batch.on_policy[row]:
            ratio = shares[int(batch.actions[row])] / math.exp(batch.log_probs_before[row])
            ratios.append(ratio)
            weight = min(math.exp(batch.log_probs_before[row] - batch.log_probs[row]), 2.0)
            advantage = weight * float(batch.advantages[row])
            policy_loss -= min(ratio * advantage, min(max(ratio, 0.8), 1.2) * advantage) / 6
            entropy_sum -= sum(share * math.log(share) for share in shares.values())
    assert min(ratios) < 0.8 and max(ratios) > 1.2, "both ends of the range are met"
    assert metrics["policy_loss"] == pytest.approx(policy_loss, rel=1e-4)
    assert metrics["value_loss"] == pytest.approx(value_loss, rel=1e-4)
    assert metrics["entropy"] == pytest.approx(entropy_sum / 4, rel=1e-4)
    assert loss.item() == pytest.approx(policy_loss - 0.1 * entropy_sum / 6 + 0.5 * value_loss, rel=1e-4)


def test_the_loss_of_a2c_by_hand() -> None:
    """An action that has become half as likely counts half; one that has become likelier counts once."""
    log_probs = torch.tensor([0.2, 0.4, 0.3]).log().requires_grad_()
    sampled = torch.tensor([0.4, 0.2, 1.0]).log()
    advantages, own = torch.tensor([3.0, 5.0, 7.0]), torch.tensor([1.0, 1.0, 0.0])
    loss = policy_gradient_loss(log_probs, sampled, advantages, own)
    assert loss.item() == pytest.approx(-(0.5 * math.log(0.2) * 3 + math.log(0.4) * 5) / 3)
    loss.backward()
    assert log_probs.grad is not None
    np.testing.assert_allclose(log_probs.grad, [-0.5 * 3 / 3, -5 / 3, 0], rtol=1e-6)


def test_value_clipping_pays_nothing_for_moving_too_far() -> None:
    before, returns = torch.zeros(3), torch.full((3,), 1.0)
    values = torch.tensor([0.1, 0.6, -0.6]).requires_grad_()
    value_error(values, before, returns, 0.2).backward()
    assert values.grad is not None
    assert values.grad[0] < 0  # within the range: it moves on towards the return
    assert values.grad[1] == 0  # beyond it, towards the return: nothing more to gain
    assert values.grad[2] < 0  # beyond it, away from the return: it moves back
    unclipped = value_error(torch.tensor([0.6]), torch.zeros(1), torch.ones(1), 0.0)
    assert unclipped.item() == pytest.approx(0.16)


@pytest.mark.parametrize("rl", ["ppo", "a2c"])
def test_steps_of_others_teach_values_and_nothing_about_the_policy(rl: str) -> None:
    learning, batch = learning_of(rl), batch_of()
    others = batch.on_policy == 0

    def changed(name: str) -> dict[str, torch.Tensor]:
        values = getattr(batch, name).clone()
        values[others] += 1
        return gradients(learning, replace(batch, **{name: values}))

    base = gradients(learning, batch)
    for name in ("advantages", "log_probs", "log_probs_before"):
        assert all(torch.equal(base[weight], gradient) for weight, gradient in changed(name).items()), name
    other_returns = changed("returns")
    for weight, gradient in base.items():
        assert torch.equal(gradient, other_returns[weight]) == weight.startswith("policy."), weight


@pytest.mark.parametrize("rl", ["ppo", "a2c"])
def test_without_own_steps_only_values_are_learned(rl: str) -> None:
    learning: PolicyLearning[Any] = learning_of(rl)
    found = gradients(learning, batch_of(own=(0.0,) * 6))
    assert all((gradient == 0).all() for name, gradient in found.items() if name.startswith("policy."))
    assert any((gradient != 0).any() for name, gradient in found.items() if name.startswith("value."))


@pytest.mark.parametrize("rl", ["ppo", "a2c"])
def test_the_policy_moves_towards_presses_that_turned_out_well(rl: str) -> None:
    learning: PolicyLearning[Any] = learning_of(rl)
    batch = batch_of(own=(1.0,) * 6)

    advantages = torch.tensor([1.0, -1, 1, -1, 1, -1])

    def likelihoods() -> torch.Tensor:
        with torch.no_grad():
            found: torch.Tensor = learning.network(batch.observations)[0].log_prob(batch.actions)
            return found

    before = likelihoods()
    batch = replace(batch, log_probs=before, advantages=advantages)
    for _ in range(5):
        learning.step(*learning.loss(batch, 0.0))
    assert ((likelihoods() - before) * advantages).mean() > 0


def test_minibatches_are_of_about_equal_size_and_hold_every_step_once_an_epoch() -> None:
    learning = learning_of("ppo", batch_size=8, n_epochs=2)
    epochs = learning.epochs(np.arange(30), np.random.default_rng(0))
    assert [[len(rows) for rows in epoch] for epoch in epochs] == [[8, 8, 7, 7]] * 2
    first, second = (np.concatenate(epoch) for epoch in epochs)
    assert sorted(first) == sorted(second) == list(range(30))
    assert first.tolist() != second.tolist()


def test_a2c_takes_all_steps_at_once() -> None:
    ((rows,),) = learning_of("a2c").epochs(np.arange(10), np.random.default_rng(0))
    assert rows.tolist() == list(range(10))


@pytest.mark.parametrize("rl", ["ppo", "a2c"])
def test_the_entropy_coefficient_opens_the_policy(rl: str) -> None:
    """A nearly deterministic policy, with nothing else to learn, becomes less so."""
    learning: PolicyLearning[Any] = learning_of(rl, vf_coef=0, learning_rate=0.01)
    with torch.no_grad():
        learning.network.policy[-1].bias += torch.tensor([2.0, 0, 0, 0])
    batch = replace(batch_of(), advantages=torch.zeros(6))
    before = learning.loss(batch, 1.0)[1]["entropy"]
    for _ in range(20):
        learning.step(*learning.loss(batch, 1.0))
    assert learning.loss(batch, 1.0)[1]["entropy"] > before + 0.1


@pytest.mark.parametrize("rl", ["ppo", "a2c"])
def test_demonstrations_add_their_weighted_cross_entropy(rl: str) -> None:
    learning, batch = learning_of(rl), batch_of()
    plain, _ = learning.loss(batch, 0.0)
    with_them, metrics = learning.loss(batch, 0.0, demonstration_weight=0.5)
    with torch.no_grad():
        log_probs = learning.network(batch.observations)[0].log_probs
    expected = -sum(log_probs[row, label].item() for row, label in [(0, 2), (1, 0), (3, 3), (5, 1)]) / 6
    assert metrics["demonstration_loss"].item() == pytest.approx(expected, rel=1e-5)
    assert with_them.item() == pytest.approx(plain.item() + 0.5 * expected, rel=1e-5)
