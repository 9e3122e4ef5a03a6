"""The stored form of observations: columns of an observation space, and conversion of a batch into them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from pkmncli.api import BitPlanes, FlatActions, ScaledBox
from pkmncli.api.actions import MASK as MASK  # noqa: PLC0414 - learners name it beside the others
from pkmncli.api.spaces import array_at, array_members
from pkmncli.errors import ConfigurationError

SCREEN = "screen"
VECTOR = "vector"
PLANES = "planes"

Columns = Mapping[str, NDArray[Any]]
"""A batch of stored observations, each array (n, ...): ``screen`` uint8 packed, ``planes`` integers (n, rows,
columns) whose bits are channels, ``image.<key>`` uint8 (n, channels, height, width), ``vector`` float32 (n, d),
``action_mask`` uint8 (n, num_actions), 1 = allowed."""

SMALLEST_IMAGE = 20
"""Height and width from which an array of bytes counts as an image; smaller ones are numbers of the vector."""

MOST_CODES = 4096
"""Number of values up to which a Discrete number is read as that many inputs, of which one is 1."""


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
class Image:
    """Picture of bytes: its column, and the order of the environment's axes in it."""

    column: str
    shape: tuple[int, int, int]
    """Channels, height and width, as stored."""
    axes: tuple[int, ...]
    """Order of the environment's axes that puts channels first, then height and width; several frames before them."""


