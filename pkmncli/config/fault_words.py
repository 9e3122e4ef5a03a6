"""Words for the faults that pydantic finds in a value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pkmncli.config.sources import parse_text
from pkmncli.errors import did_you_mean, without_prefix

_LONGEST_EXAMPLE = 60
"""Maximum characters of a value that a message shows a second time, as it may be meant."""

_NUMBER = {
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "float_type": "a number",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "string_type": "text",
    "list_type": "a list in brackets",
    "tuple_type": "a list in brackets",
    "dict_type": "a table of keys and values",
    "path_type": "a path",
    "finite_number": "a finite number",
}
_LISTS = ("list_type", "tuple_type")
_BOUND = {
    "greater_than": ("gt", "greater than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
    "too_short": ("min_length", "of a length of at least"),
    "too_long": ("max_length", "of a length of at most"),
    "string_too_short": ("min_length", "of a length of at least"),
}
_MULTIPLES = {"": 1, "k": 1_000, "m": 1_000_000}
_ABOUT_A_NUMBER = re.compile(
    r"(?P<number>[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?(e[+]?\d{1,2})?)\s?(?P<multiple>[km]?)", re.IGNORECASE
)


def words_for(details: Mapping[str, Any]) -> str:
    """Return what a value must be: ``must be at least 1``.

    Args:
        details: one of the errors of a pydantic ``ValidationError``.
    """
    kind, context = details["type"], details.get("ctx", {})
    if kind in _NUMBER:
        return f"must be {_NUMBER[kind]}{_example(details)}"
    if kind in _BOUND:
        name, words = _BOUND[kind]
        return f"must be {words} {context[name]}"
    if kind in {"literal_error", "enum"}:
        hint = did_you_mean(str(details["input"]), _quoted(context["expected"]), lead="; ")
        return f"must be {context['expected']}{hint}"
    if kind == "missing":
        return "is needed"
    return " ".join(without_prefix(str(details["msg"])).split())


def _example(details: Mapping[str, Any]) -> str:
    """Return what the given value may be meant as: ``[64, 64]`` for ``64,64``, ``20000`` for ``20k``."""
    given = details["input"]
    if not isinstance(given, str) or len(given) > _LONGEST_EXAMPLE:
        return ""
    if details["type"] == "int_parsing":
        number = _as_whole_number(given)
        return "" if number is None else f"; did you mean {number}?"
    if details["type"] not in _LISTS or "," not in given:
        return ""
    items = [parse_text(part.strip()) for part in given.split(",")]
    return f", such as {json.dumps([item if isinstance(item, int | float | str) else str(item) for item in items])}"


def _as_whole_number(given: str) -> int | None:
    """Return the number that a text such as ``20k``, ``2e4`` or ``20,000`` may be meant as; None if it is none."""
    found = _ABOUT_A_NUMBER.fullmatch(given.strip())
    if found is None:
        return None
    number = float(found["number"].replace(",", "")) * _MULTIPLES[found["multiple"].lower()]
    return int(number) if number.is_integer() else None


def _quoted(expected: str) -> Iterable[str]:
    return [part for part in expected.split("'")[1::2] if part]
