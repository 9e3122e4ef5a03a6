"""Observation spaces: their parts by name, and spaces with meanings, such as numbers that name kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import getitem
from typing import Any

import gymnasium
import numpy as np

UNNAMED = "observation"
"""Name of an observation that is no dictionary."""


def named_parts(
    space: gymnasium.Space[Any], name: str = "", path: tuple[Any, ...] = ()
) -> Iterator[tuple[str, tuple[Any, ...], gymnasium.Space[Any]]]:
    """Yield name, path and space of each part of an observation that is no Dict or Tuple.

    The name is the path joined by dots, such as ``where.0``. It begins with :data:`UNNAMED` if the outermost space is
    no Dict.
    """
    members: Iterable[tuple[Any, gymnasium.Space[Any]]]
    if isinstance(space, gymnasium.spaces.Dict):
        members = space.spaces.items()
    else:
        name = name or UNNAMED
        if not isinstance(space, gymnasium.spaces.Tuple):
            yield name, path, space
            return
        members = enumerate(space.spaces)
    for key, member in members:
        yield from named_parts(member, f"{name}.{key}" if name else str(key), (*path, key))


def part_at(observation: Any, path: Sequence[Any]) -> Any:
    """Return a part of a nested observation, or of what is nested in the same way, by its path."""
    return reduce(getitem, path, observation)


def array_members(space: gymnasium.spaces.Dict) -> dict[tuple[str, ...], gymnasium.Space[Any]]:
    """Return the members of a dictionary space by path, in order, also those of nested dictionaries.

    The key of a member is its path joined by dots, such as ``a.b``. Text is left out: it reaches language models in the
    context, and no learner.
    """
    members: dict[tuple[str, ...], gymnasium.Space[Any]] = {}
    for key, member in space.spaces.items():
        if isinstance(member, gymnasium.spaces.Dict):
            members |= {(key, *path): inner for path, inner in array_members(member).items()}
        elif not isinstance(member, gymnasium.spaces.Text):
            members[key,] = member
    return members


def blank_observation(space: gymnasium.spaces.Dict) -> dict[str, Any]:
    """Return zeros for each array of a dictionary space, nested as the space is."""
    return {
        key: blank_observation(member)
        if isinstance(member, gymnasium.spaces.Dict)
        else np.zeros(member.shape or (), member.dtype)
        for key, member in space.spaces.items()
        if not isinstance(member, gymnasium.spaces.Text)
    }


def array_at(observation: Mapping[str, Any], key: str) -> Any:
    """Return an array of an observation, nested or flat, by its key such as ``a.b``."""
    if key in observation:
        return observation[key]
    first, _, rest = key.partition(".")
    return array_at(observation[first], rest)


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
