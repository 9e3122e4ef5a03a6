"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 episode``, ``2,000 episodes``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
