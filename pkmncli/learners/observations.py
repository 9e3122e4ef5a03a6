"""The stored form of observations: columns of an observation space, and conversion of a batch into them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from pkmncli.api import BitPlanes, ScaledBox
from pkmncli.errors import ConfigurationError

SCREEN = "screen"
VECTOR = "vector"
PLANES = "planes"
MASK = "action_mask"

Columns = Mapping[str, NDArray[Any]]
"""A batch of stored observations, each array (n, ...): ``screen`` uint8 packed, ``planes`` integers (n, rows,
columns) whose bits are channels, ``vector`` float32 (n, d), ``action_mask`` uint8 (n, num_actions), 1 = allowed."""


def pack_screen(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Pack colour screens: every second pixel both ways, its green channel reduced to 4 bits.

    Args:
        rgb: (..., height, width, 3) uint8; height even, width a multiple of four.

    Returns:
        (..., height / 2, width / 4) uint8: two pixels a byte, the left one in the high four bits.
    """
    packed: NDArray[np.uint8] = (rgb[..., ::2, ::4, 1] & np.uint8(0xF0)) | (rgb[..., ::2, 2::4, 1] >> np.uint8(4))
    return packed


@dataclass(frozen=True, slots=True)
class Category:
    """A number of the vector that is the code of a category, not an amount."""

    place: int
    """Index of the number in the vector."""
    largest: int
    """Largest code: the number is an integer in 0..largest, divided by ``largest``."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Scaling of a Discrete or MultiDiscrete observation to numbers in 0..1."""

    starts: tuple[int, ...]
    largest: tuple[int, ...]
    """Largest value of each after its start is subtracted; at least 1."""

    def scaled(self, numbers: NDArray[Any]) -> NDArray[np.float32]:
        """Return integers (n, ...) as float32 (n, size)."""
        flat = numbers.reshape(len(numbers), -1)
        return np.asarray((flat - np.asarray(self.starts)) / np.asarray(self.largest), np.float32)


