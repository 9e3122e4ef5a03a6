"""The pace of the real console, kept without drift; time that was lost is not made up for."""

from __future__ import annotations

import time

FRAME_S = 70_224 / 4_194_304
"""A frame of a Game Boy: clock cycles over cycles a second, so 59.73 frames a second."""

MOST_BEHIND_S = 0.1


class FrameClock:
    """Says when the next frame is due."""

    def __init__(self) -> None:
        self._due = time.monotonic()

    def remaining_s(self) -> float:
        """Seconds until the next frame is due, 0 if it is late."""
        return max(self._due - time.monotonic(), 0.0)

    def late(self) -> bool:
        """Whether the next frame is due by more than a frame."""
        return time.monotonic() - self._due > FRAME_S

    def frame_passed(self) -> None:
        """A frame was played. Far behind, as after a pause of the whole machine, time begins anew."""
        self._due += FRAME_S
        now = time.monotonic()
        if now - self._due > MOST_BEHIND_S:
            self._due = now
