"""The encoder and the plugin's registrations."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch
from support.learner_stream import one_torch_thread

from pkmn_balatro import plugin
from pkmn_balatro.encoder import BalatroEncoder
from pkmn_balatro.environment import BalatroEnvironment
from pkmn_balatro.settings import BalatroSettings
from pkmn_ppo.settings import PPOSettings
from pkmncli.errors import ConfigurationError
from pkmncli.learners.encoders import EncoderFactory
from pkmncli.learners.networks import ObservationNetwork
from pkmncli.learners.observations import layout_of
from pkmncli.testing import check_plugin

__all__ = ["one_torch_thread"]


def test_the_plugin_keeps_the_contracts() -> None:
    assert {(entry.kind, entry.name) for entry in check_plugin(plugin)} == {
        ("environments", "balatro"),
        ("encoders", "balatro"),
        ("encoders", "balatro-actions"),
        ("pilots", "planning"),
        ("pilots", "greedy"),
        ("pilots", "random"),
    }


def test_the_encoder_sees_cards_jokers_and_their_places() -> None:
    environment = BalatroEnvironment()
    observation, _ = environment.reset(seed=1)
    environment.advance(0)
    layout = layout_of(environment.observation_space, environment.action_space, "it")
    encoder = BalatroEncoder(layout, BalatroSettings(encoder_features=32))
    first = environment.observation()
    variants = [first]
    for key, place in (("hand", (0, slice(5, 18))), ("kinds", 2), ("numbers", 3)):
        changed = {name: array.copy() for name, array in first.items()}
        changed[key][place] = changed[key][place][::-1] if key == "hand" else 1
        variants.append(changed)
    swapped = {name: array.copy() for name, array in first.items()}
    swapped["hand"][[0, 1]] = swapped["hand"][[1, 0]]
    variants.append(swapped)
    batch = {name: np.stack([one[name] for one in variants]) for name in observation}
    columns = {name: torch.from_numpy(array) for name, array in layout.encode(batch).items()}
    features = encoder(columns)
    assert features.shape == (5, 32)
    for other in range(1, 5):
        assert not torch.allclose(features[0], features[other], atol=1e-5)


def test_a_screen_is_refused() -> None:
    screen = gymnasium.spaces.Dict({"screen": gymnasium.spaces.Box(0, 255, (72, 40), np.uint8)})
    layout = layout_of(screen, gymnasium.spaces.Discrete(4), "it")
    with pytest.raises(ConfigurationError, match="encoder 'balatro' reads numbers only"):
        BalatroEncoder(layout, BalatroSettings())


def test_normalised_observations_are_refused() -> None:
    environment = BalatroEnvironment()
    layout = layout_of(environment.observation_space, environment.action_space, "ppo")
    encoder = EncoderFactory("balatro", BalatroEncoder, BalatroSettings())
    with pytest.raises(ConfigurationError, match=r"leave out ppo\.normalize_observations"):
        ObservationNetwork(layout, PPOSettings(), encoder, normalized=True)
    assert ObservationNetwork(layout, PPOSettings(), encoder).num_features > 0