@dataclass(frozen=True, slots=True)
class ObservationLayout:
    """Columns stored of an observation space: shapes without the batch, empty for a missing column."""

    screen_shape: tuple[int, ...]
    """Shape of the packed screen: (height, bytes) or (frames, height, bytes)."""
    screen_is_rgb: bool
    vector_keys: tuple[str, ...]
    vector_size: int
    has_mask: bool
    num_actions: int
    learner: str
    """Name of the learner that reads them, for messages."""
    categories: tuple[Category, ...] = ()
    """The vector's numbers that are categories."""
    counted: Mapping[str, Counted] = field(default_factory=dict)
    """Scaling of the vector's keys that are Discrete or MultiDiscrete."""
    planes_key: str = ""
    """Key of the observation that is a map of bits, a :class:`pkmncli.api.BitPlanes`; empty if there is none."""
    planes_shape: tuple[int, ...] = ()
    """Rows and columns of the map."""
    planes_type: str = "uint16"
    """Type of the map's numbers."""
    planes: tuple[str, ...] = ()
    """Names of the bits, from the lowest one."""

    @property
    def columns(self) -> dict[str, tuple[tuple[int, ...], type[np.generic]]]:
        """Shape and type of each stored column."""
        kept: dict[str, tuple[tuple[int, ...], type[np.generic]]] = {}
        if self.screen_shape:
            kept[SCREEN] = (self.screen_shape, np.uint8)
        if self.planes:
            kept[PLANES] = (self.planes_shape, np.dtype(self.planes_type).type)
        if self.vector_size:
            kept[VECTOR] = ((self.vector_size,), np.float32)
        kept[MASK] = ((self.num_actions,), np.uint8)
        return kept

    def encode(self, observations: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Convert a batch of observations, arrays (n, ...), into columns. Arrays are shared if possible."""
        columns: dict[str, NDArray[Any]] = {}
        size = 0
        if self.screen_shape:
            screen = np.asarray(observations[SCREEN])
            columns[SCREEN] = pack_screen(screen) if self.screen_is_rgb else screen
            size = len(screen)
        if self.planes:
            columns[PLANES] = np.asarray(observations[self.planes_key])
            size = len(columns[PLANES])
        if self.vector_size:
            parts = [self._vector_part(key, observations[key]) for key in self.vector_keys]
            columns[VECTOR] = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
            size = len(parts[0])
        if self.has_mask:
            columns[MASK] = np.asarray(observations[MASK]).astype(np.uint8, copy=False)
        else:
            columns[MASK] = np.ones((size, self.num_actions), np.uint8)
        return columns

    def _vector_part(self, key: str, observed: NDArray[Any]) -> NDArray[np.float32]:
        if key in self.counted:
            return self.counted[key].scaled(np.asarray(observed))
        part = np.asarray(observed, np.float32)
        return part.reshape(len(part), -1)


def layout_of(
    observation_space: gymnasium.Space[Any], action_space: gymnasium.Space[Any], learner: str
) -> ObservationLayout:
    """Return the layout of the columns stored of an environment's observations.

    Args:
        observation_space: a Dict of ``screen``, ``action_mask``, a map of bits and vectors, each optional.
            Discrete and MultiDiscrete numbers count as vectors.
        action_space: Discrete, from 0.
        learner: name of the learner that reads them, for messages.

    Raises:
        ConfigurationError: the learner cannot use a part of the space, or actions are not numbered from 0.
    """
    if not isinstance(action_space, gymnasium.spaces.Discrete) or action_space.start != 0:
        raise ConfigurationError(f"{learner} needs a Discrete action space from 0, not {action_space}.")
    if not isinstance(observation_space, gymnasium.spaces.Dict):
        raise ConfigurationError(f"{learner} needs a Dict observation space, not {observation_space}.")
    num_actions = int(action_space.n)
    screen_shape: tuple[int, ...] = ()
    screen_is_rgb = False
    vector_keys: list[str] = []
    vector_size = 0
    categories: list[Category] = []
    counted: dict[str, Counted] = {}
    planes_key, planes = "", None
    for key, space in observation_space.spaces.items():
        shape = space.shape or ()
        if key == MASK and shape == (num_actions,):
            continue
        if key == SCREEN and space.dtype == np.uint8 and len(shape) == 3 and shape[2] == 3:
            if shape[0] % 2 or shape[1] % 4:
                raise ConfigurationError(f"{learner} needs a screen of even height and a width of fours, not {shape}.")
            screen_shape, screen_is_rgb = (shape[0] // 2, shape[1] // 4), True
        elif key == SCREEN and space.dtype == np.uint8 and len(shape) in (2, 3):
            screen_shape = shape
        elif isinstance(space, BitPlanes):
            if planes is not None:
                raise ConfigurationError(f"{learner} reads one map of bits, not both {planes_key!r} and {key!r}.")
            planes_key, planes = key, space
        elif isinstance(space, gymnasium.spaces.Box) and len(shape) in (1, 2):
            if isinstance(space, ScaledBox):
                categories += [Category(vector_size + place, largest) for place, largest in space.categories]
            vector_keys.append(key)
            vector_size += math.prod(shape)
        elif isinstance(space, gymnasium.spaces.Discrete | gymnasium.spaces.MultiDiscrete):
            counted[key] = found = _counted(space)
            categories += [Category(vector_size + place, largest) for place, largest in enumerate(found.largest)]
            vector_keys.append(key)
            vector_size += len(found.largest)
        else:
            raise ConfigurationError(
                f"{learner} cannot learn from the observation {key!r} of {space}: it takes 'screen' (packed uint8, or "
                f"RGB), 'action_mask' of {num_actions}, one BitPlanes, vectors of numbers, Discrete and MultiDiscrete."
            )
    if not screen_shape and not vector_size and planes is None:
        raise ConfigurationError(
            f"{learner} needs an observation with a screen, a map of bits or a vector; this environment gives none."
        )
    has_mask = MASK in observation_space.spaces
    return ObservationLayout(
        screen_shape,
        screen_is_rgb,
        tuple(vector_keys),
        vector_size,
        has_mask,
        num_actions,
        learner,
        tuple(categories),
        counted,
        planes_key,
        () if planes is None else planes.shape or (),
        "uint16" if planes is None else str(planes.dtype),
        () if planes is None else planes.planes,
    )


def _counted(space: gymnasium.spaces.Discrete | gymnasium.spaces.MultiDiscrete) -> Counted:
    if isinstance(space, gymnasium.spaces.Discrete):
        starts, counts = [int(space.start)], [int(space.n)]
    else:
        starts, counts = space.start.ravel().tolist(), space.nvec.ravel().tolist()
    return Counted(tuple(starts), tuple(max(1, count - 1) for count in counts))
