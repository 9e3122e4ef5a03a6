"""An observation space that says which of its numbers stand for kinds of things rather than for amounts."""

from __future__ import annotations

from collections.abc import Mapping

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
