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
    drop: tuple[str, ...] | None = None
    """Headings of the columns that a narrow terminal leaves out, the first ones first; by default the last columns."""

    @property
    def order(self) -> tuple[str, ...]:
        """Headings of the columns that can be left out, the first ones first."""
        return tuple(reversed(self.headings[1:])) if self.drop is None else self.drop


def share(value: float | None) -> str:
    """Return a share as a whole percentage."""
    return "-" if value is None else f"{value:.0%}"


def interval(value: tuple[float, float] | None) -> str:
    """Return an interval of shares."""
    return "-" if value is None else f"{value[0] * 100:.0f}-{value[1]:.0%}"


def signed(value: float | None) -> str:
    """Return a mean of rewards, with its sign."""
    return "-" if value is None else f"{value:+.3f}"
