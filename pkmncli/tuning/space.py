"""The search space of a tuning: a range of numbers or a list of values for each setting."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from pkmncli.errors import ConfigurationError
from pkmncli.experiments.plan import as_text, check_names, settings_of

Value = bool | int | float | str
"""A value of a setting in a trial; lists are the text that ``--set`` reads."""

_KEYS = ("low", "high", "log", "step")
_NOT_SEARCHED = ("steps", "episodes")
"""Settings that would make trials incomparable."""


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from ``low`` to ``high``, both included. ``step`` is the distance of candidates; 0 for any number."""

    low: float
    high: float
    log: bool
    step: float
    whole: bool

    @property
    def corners(self) -> tuple[Value, ...]:
        """The ends, and a non-integer number between them unless all are integers."""
        if self.whole:
            return self.low, self.high
        if self.step:
            return self.low, self.high, self.low + self.step
        middle = (self.low + self.high) / 2
        if middle.is_integer():
            middle += min((self.high - self.low) / 4, 0.5)
        return self.low, self.high, middle

    def __str__(self) -> str:
        more = ", by magnitude" if self.log else f", by {self.step:g}" if self.step else ""
        return f"{self.low:g} to {self.high:g}{more}"


@dataclass(frozen=True, slots=True)
class Choice:
    """Values without an order."""

    values: tuple[Value, ...]

    @property
    def corners(self) -> tuple[Value, ...]:
        """All values."""
        return self.values

    def __str__(self) -> str:
        return " or ".join(as_text(value) for value in self.values)


Space = Mapping[str, Range | Choice]

MOST_COMBINATIONS = 100_000
"""Maximum combinations of a space that is searched for an untried one; in a larger one another sample is enough."""


def combinations(space: Space) -> list[dict[str, Value]] | None:
    """Return every combination of a space, or None if there are more than :data:`MOST_COMBINATIONS`."""
    columns: list[Sequence[Value]] = []
    count = 1
    for dimension in space.values():
        if isinstance(dimension, Choice):
            columns.append(dimension.values)
        elif dimension.whole or dimension.step:
            step = dimension.step or 1
            steps = int((dimension.high - dimension.low) / step + 1e-9)
            if steps >= MOST_COMBINATIONS:
                return None
            numbers = [dimension.low + index * step for index in range(steps + 1)]
            columns.append([int(number) for number in numbers] if dimension.whole else numbers)
        else:
            return None
        count *= len(columns[-1])
        if count > MOST_COMBINATIONS:
            return None
    return [dict(zip(space, values, strict=True)) for values in product(*columns)]


def key_of(values: Mapping[str, Value]) -> tuple[tuple[str, str], ...]:
    """Return the identity of a combination, independent of the rounding of its numbers."""
    return tuple(
        sorted((name, f"{value:.12g}" if isinstance(value, float) else repr(value)) for name, value in values.items())
    )


def read_space(table: Any) -> dict[str, Range | Choice]:
    """Return the space from a file's table.

    Raises:
        ConfigurationError: it is empty, or a range is not valid.
    """
    settings = settings_of(table, "[space]", lambda value: bool({"low", "high"} & value.keys()))
    if not settings:
        raise ConfigurationError('[space] is empty: name settings to search, as "dqn.n_step" = { low = 1, high = 8 }')
    for name in _NOT_SEARCHED:
        if name in settings:
            raise ConfigurationError(f"'{name}' in [space]: trials of different length cannot be compared")
    return {name: _dimension(name, given) for name, given in settings.items()}


def corners(space: Space) -> list[dict[str, Value]]:
    """Return a few points that cover the ends of all ranges and all choices, to check before the search begins."""
    count = max(len(dimension.corners) for dimension in space.values())
    return [
        {name: dimension.corners[number % len(dimension.corners)] for name, dimension in space.items()}
        for number in range(count)
    ]


def _dimension(name: str, given: Any) -> Range | Choice:
    if isinstance(given, list):
        values = tuple(value if isinstance(value, bool | int | float | str) else as_text(value) for value in given)
        if len(set(map(as_text, values))) < max(len(values), 2):
            raise ConfigurationError(f"'{name}' in [space]: list two values or more, each once")
        return Choice(values)
    if not isinstance(given, Mapping):
        raise ConfigurationError(
            f"'{name}' in [space] = {given!r}: write {{ low = ..., high = ... }} or a list of values"
        )
    check_names(given, _KEYS, f"key of '{name}' in [space]")
    low, high = (_number(name, given, key) for key in ("low", "high"))
    log, step = given.get("log", False), given.get("step", 0)
    if not isinstance(log, bool):
        raise ConfigurationError(f"'{name}' in [space]: log = {log!r} must be true or false")
    if low > high:
        raise ConfigurationError(f"'{name}' in [space]: low = {low!r} is above high = {high!r}")
    if low == high:
        raise ConfigurationError(f"'{name}' in [space]: low and high are both {low!r}; put it into [settings]")
    if log and low <= 0:
        raise ConfigurationError(f"'{name}' in [space]: with log = true, low must be above 0, not {low!r}")
    if "step" in given and (_number(name, given, "step") <= 0 or log):
        raise ConfigurationError(f"'{name}' in [space]: step must be above 0, and goes without log")
    return Range(low, high, log, step, all(isinstance(given.get(key, 0), int) for key in ("low", "high", "step")))


def _number(name: str, given: Mapping[str, Any], key: str) -> float:
    value = given.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ConfigurationError(
            f"'{name}' in [space]: {key} must be a number" + ("" if key in given else ", and is missing")
        )
    return value
