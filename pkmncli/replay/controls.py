"""Pace of what a viewer sees, and the viewer's keys: pause, speed, end."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from pkmncli.api.environments import DEFAULT_RENDER_FPS

LOOK_S = 0.05
"""Maximum time in which nothing looks for keys and signals."""
SPEED_STEP = 2.0
"""Factor by which a key changes the speed."""
SLOWEST, FASTEST = 0.1, 100.0


class Controls:
    """Waiting for the next step, with keys.

    Args:
        frames_per_second: steps per second at the real console's speed; None for the default.
        speed: multiple of it.
        read: returns the characters that are typed within so many seconds.
        interrupted: returns true to stop.
    """

    def __init__(
        self,
        frames_per_second: float | None,
        speed: float,
        read: Callable[[float], str],
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        self._rate = frames_per_second or DEFAULT_RENDER_FPS
        self._read = read
        self._interrupted = interrupted
        self._due = time.monotonic()
        self.speed = speed
        self.paused = False
        self.ended = False

    @property
    def line(self) -> str:
        """The keys in words, with what they change."""
        return f"space: {'go on' if self.paused else 'pause'}   + -: speed, now {self.speed:g}x   q: quit"

    def wait(self, redraw: Callable[[], None]) -> bool:
        """Wait until the next step is due, as fast as this machine can. Return False if the viewer ends the show.

        Args:
            redraw: called when a key has changed :attr:`line`.

        Raises:
            KeyboardInterrupt: it was interrupted.
        """
        seconds = 1 / (self._rate * self.speed)
        self._due = max(self._due + seconds, time.monotonic() - seconds)
        while True:
            if self._interrupted():
                raise KeyboardInterrupt
            left = max(self._due - time.monotonic(), 0.0)
            before = self.line
            for key in self._read(LOOK_S if self.paused else min(left, LOOK_S)):
                self._press(key)
            if self.ended:
                return False
            if self.line != before:
                redraw()
            if not self.paused and time.monotonic() >= self._due:
                return True

    def _press(self, key: str) -> None:
        if key in "qQ":
            self.ended = True
        elif key == " ":
            self.paused = not self.paused
            self._due = time.monotonic()
        elif key in "+=-":
            factor = 1 / SPEED_STEP if key == "-" else SPEED_STEP
            self.speed = min(max(self.speed * factor, SLOWEST), FASTEST)
            self._due = time.monotonic()


class TerminalKeys:
    """Keys typed in the terminal, as a context manager; none where standard input is no terminal.

    Single keys come at once and are not shown. Ctrl-C still interrupts; Ctrl-Z would leave the picture behind.
    """

    def __init__(self) -> None:
        self._descriptor: int | None = None
        self._before: list[Any] = []

    def __enter__(self) -> TerminalKeys:
        with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):
            import termios  # noqa: PLC0415 - Windows has none
            import tty  # noqa: PLC0415

            descriptor = sys.stdin.fileno()
            if os.isatty(descriptor) and os.tcgetpgrp(descriptor) == os.getpgrp():
                self._before = termios.tcgetattr(descriptor)
                tty.setcbreak(descriptor, termios.TCSANOW)
                mode = termios.tcgetattr(descriptor)
                mode[6][termios.VSUSP] = b"\0"
                termios.tcsetattr(descriptor, termios.TCSANOW, mode)
                self._descriptor = descriptor
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            import termios  # noqa: PLC0415

            with contextlib.suppress(termios.error):  # the terminal is gone
                termios.tcsetattr(self._descriptor, termios.TCSAFLUSH, self._before)
            self._descriptor = None

    @property
    def available(self) -> bool:
        """True if keys can be typed."""
        return self._descriptor is not None

    def read(self, seconds: float) -> str:
        """Return the characters that are typed within so many seconds; ``q`` if the terminal is gone."""
        if self._descriptor is None:
            time.sleep(seconds)
            return ""
        if not select.select([self._descriptor], [], [], seconds)[0]:
            return ""
        try:
            typed = os.read(self._descriptor, 64)
        except OSError:
            typed = b""
        return typed.decode("latin-1") or "q"
