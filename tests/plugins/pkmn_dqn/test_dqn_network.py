"""All observations reach the network's values."""

from __future__ import annotations

import gymnasium
import numpy as np
import torch

from pkmn_dqn.network import QNetwork
from pkmn_dqn.settings import DQNSettings
from pkmncli.learners.observations import layout_of


def test_stacked_frames_are_channels() -> None:
    space = gymnasium.spaces.Dict(screen=gymnasium.spaces.Box(0, 255, (4, 72, 40), np.uint8))
    network = QNetwork(layout_of(space, gymnasium.spaces.Discrete(9), "dqn"), DQNSettings())
    assert network({"screen": torch.zeros(2, 4, 72, 40, dtype=torch.uint8)}).shape == (2, 9)


def test_each_pixel_and_variable_reaches_the_values() -> None:
    space = gymnasium.spaces.Dict(
        screen=gymnasium.spaces.Box(0, 255, (72, 40), np.uint8), state=gymnasium.spaces.Box(0, 1, (25,), np.float32)
    )
    network = QNetwork(layout_of(space, gymnasium.spaces.Discrete(9), "dqn"), DQNSettings())
    observations = {"screen": torch.zeros(1, 72, 40, dtype=torch.uint8), "vector": torch.zeros(1, 25)}
    with torch.no_grad():
        base = network(observations)
        left, right = observations["screen"].clone(), observations["screen"].clone()
        left[0, 30, 20], right[0, 30, 20] = 0xF0, 0x0F
        seen = [
            network(observations | {"screen": left}),
            network(observations | {"screen": right}),
            network(observations | {"vector": torch.full((1, 25), 0.5)}),
        ]
    assert all(not torch.equal(base, values) for values in seen)
    assert not torch.equal(seen[0], seen[1])
