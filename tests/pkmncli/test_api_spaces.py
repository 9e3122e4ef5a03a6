"""The observation spaces of the contracts."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from pkmncli.api import BitPlanes


def test_bit_planes_are_whole_numbers_whose_bits_have_names() -> None:
    space = BitPlanes(3, 5, ["wall", "water", "door"])
    assert (space.shape, space.dtype) == ((3, 5), np.uint16)
    assert space.planes == ("wall", "water", "door")
    assert space.contains(np.full((3, 5), 7, np.uint16))
    assert not space.contains(np.full((3, 5), 8, np.uint16))
    assert not space.contains(np.zeros((5, 3), np.uint16))
    again = pickle.loads(pickle.dumps(space))
    assert again == space
    assert again.planes == space.planes


@pytest.mark.parametrize("planes", [[], ["wall", "wall"], [f"plane {number}" for number in range(17)]], ids=len)
def test_bit_planes_need_one_to_sixteen_names(planes: list[str]) -> None:
    with pytest.raises(ValueError, match="1 to 16 planes"):
        BitPlanes(3, 3, planes)


def test_sixteen_planes_fit() -> None:
    space = BitPlanes(1, 1, [str(number) for number in range(16)])
    assert space.contains(np.array([[0xFFFF]], np.uint16))
