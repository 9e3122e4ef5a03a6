"""Limit of what is written for people and trackers where episodes end faster than anybody can follow."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

PER_SECOND: Final = 20
"""Lines of the log, and calls of a tracker, in a second of a long time."""
AT_ONCE: Final = 100
"""The same after a quiet time: so the limit changes nothing where many episodes end together, but rarely."""


class RateLimit:
    """Limit of :data:`PER_SECOND` events in a second, and :data:`AT_ONCE` after a quiet time: a token bucket.

    Args:
        clock: returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._filled_at = clock()
        self._remaining = float(AT_ONCE)
        """Events that may pass now; it grows with the time."""

    def passes(self) -> bool:
        """Return whether an event may pass now, and count it if it may."""
        now = self._clock()
        self._remaining = min(self._remaining + (now - self._filled_at) * PER_SECOND, AT_ONCE)
        self._filled_at = now
        if self._remaining < 1:
            return False
        self._remaining -= 1
        return True
