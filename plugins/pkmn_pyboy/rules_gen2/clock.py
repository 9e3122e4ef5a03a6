"""Times of day by the game's clock."""

from __future__ import annotations

TIMES = ("morning", "day", "night")
"""Times of day by number, as in wild tables."""

MORNING_FROM, DAY_FROM, NIGHT_FROM = 4, 10, 18
"""Hours at which the times of day begin."""

DAY = 1


def time_of_day(hour: int) -> int:
    """Return the time of day: 0 morning, 1 day, 2 night."""
    return 0 if MORNING_FROM <= hour < DAY_FROM else DAY if DAY_FROM <= hour < NIGHT_FROM else 2
