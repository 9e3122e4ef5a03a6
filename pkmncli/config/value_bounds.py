"""Bounds of every setting of a type, beside those of its model: numbers, truth values, texts and paths."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, get_args

from pydantic.fields import FieldInfo

LARGEST_NUMBER = 10**12
"""Maximum absolute value of a number whose setting has no bound."""


def fault_of_value(value: Any, field: FieldInfo) -> str:
    """Return the problem of a value that no setting of its type can have; empty if there is none.

    Args:
        value: the given TOML value, text or path.
        field: the setting.
    """
    kinds = set(_kinds(field.annotation))
    own = {
        name for item in field.metadata for name in ("le", "lt", "ge", "gt") if getattr(item, name, None) is not None
    }
    most = math.inf if own & {"le", "lt"} else LARGEST_NUMBER
    least = -math.inf if own & {"ge", "gt"} else -LARGEST_NUMBER
    return next((fault for one in _leaves(value) if (fault := _fault(one, kinds, least, most))), "")


def _fault(value: Any, kinds: set[Any], least: float, most: float) -> str:
    if isinstance(value, str | Path) and "\0" in str(value):
        return "holds a NUL character"
    if isinstance(value, str) and str not in kinds:
        value = _number(value)
    if isinstance(value, bool):
        if bool in kinds or kinds.isdisjoint({int, float}) or Any in kinds:
            return ""
        return f"must be {'a number' if float in kinds else 'a whole number'}, not {str(value).lower()}"
    if isinstance(value, int | float) and not kinds.isdisjoint({int, float}):
        if isinstance(value, float) and not math.isfinite(value):
            return "must be a finite number"
        if not least <= value <= most:
            return f"must be at most {most:,}" if value > most else f"must be at least {least:,}"
    return ""


def _number(text: str) -> float | str:
    """Return the number in a text, as a settings model reads it; the text if it is no number."""
    try:
        return float(text)
    except ValueError:
        return text


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list | tuple | set):
        for inner in value:
            yield from _leaves(inner)
    elif not isinstance(value, Enum):
        yield value


def _kinds(annotation: Any) -> Iterator[Any]:
    """Yield a setting's type and the types within it."""
    inner = [one for one in get_args(annotation) if isinstance(one, type) or get_args(one) or one is Any]
    yield annotation
    for one in inner:
        yield from _kinds(one)
