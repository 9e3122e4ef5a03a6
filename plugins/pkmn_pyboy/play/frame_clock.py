"""Clock of the real console's frame rate, without drift; lost time is not made up for."""

from __future__ import annotations

import time

FRAME_S = 70_224 / 4_194_304
"""Seconds of a Game Boy's frame: clock cycles over cycles a second, so 59.73 frames a second."""

MOST_BEHIND_S = 0.1


class FrameClock:
    """Clock of the next frame."""

    def __init__(self) -> None:
        self._due = time.monotonic()

    def remaining_s(self) -> float:
        """Return the seconds until the next frame is due, 0 if it is late."""
        return max(self._due - time.monotonic(), 0.0)

    def late(self) -> bool:
        """Return True if the next frame is late by more than a frame."""
        return time.monotonic() - self._due > FRAME_S

    def frame_passed(self) -> None:
        """Count a frame. If the clock is far behind, as after a pause of the machine, it starts again."""
        self._due += FRAME_S
        now = time.monotonic()
        if now - self._due > MOST_BEHIND_S:
            self._due = now
