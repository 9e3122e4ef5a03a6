"""Dimensions that distinguish situations, and their SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pkmn_decisions.store.names import Names
from pkmncli.errors import DecisionValidationError

DIMENSIONS: dict[str, tuple[str, ...]] = {
    "map": ("map_id",),
    "tile": ("x", "y"),
    "phase": ("phase",),
    "battle": ("battle",),
    "opponent": ("opponent",),
    "milestones": ("milestones",),
    "previous": ("previous_1",),
    "source": ("source",),
}
"""Dimension -> its SQL expressions."""

DEFAULT_DIMENSIONS = ("map", "phase", "battle")

_NAMED = ("map", "phase", "battle", "opponent", "previous", "source")


def situation(by: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the parts of a situation, and the SQL of each. A tile has two, ``x`` and ``y``, and adds its map.

    Raises:
        DecisionValidationError: a dimension is unknown, or there is none.
    """
    unknown = [name for name in by if name not in DIMENSIONS]
    if unknown or not by:
        raise DecisionValidationError(
            f"Situations can be distinguished by {', '.join(DIMENSIONS)}, not by {', '.join(unknown) or 'nothing'}."
        )
    wanted = [name for name in DIMENSIONS if name in by or (name == "map" and "tile" in by)]
    keys = [key for name in wanted for key in (("x", "y") if name == "tile" else (name,))]
    return keys, [expression for name in wanted for expression in DIMENSIONS[name]]


def with_names(parts: Mapping[str, int], names: Names) -> dict[str, Any]:
    """Return a situation's numbers, each followed by its name if it has one."""
    named: dict[str, Any] = {}
    for key, number in parts.items():
        named[key] = number
        if key in _NAMED:
            named[f"{key}_name"] = names.of(key, number)
    return named


def in_words(parts: Mapping[str, int], names: Names) -> str:
    """Return a situation in a few words, such as ``Fern Trail, free`` or ``Thorn Lodge (4, 7), battle``."""
    words = []
    if "map" in parts and has_maps(parts["map"], names):
        tile = f" ({parts['x']}, {parts['y']})" if "x" in parts else ""
        words.append(names.of("map", parts["map"]) + tile)
    if "phase" in parts:
        words.append(phase_in_words(parts["phase"], names))
    if parts.get("battle"):
        words.append(f"{names.of('battle', parts['battle'])} battle")
    if parts.get("opponent"):
        words.append(f"against {names.of('opponent', parts['opponent'])}")
    if "milestones" in parts:
        words.append(f"{parts['milestones']} milestones reached")
    if "previous" in parts:
        words.append(f"after {names.of('previous', parts['previous'])}")
    if "source" in parts:
        words.append(f"decided by {names.of('source', parts['source'])}")
    return ", ".join(words)


def has_maps(map_id: int, names: Names) -> bool:
    """Return False for the map 0 without a name: the environment has no maps."""
    return bool(map_id) or 0 in names.kinds.get("map", {})


def phase_in_words(number: int, names: Names) -> str:
    """Return a phase's name, or ``phase`` with its number."""
    name = names.of("phase", number)
    return f"phase {name}" if name.isdecimal() else name
