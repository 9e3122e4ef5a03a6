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
POLL_S = 0.01
"""Time between two looks at a keyboard that can only be polled, as on Windows."""
CTRL_C = "\x03"
WITHOUT_CHARACTER = ("\x00", "\xe0")
"""Marks that a code of a key follows, which has no character."""


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
        with contextlib.suppress(AttributeError, ValueError, OSError):
            descriptor = sys.stdin.fileno()
            if os.isatty(descriptor) and _in_foreground(descriptor):
                self._before = _give_single_keys(descriptor)
                self._descriptor = descriptor
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            _restore(self._descriptor, self._before)
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
        return _typed_within(self._descriptor, seconds)


def polled_keys(seconds: float, pressed: Callable[[], bool], take: Callable[[], str]) -> str:
    """Return the characters that are typed within so many seconds, of a keyboard that can only be polled.

    Args:
        seconds: maximum time to wait for the first character.
        pressed: returns True if a character can be taken.
        take: returns the next character. Keys without a character, such as arrows, give two: a mark and a code.

    Raises:
        KeyboardInterrupt: Ctrl-C was typed.
    """
    until = time.monotonic() + seconds
    while not pressed():
        left = until - time.monotonic()
        if left <= 0:
            return ""
        time.sleep(min(left, POLL_S))
    typed = ""
    while pressed():
        character = take()
        if character == CTRL_C:
            raise KeyboardInterrupt
        if character in WITHOUT_CHARACTER:
            take()
        else:
            typed += character
    return typed


if sys.platform == "win32":
    import msvcrt

    def _in_foreground(descriptor: int) -> bool:
        return True

    def _give_single_keys(descriptor: int) -> list[Any]:
        return []  # the console gives single keys to whoever asks for them

    def _restore(descriptor: int, before: list[Any]) -> None:
        pass

    def _typed_within(descriptor: int, seconds: float) -> str:
        return polled_keys(seconds, msvcrt.kbhit, msvcrt.getwch)

else:
    import termios
    import tty

    def _in_foreground(descriptor: int) -> bool:
        return os.tcgetpgrp(descriptor) == os.getpgrp()

    def _give_single_keys(descriptor: int) -> list[Any]:
        """Have single keys come at once and unseen. Return the mode of before."""
        before = termios.tcgetattr(descriptor)
        tty.setcbreak(descriptor, termios.TCSANOW)
        mode = termios.tcgetattr(descriptor)
        mode[6][termios.VSUSP] = b"\0"
        termios.tcsetattr(descriptor, termios.TCSANOW, mode)
        return before

    def _restore(descriptor: int, before: list[Any]) -> None:
        with contextlib.suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(descriptor, termios.TCSAFLUSH, before)

    def _typed_within(descriptor: int, seconds: float) -> str:
        if not select.select([descriptor], [], [], seconds)[0]:
            return ""
        try:
            typed = os.read(descriptor, 64)
        except OSError:
            typed = b""
        return typed.decode("latin-1") or "q"