@dataclass(frozen=True, slots=True)
class Member:
    """Array of an observation, as the environment gives it."""

    shape: tuple[int, ...]
    dtype: str


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
    members: Mapping[str, Member] = field(default_factory=dict)
    """Arrays that are read, by key; keys of nested dictionaries are joined by dots."""
    images: Mapping[str, Image] = field(default_factory=dict)
    """Images, by key."""
    codes: tuple[Category, ...] = ()
    """The categories that are Discrete spaces: they name kinds and are never amounts."""
    low: tuple[float, ...] = ()
    """Lowest value of each control of a continuous action; empty if actions are numbers."""
    high: tuple[float, ...] = ()
    """Highest value of each control."""

    @property
    def dimensions(self) -> int:
        """Number of controls of a continuous action; 0 if actions are numbers."""
        return len(self.low)

    @property
    def middle(self) -> NDArray[np.float32]:
        """Middle between the bounds of each control, (dimensions,)."""
        return np.asarray(np.add(self.high, self.low) / 2, np.float32)

    @property
    def half_range(self) -> NDArray[np.float32]:
        """Half the distance between the bounds of each control, (dimensions,)."""
        return np.asarray(np.subtract(self.high, self.low) / 2, np.float32)

    @property
    def columns(self) -> dict[str, tuple[tuple[int, ...], type[np.generic]]]:
        """Shape and type of each stored column."""
        kept: dict[str, tuple[tuple[int, ...], type[np.generic]]] = {}
        if self.screen_shape:
            kept[SCREEN] = (self.screen_shape, np.uint8)
        if self.planes:
            kept[PLANES] = (self.planes_shape, np.dtype(self.planes_type).type)
        for image in self.images.values():
            kept[image.column] = (image.shape, np.uint8)
        if self.vector_size:
            kept[VECTOR] = ((self.vector_size,), np.float32)
        kept[MASK] = ((self.num_actions,), np.uint8)
        return kept

    def encode(self, observations: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """Convert a batch of observations, arrays (n, ...), into columns. Arrays are shared if possible.

        Arrays of nested dictionaries may be nested too, or under keys such as ``a.b``.
        """
        columns: dict[str, NDArray[Any]] = {}
        if self.screen_shape:
            screen = np.asarray(observations[SCREEN])
            columns[SCREEN] = pack_screen(screen) if self.screen_is_rgb else screen
        if self.planes:
            columns[PLANES] = np.asarray(array_at(observations, self.planes_key))
        for key, image in self.images.items():
            pixels = np.asarray(array_at(observations, key))
            columns[image.column] = pixels.transpose(0, *image.axes).reshape(len(pixels), *image.shape)
        if self.vector_size:
            parts = [self._vector_part(key, np.asarray(array_at(observations, key))) for key in self.vector_keys]
            columns[VECTOR] = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        if self.has_mask:
            columns[MASK] = np.asarray(observations[MASK]).astype(np.uint8, copy=False)
        else:
            size = len(next(iter(columns.values())))
            columns[MASK] = np.ones((size, self.num_actions), np.uint8)
        return columns

    def _vector_part(self, key: str, observed: NDArray[Any]) -> NDArray[np.float32]:
        if key in self.counted:
            return self.counted[key].scaled(observed)
        return observed.astype(np.float32, copy=False).reshape(len(observed), -1)


def layout_of(
    observation_space: gymnasium.Space[Any],
    action_space: gymnasium.Space[Any],
    learner: str,
    *,
    continuous: bool = False,
) -> ObservationLayout:
    """Return the layout of the columns stored of an environment's observations.

    Text is left out. A Box of bytes from 0 to 255 with at least :data:`SMALLEST_IMAGE` rows and columns is an image;
    any other Box, Discrete, MultiDiscrete and MultiBinary are numbers of the vector.

    Args:
        observation_space: a Dict, perhaps nested, of ``screen``, ``action_mask``, a map of bits, images and numbers,
            each optional.
        action_space: Discrete, from 0; or a Box of controls (dimensions,).
        learner: name of the learner that reads them, for messages.
        continuous: True if the learner can choose the actions of a Box.

    Raises:
        ConfigurationError: the learner cannot use a part of the space, or actions are not numbered from 0.
    """
    actions = _actions_of(action_space, learner, continuous)
    if not isinstance(observation_space, gymnasium.spaces.Dict):
        raise ConfigurationError(f"{learner} needs a Dict observation space, not {observation_space}.")
    num_actions = actions.count
    screen_shape: tuple[int, ...] = ()
    screen_is_rgb = False
    vector_keys: list[str] = []
    vector_size = 0
    categories: list[Category] = []
    codes: list[Category] = []
    counted: dict[str, Counted] = {}
    images: dict[str, Image] = {}
    planes_key, planes = "", None
    members: dict[str, Member] = {}
    for path, space in array_members(observation_space).items():
        key = ".".join(path)
        shape = space.shape or ()
        members[key] = Member(shape, str(space.dtype))
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
        elif isinstance(space, gymnasium.spaces.Box) and (image := _image(key, space)) is not None:
            images[key] = image
        elif isinstance(space, gymnasium.spaces.Box | gymnasium.spaces.MultiBinary):
            if isinstance(space, ScaledBox):
                categories += [Category(vector_size + place, largest) for place, largest in space.categories]
            vector_keys.append(key)
            vector_size += math.prod(shape)
        elif isinstance(space, gymnasium.spaces.Discrete | gymnasium.spaces.MultiDiscrete):
            counted[key] = found = _counted(space)
            kinds = [Category(vector_size + place, largest) for place, largest in enumerate(found.largest)]
            categories += kinds
            if isinstance(space, gymnasium.spaces.Discrete) and 2 < space.n <= MOST_CODES:
                codes += kinds
            vector_keys.append(key)
            vector_size += len(found.largest)
        else:
            raise ConfigurationError(
                f"{learner} cannot learn from the observation {key!r} of {space}: it takes Box, Discrete, "
                "MultiDiscrete, MultiBinary and dictionaries of them."
            )
    if not screen_shape and not vector_size and not images and planes is None:
        raise ConfigurationError(
            f"{learner} needs an observation with a screen, an image, a map of bits or numbers; this environment gives "
            "none."
        )
    return ObservationLayout(
        screen_shape,
        screen_is_rgb,
        tuple(vector_keys),
        vector_size,
        MASK in members,
        num_actions,
        learner,
        tuple(categories),
        counted,
        planes_key,
        () if planes is None else planes.shape or (),
        "uint16" if planes is None else str(planes.dtype),
        () if planes is None else planes.planes,
        members,
        images,
        tuple(codes),
        actions.low,
        actions.high,
    )


def _actions_of(space: gymnasium.Space[Any], learner: str, continuous: bool) -> FlatActions:
    is_box = continuous and isinstance(space, gymnasium.spaces.Box)
    if not is_box and (not isinstance(space, gymnasium.spaces.Discrete) or space.start != 0):
        raise ConfigurationError(f"{learner} needs a Discrete action space from 0, not {space}.")
    return FlatActions.of(space)


def _image(key: str, space: gymnasium.spaces.Box) -> Image | None:
    """Return the form of an image: (height, width), with channels first or last, and frames before; else None."""
    shape = space.shape
    if space.dtype != np.uint8 or space.low.any() or not (space.high == 255).all():
        return None
    if len(shape) == 2:
        axes: tuple[int, ...] = (1, 2)
    elif len(shape) == 3:
        axes = (3, 1, 2) if shape[2] <= shape[0] else (1, 2, 3)
    elif len(shape) == 4:
        axes = (1, 4, 2, 3) if shape[3] <= shape[1] else (1, 2, 3, 4)
    else:
        return None
    height, width = (shape[axis - 1] for axis in axes[-2:])
    if min(height, width) < SMALLEST_IMAGE:
        return None
    return Image(f"image.{key}", (math.prod(shape) // (height * width), height, width), axes)


def _counted(space: gymnasium.spaces.Discrete | gymnasium.spaces.MultiDiscrete) -> Counted:
    if isinstance(space, gymnasium.spaces.Discrete):
        starts, counts = [int(space.start)], [int(space.n)]
    else:
        starts, counts = space.start.ravel().tolist(), space.nvec.ravel().tolist()
    return Counted(tuple(starts), tuple(max(1, count - 1) for count in counts))
