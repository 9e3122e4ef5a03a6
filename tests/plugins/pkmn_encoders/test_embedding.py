"""The encoder ``embedding`` distinguishes categories among state variables; the default one hardly does."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from support.learner_stream import one_torch_thread
from torch import nn

from pkmn_encoders import plugin
from pkmn_encoders.embedding import EmbeddedVector, EmbeddingEncoder
from pkmn_encoders.settings import EmbeddingSettings
from pkmn_pyboy.environments.observation import observation_space
from pkmn_pyboy.state.variables import STATE_VARIABLES
from pkmncli.api import ScaledBox
from pkmncli.errors import ConfigurationError
from pkmncli.learners.networks import ConvolutionEncoder
from pkmncli.learners.observations import ObservationLayout, layout_of
from pkmncli.testing import check_plugin

__all__ = ["one_torch_thread"]

MAPS = 60
UPDATES = 400


def layout(**spaces: Any) -> ObservationLayout:
    return layout_of(gymnasium.spaces.Dict(spaces), gymnasium.spaces.Discrete(4), "it")


def test_the_plugin_keeps_the_contracts() -> None:
    assert [entry.name for entry in check_plugin(plugin)] == ["convolution", "embedding"]


def test_the_game_says_which_state_variables_name_kinds() -> None:
    found = layout_of(observation_space("state", packed=True), gymnasium.spaces.Discrete(9), "it")
    named = {STATE_VARIABLES[one.place].name: one.largest for one in found.categories}
    assert named == {"map_group": 32, "map_number": 128, "facing": 3, "movement": 8, "phase": 9, "battle": 2}


def test_each_value_of_a_category_has_a_row_of_its_own_and_amounts_pass_as_they_are() -> None:
    vector = EmbeddedVector(
        layout(numbers=ScaledBox(4, {1: 3, 3: 128})), EmbeddingSettings(category_features=2, layer_norm=False)
    )
    assert vector.tables.weight.shape == (4 + 129, 2)
    read = torch.zeros(0)

    def keep(_: Any, inputs: tuple[torch.Tensor, ...]) -> None:
        nonlocal read
        (read,) = inputs

    vector.layers.register_forward_pre_hook(keep)
    largest = np.array([1, 3, 1, 128], np.float32)
    numbers = np.array([[0.25, 0, 0.5, 0], [0.25, 3, 0.75, 128], [0, 2, 0, 77]], np.float32)
    vector(torch.from_numpy(numbers / largest))
    rows = vector.tables.weight
    for row, (first, second) in enumerate([(0, 4), (3, 4 + 128), (2, 4 + 77)]):
        np.testing.assert_array_equal(read[row, :4].detach(), torch.cat((rows[first], rows[second])).detach())
    np.testing.assert_array_equal(read[:, 4:].detach(), numbers[:, [0, 2]])


def test_every_whole_number_survives_scaling() -> None:
    for one in (2, 3, 8, 32, 128, 255, 65_535):
        numbers = np.arange(one + 1, dtype=np.float32) / np.float32(one)
        np.testing.assert_array_equal(np.round(numbers * one), np.arange(one + 1))


def test_a_category_out_of_range_or_no_number_is_the_nearest_in_it() -> None:
    vector = EmbeddedVector(layout(numbers=ScaledBox(2, {0: 3})), EmbeddingSettings())
    strange = vector(torch.tensor([[7.0, 0], [-1, 0], [float("nan"), 0]]))
    usual = vector(torch.tensor([[1.0, 0], [0, 0], [0, 0]]))
    np.testing.assert_array_equal(strange.detach(), usual.detach())


def test_discrete_keys_are_categories_too() -> None:
    found = layout(
        room=gymnasium.spaces.Discrete(5, start=10),
        amounts=gymnasium.spaces.Box(0, 1, (2,), np.float32),
        pair=gymnasium.spaces.MultiDiscrete([3, 1]),
    )
    assert [(one.place, one.largest) for one in found.categories] == [(2, 2), (3, 1), (4, 4)]
    columns = found.encode({"room": np.array([10, 14]), "amounts": np.ones((2, 2)), "pair": np.array([[0, 0], [2, 0]])})
    np.testing.assert_allclose(columns["vector"], [[1, 1, 0, 0, 0], [1, 1, 1, 0, 1]])
    encoder = EmbeddingEncoder(found, EmbeddingSettings())
    assert encoder({"vector": torch.from_numpy(columns["vector"])}).shape == (2, encoder.num_features)


def test_where_nothing_names_a_kind_it_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="the observations of it have no category"):
        EmbeddingEncoder(layout(numbers=gymnasium.spaces.Box(0, 1, (3,), np.float32)), EmbeddingSettings())


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("layer_norm", [True, False])
def test_layers_and_their_norm_are_settings(layers: int, layer_norm: bool) -> None:
    settings = EmbeddingSettings(vector_layers=layers, layer_norm=layer_norm, vector_features=7)
    encoder = EmbeddingEncoder(layout(numbers=ScaledBox(4, {0: 3})), settings)
    kinds = [type(module) for module in encoder.vector.layers]
    assert (kinds.count(nn.Linear), kinds.count(nn.LayerNorm)) == (layers, layers * layer_norm)
    assert encoder.num_features == 7


def error_after_learning(encoder: nn.Module, found: ObservationLayout) -> float:
    """Return the mean squared error of a head that has learned a random worth of 1 or -1 per map."""
    worth = torch.tensor(np.random.default_rng(1).choice([-1.0, 1.0], MAPS), dtype=torch.float32)
    numbers = torch.full((MAPS, found.vector_size), 0.5)
    numbers[:, 1] = torch.arange(MAPS) / 128
    head = nn.Sequential(nn.Linear(int(encoder.num_features), 64), nn.ReLU(), nn.Linear(64, 1))  # type: ignore[arg-type]
    optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], 1e-3)
    for _ in range(UPDATES):
        loss = (head(encoder({"vector": numbers}))[:, 0] - worth).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(loss.item())


@pytest.mark.long
def test_what_depends_on_the_map_alone_is_learned_with_tables_and_not_without() -> None:
    found = layout_of(observation_space("state", packed=True), gymnasium.spaces.Discrete(9), "it")
    sizes = EmbeddingSettings()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        embedded = error_after_learning(EmbeddingEncoder(found, sizes), found)
        plain = error_after_learning(ConvolutionEncoder(found, sizes), found)
    assert embedded < 0.01
    assert plain > 0.5
