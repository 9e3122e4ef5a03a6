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
from pkmncli.learners.networks import SpreadCodes, unpack_planes, unpack_screen
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


def test_arrays_of_any_kind_are_numbers_of_the_vector() -> None:
    spaces = gymnasium.spaces
    space = spaces.Dict(
        deep=spaces.Box(-1, 1, (2, 1, 2, 1), np.float64),
        number=spaces.Box(0, 9, (), np.int64),
        flags=spaces.MultiBinary([1, 2]),
        tiles=spaces.Box(0, 255, (7, 7, 3), np.uint8),
        yes=spaces.Box(0, 1, (1,), np.bool_),
        words=spaces.Text(20),
    )
    layout = layout_of(space, gymnasium.spaces.Discrete(3), "it")
    assert "words" not in layout.members
    space.seed(0)
    first, second = space.sample(), space.sample()
    batch = {key: np.stack([first[key], second[key]]) for key in layout.members}
    columns = layout.encode(batch)
    assert columns["vector"].shape == (2, 4 + 1 + 2 + 147 + 1)
    expected = [np.asarray(second[key], np.float32).ravel() for key in layout.members]
    np.testing.assert_array_equal(columns["vector"][1], np.concatenate(expected))


def test_nested_dictionaries_are_read_nested_and_flat() -> None:
    spaces = gymnasium.spaces
    inner = spaces.Dict(hand=spaces.Discrete(4), score=spaces.Box(0, 9, (2,), np.float32))
    layout = layout_of(spaces.Dict(me=inner, you=spaces.Dict(shown=inner)), spaces.Discrete(3), "it")
    assert list(layout.members) == ["me.hand", "me.score", "you.shown.hand", "you.shown.score"]
    me = {"hand": np.array([3]), "score": np.array([[1.0, 2.0]])}
    you = {"shown": {"hand": np.array([0]), "score": np.array([[3.0, 4.0]])}}
    vector = layout.encode({"me": me, "you": you})["vector"]
    np.testing.assert_array_equal(vector, [[1, 1, 2, 0, 3, 4]])
    flat = {"me.hand": me["hand"], "me.score": me["score"]}
    flat |= {f"you.shown.{key}": array for key, array in you["shown"].items()}
    np.testing.assert_array_equal(layout.encode(flat)["vector"], vector)


@pytest.mark.parametrize(
    ("shape", "axes", "stored"),
    [
        ((30, 24), (0, 1), (1, 30, 24)),
        ((30, 24, 3), (2, 0, 1), (3, 30, 24)),
        ((4, 30, 24), (0, 1, 2), (4, 30, 24)),
        ((4, 30, 24, 3), (0, 3, 1, 2), (12, 30, 24)),
    ],
)
def test_images_are_kept_as_bytes_with_channels_first(
    shape: tuple[int, ...], axes: tuple[int, ...], stored: tuple[int, ...]
) -> None:
    space = gymnasium.spaces.Dict(seen=gymnasium.spaces.Box(0, 255, shape, np.uint8))
    layout = layout_of(space, gymnasium.spaces.Discrete(3), "it")
    assert layout.columns["image.seen"] == (stored, np.uint8)
    image = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    columns = layout.encode({"seen": image[None]})
    np.testing.assert_array_equal(columns["image.seen"], image.transpose(axes).reshape(1, *stored))
    assert columns["action_mask"].shape == (1, 3)


def test_a_discrete_number_is_as_many_inputs_as_it_has_values() -> None:
    spaces = gymnasium.spaces
    space = spaces.Dict(room=spaces.Discrete(5, start=10), height=spaces.Box(0, 9, (1,), np.float32))
    layout = layout_of(space, spaces.Discrete(3), "it")
    columns = layout.encode({"room": np.array([10, 14, 12]), "height": np.array([[7.0], [8.0], [9.0]])})
    found = SpreadCodes(layout)(torch.from_numpy(columns["vector"]))
    assert found.shape == (3, 6)
    np.testing.assert_array_equal(found[:, 0], [7, 8, 9])
    np.testing.assert_array_equal(found[:, 1:], np.eye(5)[[0, 4, 2]])


def test_a_space_without_arrays_is_refused() -> None:
    space = gymnasium.spaces.Dict(words=gymnasium.spaces.Text(9))
    with pytest.raises(ConfigurationError, match="needs an observation with a screen, an image, a map of bits or num"):
        layout_of(space, gymnasium.spaces.Discrete(3), "it")
    space = gymnasium.spaces.Dict(many=gymnasium.spaces.Sequence(gymnasium.spaces.Discrete(2)))
    with pytest.raises(ConfigurationError, match="cannot learn from the observation 'many'"):
        layout_of(space, gymnasium.spaces.Discrete(3), "it")
