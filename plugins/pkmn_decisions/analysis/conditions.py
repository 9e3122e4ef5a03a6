"""Conditions on decisions, as users write them (``map=New Bark Town``, ``health<0.5``), turned into SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pkmn_decisions.store.names import Names
from pkmncli.errors import DecisionValidationError, did_you_mean

NUMBER_KEYS: Mapping[str, str] = {
    "map": "map_id",
    "x": "x",
    "y": "y",
    "phase": "phase",
    "battle": "battle",
    "opponent": "opponent",
    "health": "health",
    "milestones": "milestones",
    "action": "action",
    "source": "source",
    "confidence": "confidence",
    "reward": "reward",
    "environment": "environment",
    "episode": "episode",
    "step": "step",
    "global_step": "global_step",
    "frames": "frames",
    "previous": "previous_1",
    "state_hash": "coarse_hash",
    "outcome": "outcome",
    "alternative": "alternative",
    "value": "value",
    "alternative_value": "alternative_value",
}
"""Keys with numbers, or names if they have them, and their SQL."""

TEXT_KEYS: Mapping[str, str] = {"reason": "reason", "model": "model", "run": "run"}
"""Keys with text. ``~`` finds a part of it."""

OPERATORS = ("<=", ">=", "!=", "=", "<", ">", "~")

_WRITTEN = re.compile(r"\s*(\w+)\s*(<=|>=|!=|==|=|<|>|~)\s*(.*?)\s*", re.DOTALL)
_PREFIXED = re.compile(r"\s*(<=|>=|!=|==|=|<|>|~)\s*(.*?)\s*", re.DOTALL)
_MAP_NUMBER = re.compile(r"(\d+)\.(\d+)")
_KINDS = {"previous": "action", "alternative": "action"}
"""Keys that share another key's value names."""

_YES_NO = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True, slots=True)
class Condition:
    """Condition on a key. ``values`` are alternatives when the operator is ``=``."""

    key: str
    operator: str
    values: tuple[int | float | str, ...]

    def sql(self) -> tuple[str, list[int | float | str]]:
        """Return the condition as SQL with ``?`` for each of the parameters returned with it."""
        expression = NUMBER_KEYS.get(self.key) or TEXT_KEYS[self.key]
        if self.operator == "~":
            return f"contains(lower({expression}), lower(?))", [*self.values]
        if len(self.values) != 1:
            return f"{expression} IN ({', '.join('?' * len(self.values))})", [*self.values]
        return f"{expression} {self.operator} ?", [*self.values]


def where(conditions: Iterable[Condition]) -> tuple[str, list[int | float | str]]:
    """Return SQL that is true if all conditions are, and its parameters."""
    parts = [condition.sql() for condition in conditions]
    parameters = [parameter for _, values in parts for parameter in values]
    return " AND ".join(f"({text})" for text, _ in parts) or "true", parameters


def parse_conditions(texts: Iterable[str], names: Names) -> list[Condition]:
    """Parse conditions written as key, operator and value, such as ``action!=none``.

    Raises:
        DecisionValidationError: a condition is not of this form, or its key or value is unknown.
    """
    conditions = []
    for text in texts:
        match = _WRITTEN.fullmatch(text)
        if not match:
            raise DecisionValidationError(
                f"Condition {text!r} is not of the form key=value; operators are {' '.join(OPERATORS)}."
            )
        conditions.append(_condition(match[1], match[2], [match[3]], names))
    return conditions


def parse_filter(context_filter: Mapping[str, Any], names: Names) -> list[Condition]:
    """Parse a dictionary of conditions.

    Args:
        context_filter: key -> a number or name, a list of them (any may match), or a text that begins with an
            operator, such as ``"<0.5"``.
        names: names of maps, species and phases.

    Raises:
        DecisionValidationError: a key or value is unknown.
    """
    conditions = []
    for key, value in context_filter.items():
        match = _PREFIXED.fullmatch(value) if isinstance(value, str) else None
        if match:
            conditions.append(_condition(key, match[1], [match[2]], names))
        else:
            values = list(value) if isinstance(value, (list, tuple, set, frozenset, range)) else [value]
            conditions.append(_condition(key, "=", values, names))
    return conditions


def _condition(key: str, operator: str, values: list[Any], names: Names) -> Condition:
    operator = "=" if operator == "==" else operator
    if key in TEXT_KEYS:
        return Condition(key, operator, tuple(str(value) for value in values))
    if key not in NUMBER_KEYS:
        known = [*NUMBER_KEYS, *TEXT_KEYS]
        hint = did_you_mean(key, known, f"known are {', '.join(known)}.", shown="{}")
        raise DecisionValidationError(f"Unknown context {key!r}: {hint}")
    if operator == "~":
        raise DecisionValidationError(f"Context {key!r} is a number: ~ is for {', '.join(TEXT_KEYS)}.")
    if key == "battle" and operator in ("=", "!=") and len(values) == 1:
        wanted = values[0] if isinstance(values[0], bool) else _YES_NO.get(str(values[0]).casefold())
        if wanted is not None:
            return Condition(key, ">" if wanted == (operator == "=") else "=", (0,))
    return Condition(key, operator, tuple(_number(key, value, names) for value in values))


def _number(key: str, value: Any, names: Names) -> int | float:
    if isinstance(value, (int, float)):
        return value
    text = str(value).strip()
    match = _MAP_NUMBER.fullmatch(text) if key == "map" else None
    if match:
        return int(match[1]) * 256 + int(match[2])
    kind = _KINDS.get(key, key)
    named = names.number(kind, text)
    if named is not None:
        return named
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise DecisionValidationError(_unknown_value(key, text, names)) from None


def _unknown_value(key: str, text: str, names: Names) -> str:
    known = list(names.kinds.get(_KINDS.get(key, key), {}).values())
    if not known:
        example = " such as 24.4" if key == "map" else ""
        return f"Context {key}: {text!r} is not a number{example}, and the run has no names for it."
    near = get_close_matches(text.title(), known, 1, 0.7) or get_close_matches(text.lower(), known, 1, 0.7)
    if near:
        return f"Context {key}: {text!r} is unknown; did you mean {near[0]!r}?"
    few = f" Known are {', '.join(known)}." if len(known) <= 12 else ""
    return f"Context {key}: {text!r} is unknown.{few}"
