"""Tests as a plugin author writes them: the contract as a whole, then what is special about the encoder."""

import gymnasium
import numpy as np
import pytest
import torch
from pkmn_patch_encoder import plugin
from pkmn_patch_encoder.encoder import PatchEncoder
from pkmn_patch_encoder.settings import PatchSettings

from pkmncli.errors import ConfigurationError
from pkmncli.learners.observations import ObservationLayout, layout_of
from pkmncli.testing import check_plugin

SCREEN = gymnasium.spaces.Box(0, 255, (72, 40), np.uint8)
NUMBERS = gymnasium.spaces.Box(0, 1, (25,), np.float32)


def layout(**spaces: gymnasium.Space) -> ObservationLayout:
    return layout_of(gymnasium.spaces.Dict(spaces), gymnasium.spaces.Discrete(9), "the test")


def test_the_plugin_keeps_the_contracts() -> None:
    assert [(entry.kind, entry.name) for entry in check_plugin(plugin)] == [("encoders", "patches")]


def test_it_sees_where_something_is() -> None:
    encoder = PatchEncoder(layout(screen=SCREEN), PatchSettings())
    screens = torch.zeros(2, 72, 40, dtype=torch.uint8)
    screens[0, 8:16, 4:8] = 255  # the same square, at two places
    screens[1, 32:40, 20:24] = 255
    first, second = encoder({"screen": screens})
    assert not torch.allclose(first, second, atol=1e-4)


def test_without_a_screen_there_is_nothing_to_read() -> None:
    with pytest.raises(ConfigurationError, match="reads screens"):
        PatchEncoder(layout(state_variables=NUMBERS), PatchSettings())
