"""Table of a report for people, and the format of figures in its cells."""

from __future__ import annotations

from dataclasses import dataclass

MARK = "*"
"""Mark of a difference that is more than chance."""


@dataclass(frozen=True, slots=True)
class SectionTable:
    """Table for people."""

    title: str
    note: str
    headings: list[str]
    rows: list[list[str]]
    nothing: str
    """Text to show if there are no rows."""


def share(value: float | None) -> str:
    """Return a share as a whole percentage."""
    return "-" if value is None else f"{value:.0%}"


def interval(value: tuple[float, float] | None) -> str:
    """Return an interval of shares."""
    return "-" if value is None else f"{value[0] * 100:.0f}-{value[1]:.0%}"


def signed(value: float | None) -> str:
    """Return a mean of rewards, with its sign."""
    return "-" if value is None else f"{value:+.3f}"
