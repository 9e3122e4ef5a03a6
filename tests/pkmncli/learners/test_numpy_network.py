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
IMAGES = {
    "front": gymnasium.spaces.Box(0, 255, (24, 30, 3), np.uint8),
    "back": gymnasium.spaces.Box(0, 255, (2, 20, 21), np.uint8),
}
CODES = {"room": gymnasium.spaces.Discrete(7), "key": gymnasium.spaces.Discrete(5, start=-2)}
KINDS = [SCREEN, VECTOR, SCREEN | VECTOR, FRAMES | VECTOR, MAP, SCREEN | MAP | VECTOR, SMALL_MAP | VECTOR]
KINDS += [IMAGES | VECTOR, CODES | VECTOR, CODES]
ARCHITECTURES: list[dict[str, Any]] = [
    {},
    {"net_arch": (16, 8, 4), "features_dim": 12},
    {"net_arch": ()},
    {"vector_layer_norm": False},
]


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


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_hidden_layers_are_of_the_widths_that_the_settings_say(architecture: dict[str, Any]) -> None:
    found = layout(SCREEN | VECTOR)
    network = QNetwork(found, DQNSettings(**architecture)).requires_grad_(False)
    layers = [one for one in network.advantage if isinstance(one, nn.Linear)]
    joined = architecture.get("features_dim", 256 + 128)
    assert [one.in_features for one in layers] == [joined, *architecture.get("net_arch", (128,))]
    columns = seen(found, 3)
    expected = network({name: torch.tensor(column) for name, column in columns.items()}).numpy()
    np.testing.assert_allclose(NumpyQNetwork(network, found)(columns), expected, rtol=1e-4, atol=1e-5)


def test_policy_and_value_may_have_hidden_layers_of_different_widths() -> None:
    found = layout(VECTOR)
    settings = PPOSettings(net_arch=(32,), value_net_arch=(16, 8), features_dim=10)
    network = ActorCritic(found, settings).requires_grad_(False)
    widths = {
        name: [one.out_features for one in stream if isinstance(one, nn.Linear)]
        for name, stream in {"policy": network.policy, "value": network.value}.items()
    }
    assert widths == {"policy": [32, 9], "value": [16, 8, 1]}
    columns = seen(found, 3)
    _, values, _ = NumpyActorCritic(network, found)(columns, np.zeros((3, 0), np.float32))
    _, expected, _ = network({name: torch.tensor(column) for name, column in columns.items()})
    np.testing.assert_allclose(values, expected.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rl", ["dqn", "ppo"])
def test_the_defaults_make_the_network_of_earlier_versions(rl: str) -> None:
    """Names of weights, and sums of initial ones: checkpoints of earlier runs fit."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network: nn.Module = (
            QNetwork(layout(SCREEN | VECTOR), DQNSettings())
            if rl == "dqn"
            else ActorCritic(layout(SCREEN | VECTOR), PPOSettings())
        )
    weights = {name: float(one.double().sum()) for name, one in network.state_dict().items()}
    names = ["screen.0", "screen.2", "screen.5", "vector.0", "vector.1"]
    names += [f"{stream}.{layer}" for stream in EARLIER[rl][0] for layer in (0, 2)]
    assert list(weights) == [f"{name}.{part}" for name in names for part in ("weight", "bias")]
    assert sum(weights.values()) == pytest.approx(EARLIER[rl][1], abs=0.01)


EARLIER: dict[str, tuple[tuple[str, ...], float]] = {
    "dqn": (("advantage", "value"), 144.4336),
    "ppo": (("policy", "value"), 112.3954),
}


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize(
    ("spaces", "settings"), [*((spaces, {}) for spaces in KINDS), (VECTOR, {"recurrent": "gru", "gru_size": 12})]
)
def test_policies_values_and_memories_are_those_of_torch(
    spaces: dict[str, Any], settings: dict[str, Any], rows: int
) -> None:
    found = layout(spaces)
    network = ActorCritic(found, PPOSettings(**settings)).requires_grad_(False)
    in_numpy = NumpyActorCritic(network, found)
    changed(network)
    columns = seen(found, rows)
    memory = np.random.default_rng(1).normal(size=(rows, network.memory_size)).astype(np.float32)
    log_probs, values, after = in_numpy(columns, memory)
    policy, expected, memories = network(
        {name: torch.tensor(column) for name, column in columns.items()}, torch.tensor(memory)
    )
    np.testing.assert_allclose(after, memories.numpy(), rtol=1e-4, atol=1e-5)
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
