"""A table of a report for people, and how figures stand in its cells."""

from __future__ import annotations

from dataclasses import dataclass

MARK = "*"
"""Stands beside a difference that is more than chance."""


@dataclass(frozen=True, slots=True)
class SectionTable:
    """One table for people."""

    title: str
    note: str
    headings: list[str]
    rows: list[list[str]]
    nothing: str
    """What to say without rows."""


def share(value: float | None) -> str:
    """A share as a whole percentage."""
    return "-" if value is None else f"{value:.0%}"


def interval(value: tuple[float, float] | None) -> str:
    """An interval of shares."""
    return "-" if value is None else f"{value[0] * 100:.0f}-{value[1]:.0%}"


def signed(value: float | None) -> str:
    """A mean of rewards, with its sign."""
    return "-" if value is None else f"{value:+.3f}"
