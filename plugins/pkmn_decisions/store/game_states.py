"""Conversion of a caller's game state into the columns of a decision."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from pkmn_decisions.store.schema import DECISIONS
from pkmncli.errors import DecisionValidationError

ALIASES: Mapping[str, tuple[str, ...]] = {
    "map_id": ("map_id", "map"),
    "x": ("x", "player_x", "x_coord"),
    "y": ("y", "player_y", "y_coord"),
    "phase": ("phase",),
    "battle": ("battle", "battle_kind", "battle_mode", "in_battle"),
    "opponent": ("opponent", "enemy_species"),
    "health": ("health", "party_health", "party_hp"),
    "milestones": ("milestones", "milestones_reached"),
}
"""Column -> names under which a state may hold its value. A map may also be ``map_group`` and ``map_number``."""


def state_variables(game_state: Any) -> dict[str, Any]:
    """Return the variables of a state: a dictionary, or an object with one as ``state_variables``.

    Raises:
        DecisionValidationError: it is neither.
    """
    variables = getattr(game_state, "state_variables", game_state)
    if not isinstance(variables, Mapping):
        raise DecisionValidationError(
            f"A game state must be a dictionary or have state_variables, and {type(game_state).__name__} is neither."
        )
    return {str(key): value for key, value in variables.items()}


def state_columns(variables: Mapping[str, Any]) -> dict[str, int | float]:
    """Return the columns of a decision that describe its situation; 0 for values that the state lacks."""
    found: dict[str, int | float] = {}
    for name, aliases in ALIASES.items():
        value = next((variables[alias] for alias in aliases if alias in variables), 0)
        column = DECISIONS.column(name)
        whole = column is not None and column.sql != "FLOAT"
        try:
            found[name] = int(value) if whole else float(value)
        except (TypeError, ValueError, OverflowError):
            found[name] = 0
    if not found["map_id"] and "map_group" in variables and "map_number" in variables:
        found["map_id"] = int(variables["map_group"]) * 256 + int(variables["map_number"])
    return found


def state_hash(variables: Mapping[str, Any]) -> int:
    """Return a 64-bit hash of a state's variables, the same in every process and for every order of the keys."""
    text = json.dumps(variables, sort_keys=True, default=repr)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
