"""Ratios from repeated pairs: the sides are measured in turn, so that noise affects both alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Measurement:
    """A ratio or quantity measured several times: median, least and most. ``budget`` is its target.

    ``at_least`` is True if the budget is a floor, False for a ceiling; None as budget compares nothing.
    """

    name: str
    value: float
    low: float
    high: float
    unit: str = "x"
    budget: float | None = None
    at_least: bool = True
    detail: str = ""

    @property
    def met(self) -> bool | None:
        """True if the budget is met; None without a budget."""
        if self.budget is None:
            return None
        return self.value >= self.budget if self.at_least else self.value <= self.budget

    def as_dict(self) -> dict[str, object]:
        """Return plain values, for JSON."""
        return {
            "name": self.name,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "unit": self.unit,
            "budget": self.budget,
            "at_least": self.at_least,
            "met": self.met,
            "detail": self.detail,
        }


def never() -> bool:
    """Return False: measure to the end."""
    return False


def measure_pairs(
    sides: Sequence[Callable[[], float]], pairs: int, stop: Callable[[], bool] = never
) -> list[list[float]]:
    """Measure every side once in each of ``pairs`` rounds, in reversed order in every other round.

    Return the measurements of each side, by round. Raise KeyboardInterrupt if ``stop`` is true between two
    measurements: within one, an emulator would swallow it.
    """
    results: list[list[float]] = [[] for _ in sides]
    for turn in range(pairs):
        order = range(len(sides)) if turn % 2 == 0 else reversed(range(len(sides)))
        for index in order:
            if stop():
                raise KeyboardInterrupt
            results[index].append(sides[index]())
    return results


def ratio(  # the arguments of a Measurement, and its data
    name: str,
    numerators: Sequence[float],
    denominators: Sequence[float],
    *,
    budget: float | None = None,
    at_least: bool = True,
    detail: str = "",
) -> Measurement:
    """Return the median of pairwise ratios."""
    ratios = sorted(n / d for n, d in zip(numerators, denominators, strict=True))
    return Measurement(name, median(ratios), ratios[0], ratios[-1], "x", budget, at_least, detail)


def quantity(
    name: str, values: Sequence[float], unit: str, *, budget: float | None = None, detail: str = ""
) -> Measurement:
    """Return the median of measured values; the budget is their maximum."""
    ordered = sorted(values)
    return Measurement(name, median(ordered), ordered[0], ordered[-1], unit, budget, at_least=False, detail=detail)
