"""State variables of an observation: 25 numbers of a state, with names and units."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkmn_pyboy.rules_gen2.slots import MONEY_MOST, SPECIES_COUNT
from pkmn_pyboy.rules_gen2.types import BEST_FACTOR
from pkmn_pyboy.state.game_state import PHASE_NAMES, GameState


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
CATEGORIES = {place: int(one.scale) for place, one in enumerate(STATE_VARIABLES) if one.is_category}
"""Highest value of each category, by its place."""
_PACK_STATE = struct.Struct(f"{STATE_SIZE}f").pack_into
"""Write numbers directly into an array's memory, several times faster than assigning a tuple to it."""


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
