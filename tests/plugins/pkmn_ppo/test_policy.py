"""Forbidden actions have no probability, entropy or gradient; allowed ones are sampled by their probability."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch

from pkmn_ppo.policy import ActorCritic, MaskedCategorical
from pkmn_ppo.settings import PPOSettings
from pkmncli.learners.action_gap import gaps_of
from pkmncli.learners.observations import layout_of
from pkmncli.learners.sampling import pick


def test_a_masked_distribution_is_that_of_the_allowed_presses_alone() -> None:
    logits = torch.tensor([[1.0, 50.0, 2.0, -1.0]])
    policy = MaskedCategorical(logits, torch.tensor([[1, 0, 1, 1]], dtype=torch.uint8))
    allowed = torch.distributions.Categorical(logits=logits[:, [0, 2, 3]])
    torch.testing.assert_close(policy.log_probs[0, [0, 2, 3]], allowed.logits[0])
    assert policy.log_probs.exp()[0, 1] == 0
    torch.testing.assert_close(policy.log_prob(torch.tensor([2])), allowed.log_prob(torch.tensor([1])))
    torch.testing.assert_close(policy.entropy(), allowed.entropy())


def test_a_masks_that_allows_one_press_leaves_no_doubt() -> None:
    policy = MaskedCategorical(torch.tensor([[3.0, -9.0]]), torch.tensor([[0, 1]], dtype=torch.uint8))
    assert policy.log_prob(torch.tensor([1])).item() == 0
    assert policy.entropy().item() == 0


def test_the_gradients_of_masked_logits_are_exactly_zero() -> None:
    logits = torch.randn(8, 6, generator=torch.Generator().manual_seed(0)).requires_grad_()
    mask = torch.tensor([[1, 0, 1, 0, 1, 1]] * 8, dtype=torch.uint8)
    policy = MaskedCategorical(logits, mask)
    actions = torch.tensor([0, 2, 4, 5] * 2)
    (policy.log_prob(actions).exp().sum() + policy.entropy().sum()).backward()
    assert logits.grad is not None
    assert (logits.grad[:, [1, 3]] == 0).all()
    assert (logits.grad[:, [0, 2, 4, 5]] != 0).all()


def test_presses_are_sampled_with_their_probabilities_and_forbidden_ones_never() -> None:
    probabilities = np.array([[0.0, 0.5, 0.0, 0.3, 0.2, 0.0]])
    dice = np.linspace(0, 1, 1_001)
    sampled = pick(np.repeat(probabilities, len(dice), axis=0), dice)
    shares = np.bincount(sampled, minlength=6) / len(dice)
    np.testing.assert_allclose(shares, probabilities[0], atol=0.002)
    assert shares[[0, 2, 5]].sum() == 0


def test_the_lead_is_that_over_the_second() -> None:
    np.testing.assert_allclose(gaps_of(np.array([[0.2, 0.7, 0.1], [0.0, 0.0, 1.0]]), 1.0), [0.5, 1.0])
    assert gaps_of(np.array([[1.0]]), 1.0).tolist() == [1.0]


def test_at_first_all_presses_are_about_equally_likely_and_values_near_zero() -> None:
    space = gymnasium.spaces.Dict(
        screen=gymnasium.spaces.Box(0, 255, (72, 40), np.uint8), state=gymnasium.spaces.Box(0, 1, (25,), np.float32)
    )
    torch.manual_seed(0)
    network = ActorCritic(layout_of(space, gymnasium.spaces.Discrete(9), "ppo"), PPOSettings())
    rng = np.random.default_rng(0)
    observations = {
        "screen": torch.tensor(rng.integers(0, 256, (16, 72, 40), np.uint8)),
        "vector": torch.tensor(rng.random((16, 25), np.float32)),
        "action_mask": torch.ones(16, 9, dtype=torch.uint8),
    }
    with torch.no_grad():
        policy, values, _ = network(observations)
    assert values.shape == (16,)
    assert values.abs().max() < 0.05  # less than a rare reward of 1 is worth, scaled by 0.1
    assert policy.log_probs.exp().numpy() == pytest.approx(1 / 9, abs=0.02)


@pytest.mark.parametrize("normalised", [True, False])
def test_layer_normalisation_hides_how_large_a_vector_is(normalised: bool) -> None:
    space = gymnasium.spaces.Dict(state=gymnasium.spaces.Box(-4, 4, (4,), np.float32))
    torch.manual_seed(0)
    settings = PPOSettings(vector_layer_norm=normalised)
    network = ActorCritic(layout_of(space, gymnasium.spaces.Discrete(2), "ppo"), settings)
    vectors = torch.randn(16, 4)
    with torch.no_grad():
        once, twice = (network.features({"vector": vectors * factor}) for factor in (1.0, 2.0))
    torch.testing.assert_close(twice, once if normalised else 2 * once, rtol=1e-3, atol=1e-3)
