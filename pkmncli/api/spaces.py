"""Observation spaces that say what their numbers stand for: kinds of things rather than amounts, bits of a tile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import gymnasium
import numpy as np


class ScaledBox(gymnasium.spaces.Box):
    """A vector of numbers in 0..1, of which some are *categories*: whole numbers over the largest that there may be.

    A map's number, a kind of situation: map 7 is no more than map 3, so a learner may want to look such a number up
    in a table rather than multiply it. To everyone else it is the Box that it is.
    """

    def __init__(self, size: int, categories: Mapping[int, int]) -> None:
        """Makes a space of vectors (size,) float32.

        Args:
            size: how many numbers there are.
            categories: by the place of a number in the vector, the largest whole number that it may stand for: the
                value there is a whole number from 0 to it, divided by it.

        Raises:
            ValueError: a place lies outside of the vector, or a largest number is below 1.
        """
        super().__init__(0.0, 1.0, (size,), np.float32)
        for place, largest in categories.items():
            if not 0 <= place < size or largest < 1:
                raise ValueError(f"category {place}: {largest} does not fit a vector of {size}")
        self.categories: tuple[tuple[int, int], ...] = tuple(sorted(categories.items()))
        """Places in the vector, in order, each with the largest whole number there."""


class BitPlanes(gymnasium.spaces.Box):
    """A map of tiles whose bits are channels: (height, width) uint16, a tile's lowest bit the first plane.

    Sixteen maps of yes and no fit into one array of whole numbers, which costs a step and a replay memory an eighth of
    what a byte a channel does. Whoever reads it unpacks ``tiles >> plane & 1``.
    """

    MOST_PLANES = 16

    def __init__(self, height: int, width: int, planes: Sequence[str]) -> None:
        """Make a space of maps (height, width) uint16.

        Args:
            height: rows of tiles.
            width: columns of tiles.
            planes: names of the bits from the lowest, 1 to 16.

        Raises:
            ValueError: there is no plane, more than 16, or a name twice.
        """
        names = tuple(planes)
        if not 1 <= len(names) <= self.MOST_PLANES or len(set(names)) != len(names):
            raise ValueError(f"a map has 1 to {self.MOST_PLANES} planes with names of their own, not {list(names)}")
        super().__init__(0, (1 << len(names)) - 1, (height, width), np.uint16)
        self.planes: tuple[str, ...] = names
        """Names of the bits, from the lowest."""
