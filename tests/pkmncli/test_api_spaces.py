"""The observation spaces of the contracts."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from pkmncli.api import BitPlanes


def test_bit_planes_are_whole_numbers_whose_bits_have_names() -> None:
    space = BitPlanes((3, 5), ["wall", "water", "door"])
    assert (space.shape, space.dtype) == ((3, 5), np.uint8)
    assert space.planes == ("wall", "water", "door")
    assert space.contains(np.full((3, 5), 7, np.uint8))
    assert not space.contains(np.full((3, 5), 8, np.uint8))
    assert not space.contains(np.zeros((5, 3), np.uint8))
    again = pickle.loads(pickle.dumps(space))
    assert again == space
    assert again.planes == space.planes


@pytest.mark.parametrize(("count", "kind"), [(8, np.uint8), (9, np.uint16), (16, np.uint16), (32, np.uint32)])
def test_bit_planes_take_the_smallest_type_that_holds_them(count: int, kind: type[np.unsignedinteger]) -> None:
    space = BitPlanes((1, 1), [str(number) for number in range(count)])
    assert space.dtype == kind
    assert space.contains(np.array([[2**count - 1]], kind))


@pytest.mark.parametrize("planes", [[], ["wall", "wall"], [f"plane {number}" for number in range(33)]], ids=len)
def test_bit_planes_need_names_that_can_be_told_apart(planes: list[str]) -> None:
    with pytest.raises(ValueError, match="1 to 32 planes"):
        BitPlanes((3, 3), planes)
