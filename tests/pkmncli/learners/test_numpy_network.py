"""Networks in numpy give what torch gives, also after their weights have changed."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from torch import nn

from pkmn_dqn.network import NumpyQNetwork, QNetwork
from pkmn_dqn.settings import DQNSettings
from pkmn_ppo.policy import ActorCritic, NumpyActorCritic
from pkmn_ppo.settings import PPOSettings
from pkmncli.api import BitPlanes
from pkmncli.learners.numpy_network import numpy_layers
from pkmncli.learners.observations import MASK, ObservationLayout, layout_of

ACTIONS = gymnasium.spaces.Discrete(9)
SCREEN = {"screen": gymnasium.spaces.Box(0, 255, (72, 40), np.uint8)}
FRAMES = {"screen": gymnasium.spaces.Box(0, 255, (3, 40, 24), np.uint8)}
VECTOR = {"state": gymnasium.spaces.Box(0, 1, (25,), np.float32)}
MAP = {"local_map": BitPlanes((13, 13), [f"bit {bit}" for bit in range(16)])}
SMALL_MAP = {"local_map": BitPlanes((5, 7), ["walkable", "grass"])}
KINDS = [SCREEN, VECTOR, SCREEN | VECTOR, FRAMES | VECTOR, MAP, SCREEN | MAP | VECTOR, SMALL_MAP | VECTOR]


def layout(spaces: dict[str, Any]) -> ObservationLayout:
    mask = {MASK: gymnasium.spaces.Box(0, 1, (9,), np.int8)}
    return layout_of(gymnasium.spaces.Dict(spaces | mask), ACTIONS, "test")


def seen(found: ObservationLayout, rows: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(rows)
    columns = {
        name: rng.random((rows, *shape), kind)
        if kind is np.float32
        else rng.integers(0, np.iinfo(kind).max, (rows, *shape), kind, endpoint=True)
        for name, (shape, kind) in found.columns.items()
    }
    columns[MASK] = rng.integers(0, 2, (rows, 9), np.uint8)
    columns[MASK][:, 4] = 1
    return columns


def changed(network: nn.Module) -> None:
    """Change weights in place, as an update does."""
    with torch.no_grad():
        for weights in network.parameters():
            weights.add_(torch.randn_like(weights), alpha=0.02)


@pytest.mark.parametrize("rows", [1, 2, 33])
@pytest.mark.parametrize(("dueling", "quantiles"), [(True, 1), (False, 1), (True, 5), (False, 5)])
@pytest.mark.parametrize("spaces", KINDS)
def test_values_are_those_of_torch(spaces: dict[str, Any], dueling: bool, quantiles: int, rows: int) -> None:
    found = layout(spaces)
    network = QNetwork(found, DQNSettings(dueling=dueling, quantiles=quantiles)).requires_grad_(False)
    in_numpy = NumpyQNetwork(network, found)
    before = in_numpy(seen(found, rows))
    changed(network)
    values = in_numpy(seen(found, rows))
    expected = network({name: torch.tensor(column) for name, column in seen(found, rows).items()}).numpy()
    np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-5)
    assert values.dtype == np.float32
    assert np.abs(before - values).max() > 1e-3, "it read the weights anew"


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("spaces", KINDS)
def test_policies_and_values_are_those_of_torch(spaces: dict[str, Any], rows: int) -> None:
    found = layout(spaces)
    network = ActorCritic(found, PPOSettings()).requires_grad_(False)
    in_numpy = NumpyActorCritic(network, found)
    changed(network)
    columns = seen(found, rows)
    log_probs, values = in_numpy(columns)
    policy, expected = network({name: torch.tensor(column) for name, column in columns.items()})
    np.testing.assert_allclose(log_probs, policy.log_probs.numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(values, expected.numpy(), rtol=1e-4, atol=1e-5)
    assert np.exp(log_probs.astype(float)).sum(axis=1) == pytest.approx(1, abs=1e-6)
    assert (np.exp(log_probs)[columns[MASK] == 0] == 0).all()


def test_what_is_looked_at_is_left_as_it_was() -> None:
    found = layout(SCREEN | VECTOR)
    columns = seen(found, 2)
    kept = {name: column.copy() for name, column in columns.items()}
    NumpyQNetwork(QNetwork(found, DQNSettings()).requires_grad_(False), found)(columns)
    assert all((columns[name] == kept[name]).all() for name in kept)


def test_a_layer_of_another_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="Dropout"):
        numpy_layers(nn.Sequential(nn.Linear(2, 2), nn.Dropout()))
