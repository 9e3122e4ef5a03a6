"""Names and numbers that games are given, such as a scenario or the rounds."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable
from typing import Any


def known_name(what: str, name: str, known: Iterable[str]) -> str:
    """Return a name as it is known: in small letters, with hyphens. Raise ValueError with the nearest if it is unknown.

    Args:
        what: kind of the name, for the message.
        name: as it was given.
        known: all names.
    """
    names = list(known)
    plain = str(name).strip().lower().replace("_", "-").replace(" ", "-")
    if plain in names:
        return plain
    near = difflib.get_close_matches(plain, names, 1)
    guess = f"; did you mean '{near[0]}'?" if near else "."
    raise ValueError(f"there is no {what} '{name}'{guess} Known: {', '.join(names)}")


def whole_number(what: str, value: Any) -> int:
    """Return a whole number, of any library. Raise ValueError for another value."""
    try:
        return operator.index(value)
    except TypeError:
        raise ValueError(f"{what} must be a whole number: {value!r}") from None
