"""Screens mean the same in every format."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch

from pkmn_pyboy.environments.observation import pack_screen as pack_screen_of_environment
from pkmn_pyboy.environments.observation import unpack_screens
from pkmncli.api import BitPlanes
from pkmncli.errors import ConfigurationError
from pkmncli.learners.networks import unpack_planes, unpack_screen
from pkmncli.learners.observations import layout_of, pack_screen


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
    layout = layout_of(space, gymnasium.spaces.Discrete(3), "it")
    a = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    columns = layout.encode({"a": a, "b": np.array([[7.0], [8.0]])})
    np.testing.assert_array_equal(columns["vector"], [[0, 1, 2, 3, 4, 5, 7], [6, 7, 8, 9, 10, 11, 8]])
    np.testing.assert_array_equal(columns["action_mask"], np.ones((2, 3)))


def test_colour_and_packed_screens_give_the_same_columns() -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (2, 144, 160, 3), np.uint8)
    actions = gymnasium.spaces.Discrete(9)
    colour = layout_of(
        gymnasium.spaces.Dict(screen=gymnasium.spaces.Box(0, 255, (144, 160, 3), np.uint8)), actions, "it"
    )
    packed = layout_of(gymnasium.spaces.Dict(screen=gymnasium.spaces.Box(0, 255, (72, 40), np.uint8)), actions, "it")
    assert colour.columns == packed.columns
    np.testing.assert_array_equal(
        colour.encode({"screen": rgb})["screen"], packed.encode({"screen": pack_screen(rgb)})["screen"]
    )


@pytest.mark.parametrize(
    ("count", "kind"), [(3, np.uint8), (9, np.uint16), (16, np.uint16), (17, np.uint32), (32, np.uint32)]
)
def test_each_bit_of_a_map_becomes_a_channel(count: int, kind: type[np.generic]) -> None:
    channels = np.random.default_rng(0).integers(0, 2, (2, count, 4, 5))
    packed = (channels << np.arange(count)[:, None, None]).sum(axis=1).astype(kind)
    np.testing.assert_array_equal(unpack_planes(torch.from_numpy(packed), count).numpy(), channels)


def test_a_map_is_kept_as_it_is_whatever_its_key() -> None:
    space = gymnasium.spaces.Dict(around=BitPlanes((13, 13), ["walkable", "grass", "door"]))
    layout = layout_of(space, gymnasium.spaces.Discrete(3), "it")
    assert layout.planes == ("walkable", "grass", "door")
    seen = np.random.default_rng(0).integers(0, 8, (2, 13, 13), np.uint8)
    columns = layout.encode({"around": seen})
    assert columns["planes"] is seen
    assert columns["action_mask"].shape == (2, 3)


def test_one_map_is_enough() -> None:
    space = gymnasium.spaces.Dict(a=BitPlanes((5, 5), ["x"]), b=BitPlanes((5, 5), ["x"]))
    with pytest.raises(ConfigurationError, match="one map of bits, not both 'a' and 'b'"):
        layout_of(space, gymnasium.spaces.Discrete(3), "it")
