"""Observation of an agent: the state variables, the screen as RGB or packed, the action mask, and the goal's parts.

To stack frames, use Gymnasium's wrapper ``gymnasium.wrappers.FrameStackObservation``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from pkmn_pyboy.goal_view.view import LOCAL_MAP, goal_spaces
from pkmn_pyboy.state.masks import ACTION_COUNT
from pkmn_pyboy.state.variables import CATEGORIES, STATE_SIZE
from pkmncli.api import ScaledBox

RGB_SHAPE = (144, 160, 3)
PACKED_SHAPE = (72, 40)
"""Shape of a packed screen: 72 rows of 80 pixels, two pixels in a byte."""


_PARTS = {
    "multi_modal": ("state_variables", "screen"),
    "screen": ("screen",),
    "state": ("state_variables",),
    "goal": ("goal", "local_map", "state_variables"),
    "goal_screen": ("goal", "local_map", "state_variables", "screen"),
}
"""Parts that are observed besides the mask, by the type."""


def observation_space(observation_type: str, *, packed: bool, local_map: bool = True) -> spaces.Dict:
    """Return the observation space: the action mask always, the other parts by the type.

    Args:
        observation_type: multi_modal, screen, state, goal or goal_screen.
        packed: True for screens packed to (72, 40) rather than RGB (144, 160, 3).
        local_map: False leaves that part out.
    """
    known: dict[str, spaces.Space[Any]] = {
        "state_variables": ScaledBox(STATE_SIZE, CATEGORIES),
        "screen": spaces.Box(0, 255, PACKED_SHAPE if packed else RGB_SHAPE, np.uint8),
        **goal_spaces(),
    }
    mask = spaces.Box(0, 1, (ACTION_COUNT,), np.int8)
    parts = [part for part in _PARTS[observation_type] if local_map or part != LOCAL_MAP]
    return spaces.Dict({"action_mask": mask, **{part: known[part] for part in parts}})


def pack_screen(rgba: NDArray[np.uint8], out: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
    """Pack a screen: every second pixel both ways, its green channel to 4 bits, two pixels a byte.

    Green carries most of the brightness, and taking one channel avoids a sum.

    Args:
        rgba: (144, 160, 4) uint8.
        out: (72, 40) uint8 to write into; a new array if None.

    Returns:
        (72, 40) uint8: the left pixel of each pair in the high four bits.
    """
    if out is None:
        out = np.empty(PACKED_SHAPE, dtype=np.uint8)
    np.right_shift(rgba[::2, 2::4, 1], 4, out=out)
    out |= rgba[::2, ::4, 1] & 0xF0
    return out


def copy_rgb(rgba: NDArray[np.uint8], out: NDArray[np.uint8]) -> None:
    """Copy a screen without its alpha channel, ten times faster than ``out[:] = rgba[:, :, :3]``.

    All four bytes of a pixel are written at the position of its three, in order, so the next pixel overwrites the alpha
    of the one before; the last pixel is written separately.

    Args:
        rgba: (144, 160, 4) uint8 without gaps.
        out: (144, 160, 3) uint8 without gaps.
    """
    pixels = rgba.view(np.uint32).reshape(-1)[:-1]
    overlapping: NDArray[np.uint32] = np.ndarray(pixels.shape, np.uint32, buffer=out.data, strides=(3,))
    overlapping[:] = pixels
    out[-1, -1] = rgba[-1, -1, :3]


def unpack_screens(packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Unpack a batch of screens to values of 0 to 15.

    In torch, on any device, the same is ``torch.stack((p >> 4, p & 15), dim=-1).flatten(-2)`` of a uint8 tensor ``p``;
    divide by 15 for 0..1.

    Args:
        packed: (..., 72, 40) uint8.

    Returns:
        (..., 72, 80) uint8.
    """
    pairs = np.stack((packed >> 4, packed & 0x0F), axis=-1)
    return pairs.reshape(*packed.shape[:-1], packed.shape[-1] * 2)
