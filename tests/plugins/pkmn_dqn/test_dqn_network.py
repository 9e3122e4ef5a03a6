"""Screens mean the same however they arrive, and reach the network as pixels."""

from __future__ import annotations

import gymnasium
import numpy as np
import torch

from pkmn_dqn.network import QNetwork, unpack_screen
from pkmn_dqn.observations import layout_of, pack_screen
from pkmn_dqn.settings import DQNSettings
from pkmn_pyboy.observation import pack_screen as pack_screen_of_environment
from pkmn_pyboy.observation import unpack_screens


def test_packing_keeps_the_left_pixel_in_the_high_bits() -> None:
    rgb = np.zeros((2, 8, 3), np.uint8)
    rgb[0, 0] = 255
    rgb[0, 4] = (128, 128, 128)
    np.testing.assert_array_equal(pack_screen(rgb), [[0xF0, 0x80]])


def test_unpacking_undoes_packing() -> None:
    pixels = np.random.default_rng(0).integers(0, 16, (3, 72, 80), np.uint8)
    rgb = np.repeat(np.repeat(pixels * 17, 2, axis=1), 2, axis=2)[..., None].repeat(3, axis=-1)
    unpacked = unpack_screen(torch.from_numpy(pack_screen(rgb))).numpy()
    np.testing.assert_array_equal(unpacked, pixels)


def test_screens_are_packed_as_the_game_boy_environment_packs_them() -> None:
    rgba = np.random.default_rng(0).integers(0, 256, (144, 160, 4), np.uint8)
    packed = pack_screen_of_environment(rgba)
    np.testing.assert_array_equal(pack_screen(rgba[None, ..., :3])[0], packed)
    np.testing.assert_array_equal(unpack_screen(torch.from_numpy(packed)).numpy(), unpack_screens(packed))


def test_vectors_of_any_key_and_stacked_ones_are_joined() -> None:
    space = gymnasium.spaces.Dict(
        a=gymnasium.spaces.Box(0, 1, (2, 3), np.float32), b=gymnasium.spaces.Box(0, 1, (1,), np.float64)
    )
    layout = layout_of(space, gymnasium.spaces.Discrete(3))
    a = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    columns = layout.encode({"a": a, "b": np.array([[7.0], [8.0]])})
    np.testing.assert_array_equal(columns["vector"], [[0, 1, 2, 3, 4, 5, 7], [6, 7, 8, 9, 10, 11, 8]])
    np.testing.assert_array_equal(columns["action_mask"], np.ones((2, 3)))


def test_colour_and_packed_screens_give_the_same_columns() -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (2, 144, 160, 3), np.uint8)
    actions = gymnasium.spaces.Discrete(9)
    colour = layout_of(gymnasium.spaces.Dict(screen=gymnasium.spaces.Box(0, 255, (144, 160, 3), np.uint8)), actions)
    packed = layout_of(gymnasium.spaces.Dict(screen=gymnasium.spaces.Box(0, 255, (72, 40), np.uint8)), actions)
    assert colour.columns == packed.columns
    np.testing.assert_array_equal(
        colour.encode({"screen": rgb})["screen"], packed.encode({"screen": pack_screen(rgb)})["screen"]
    )


def test_stacked_frames_are_channels() -> None:
    space = gymnasium.spaces.Dict(screen=gymnasium.spaces.Box(0, 255, (4, 72, 40), np.uint8))
    network = QNetwork(layout_of(space, gymnasium.spaces.Discrete(9)), DQNSettings())
    assert network({"screen": torch.zeros(2, 4, 72, 40, dtype=torch.uint8)}).shape == (2, 9)


def test_each_pixel_and_variable_reaches_the_values() -> None:
    space = gymnasium.spaces.Dict(
        screen=gymnasium.spaces.Box(0, 255, (72, 40), np.uint8), state=gymnasium.spaces.Box(0, 1, (25,), np.float32)
    )
    network = QNetwork(layout_of(space, gymnasium.spaces.Discrete(9)), DQNSettings())
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
