"""Numbers with their nouns, and shares in whole percents."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 episode``, ``2,000 episodes``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def whole_percents(parts: Sequence[float]) -> list[int]:
    """Return the share of each part in percent, in whole numbers that add up to 100; zeros if there is nothing.

    The shares are rounded down, and the largest remainders are rounded up until the sum is 100.
    """
    total = sum(parts)
    exact = [100 * part / total if total else 0.0 for part in parts]
    found = [int(share) for share in exact]
    missing = 100 - sum(found) if total else 0
    for index in sorted(range(len(parts)), key=lambda index: found[index] - exact[index])[:missing]:
        found[index] += 1
    return found
