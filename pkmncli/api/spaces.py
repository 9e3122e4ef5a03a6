"""Observation spaces with meanings: numbers that name kinds, and maps of bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import gymnasium
import numpy as np


class ScaledBox(gymnasium.spaces.Box):
    """Vector of numbers in 0..1, of which some are *categories*: whole numbers over the largest that there may be.

    A map's number, a kind of situation: map 7 is no more than map 3, so a learner may want to look such a number up
    in a table rather than multiply it. To everyone else it is the Box that it is.
    """

    def __init__(self, size: int, categories: Mapping[int, int]) -> None:
        """Make a space of vectors (size,) float32.

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
        """Indices in the vector, in order, each with its largest whole number."""


class BitPlanes(gymnasium.spaces.Box):
    """Map of tiles whose bits are planes: 13 x 13 tiles of 16 bits hold sixteen maps of yes and no.

    A learner unpacks them into as many channels. To everyone else it is a Box of whole numbers.
    """

    def __init__(self, shape: tuple[int, int], planes: Sequence[str]) -> None:
        """Make a space of maps of the smallest of uint8, uint16 and uint32 that holds all planes.

        Args:
            shape: rows and columns of the map.
            planes: names of the bits, from the lowest on.

        Raises:
            ValueError: there is no plane, there are more than 32, or two have the same name.
        """
        if not 1 <= len(planes) <= 32 or len(set(planes)) < len(planes):
            raise ValueError(f"a map has 1 to 32 planes of different names, not {list(planes)}")
        dtype = next(kind for kind in (np.uint8, np.uint16, np.uint32) if np.iinfo(kind).bits >= len(planes))
        super().__init__(0, 2 ** len(planes) - 1, shape, dtype)
        self.planes: tuple[str, ...] = tuple(planes)
        """Names of the bits, from the lowest on."""
