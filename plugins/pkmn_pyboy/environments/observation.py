"""Observation of an agent: 25 state variables, the screen as RGB or packed, the action mask, and the goal's parts.

To stack frames, use Gymnasium's wrapper ``gymnasium.wrappers.FrameStackObservation``.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from pkmn_pyboy.environments.masks import ACTION_COUNT
from pkmn_pyboy.goal_view.view import LOCAL_MAP, goal_spaces
from pkmn_pyboy.state.game_state import MONEY_MOST, PHASE_NAMES, SPECIES_COUNT, GameState
from pkmn_pyboy.state.type_chart import BEST_FACTOR
from pkmncli.api import ScaledBox

RGB_SHAPE = (144, 160, 3)
PACKED_SHAPE = (72, 40)
"""Shape of a packed screen: 72 rows of 80 pixels, two pixels in a byte."""


@dataclass(frozen=True, slots=True)
class StateVariable:
    """State variable. Its value is the quantity over ``scale``, limited to 0..1."""

    name: str
    unit: str
    scale: float
    meaning: str
    is_category: bool = False
    """True if it is a category, such as a map's number, and not an amount."""


STATE_VARIABLES: tuple[StateVariable, ...] = (
    StateVariable("map_group", "group", 32, "group of the map", is_category=True),
    StateVariable("map_number", "number", 128, "number of the map in its group", is_category=True),
    StateVariable("x", "tiles", 128, "column of the player's tile"),
    StateVariable("y", "tiles", 128, "row of the player's tile"),
    StateVariable("facing", "index", 3, "0 down, 1 up, 2 left, 3 right", is_category=True),
    StateVariable("movement", "code", 8, "0 on foot, 1 bicycle, 4 surfing", is_category=True),
    StateVariable("phase", "index", len(PHASE_NAMES) - 1, "kind of situation", is_category=True),
    StateVariable("party_size", "Pokemon", 6, "Pokemon in the party"),
    StateVariable("lead_level", "level", 100, "level of the first Pokemon"),
    StateVariable("lead_hp", "share", 1, "hit points of the first Pokemon over its most"),
    StateVariable("party_levels", "levels", 600, "sum of the party's levels"),
    StateVariable("party_hp", "share", 1, "hit points of the party over their most"),
    StateVariable("johto_badges", "badges", 8, "badges of Johto"),
    StateVariable("kanto_badges", "badges", 8, "badges of Kanto"),
    StateVariable("money", "log", math.log1p(MONEY_MOST), "logarithm of the money"),
    StateVariable("caught", "species", SPECIES_COUNT, "species caught"),
    StateVariable("seen", "species", SPECIES_COUNT, "species seen"),
    StateVariable("milestones", "share", 1, "milestones reached over all there are"),
    StateVariable("battle", "kind", 2, "0 none, 1 wild, 2 trainer", is_category=True),
    StateVariable("enemy_level", "level", 100, "level of the opponent"),
    StateVariable("enemy_hp", "share", 1, "hit points of the opponent over its most"),
    StateVariable("battler_hp", "share", 1, "hit points of the own Pokemon in battle over its most"),
    StateVariable("effectiveness", "factor", BEST_FACTOR, "best factor of an own move on the opponent's types"),
    StateVariable("balls", "balls", 20, "balls carried"),
    StateVariable("idle_steps", "steps", 1000, "steps since the last progress"),
)

STATE_SIZE = len(STATE_VARIABLES)
_SCALES = np.array([1 / variable.scale for variable in STATE_VARIABLES], dtype=np.float32)
_CATEGORIES = {place: int(one.scale) for place, one in enumerate(STATE_VARIABLES) if one.is_category}
_PACK_STATE = struct.Struct(f"{STATE_SIZE}f").pack_into
"""Write numbers directly into an array's memory, several times faster than assigning a tuple to it."""


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
        "state_variables": ScaledBox(STATE_SIZE, _CATEGORIES),
        "screen": spaces.Box(0, 255, PACKED_SHAPE if packed else RGB_SHAPE, np.uint8),
        **goal_spaces(),
    }
    mask = spaces.Box(0, 1, (ACTION_COUNT,), np.int8)
    parts = [part for part in _PARTS[observation_type] if local_map or part != LOCAL_MAP]
    return spaces.Dict({"action_mask": mask, **{part: known[part] for part in parts}})


def write_state_variables(
    out: NDArray[np.float32], state: GameState, milestone_total: int, steps_since_progress: int
) -> None:
    """Write the state variables of ``state`` into ``out``, (25,) float32 without gaps, each in 0..1."""
    party = state.party
    lead = party.lead
    battle = state.battle
    opponent = battle.opponent if battle is not None else None
    own = battle.own if battle is not None else None
    _PACK_STATE(
        out.data,
        0,
        state.map_group,
        state.map_number,
        state.x,
        state.y,
        state.facing,
        state.movement,
        state.phase,
        len(party.members),
        lead.level if lead is not None else 0,
        _share(lead.hp, lead.max_hp) if lead is not None else 0,
        party.level_sum,
        party.hp_share,
        state.johto_badges.bit_count(),
        state.kanto_badges.bit_count(),
        math.log1p(state.money),
        state.caught,
        state.seen,
        state.milestones / milestone_total if milestone_total else 0,
        battle.kind if battle is not None else 0,
        opponent.level if opponent is not None else 0,
        _share(opponent.hp, opponent.max_hp) if opponent is not None else 0,
        _share(own.hp, own.max_hp) if own is not None else 0,
        battle.best_effectiveness if battle is not None else 0,
        state.balls,
        steps_since_progress,
    )
    np.multiply(out, _SCALES, out=out)
    np.minimum(out, 1.0, out=out)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


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
