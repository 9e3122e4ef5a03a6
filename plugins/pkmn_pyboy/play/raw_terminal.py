"""Terminal as a display and a keyboard: single keys, a separate page, and everything restored at the end.

Output never blocks: through a separate descriptor, so that the shell's keeps its mode, whatever the terminal does not
take at once waits here. After each page the terminal is asked to answer (device status report). While answers to
several pages are missing it is still busy showing them, perhaps far away, and is left alone.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from pkmn_pyboy.play.keys import Key, KeyDecoder
from pkmncli.errors import ConfigurationError

_ESCAPE = "\x1b["
_ENTER = f"{_ESCAPE}?1049h{_ESCAPE}?25l{_ESCAPE}2J"
_LEAVE = f"{_ESCAPE}0m{_ESCAPE}?25h{_ESCAPE}?1049l"
_CLEAR = f"{_ESCAPE}0m{_ESCAPE}2J"
_ASK = f"{_ESCAPE}5n"

MOST_UNANSWERED = 3
ANSWER_TIMEOUT_S = 1.0
LEAVE_TIMEOUT_S = 0.5

_IS_SUPPORTED = sys.platform != "win32"


class RawTerminal:
    """Terminal that gives single keys and takes drawings, while it is entered: ``with RawTerminal() as terminal``.

    Args:
        keyboard: descriptor of the terminal that keys are read from.
        display: descriptor of the terminal that is drawn on.

    Raises:
        ConfigurationError: one of them is no terminal, or this system's terminals work in another way.
    """

    def __init__(self, keyboard: int = 0, display: int = 1) -> None:
        if not _IS_SUPPORTED:
            raise ConfigurationError("Playing in the terminal needs Linux or macOS: play in a window instead")
        for descriptor, name in ((keyboard, "standard input"), (display, "standard output")):
            if not os.isatty(descriptor):
                raise ConfigurationError(
                    f"The game can't be played in the terminal: {name} is no terminal. Run pkmn play in one "
                    "without a pipe, or where there is a display without --terminal"
                )
        self._keyboard = keyboard
        self._display = display
        self._own = display
        self._decoder = KeyDecoder()
        self._waiting = b""
        self._lines: list[str] = []
        self._size = os.terminal_size((0, 0))
        self._unanswered = 0
        self._answers = False
        self._asked_s = 0.0

    def __enter__(self) -> RawTerminal:
        self._before = _mode(self._keyboard)
        self._own = _open_again(self._display)
        try:
            _give_single_keys(self._keyboard)
            self._send(_ENTER)
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._leave()

    def size(self) -> os.terminal_size:
        """Return the present columns and rows."""
        try:
            size = os.get_terminal_size(self._display)
        except OSError:
            size = self._size
        # A terminal that never got its size says 0.
        return size if size.columns and size.lines else os.terminal_size((80, 24))

    def ready(self) -> bool:
        """Return True if the terminal has taken what was sent, so that another page can be sent."""
        if self._waiting:
            return False
        if self._unanswered < MOST_UNANSWERED or not self._answers:
            return True
        return time.monotonic() - self._asked_s > ANSWER_TIMEOUT_S

    def show(self, lines: Sequence[str], size: os.terminal_size) -> None:
        """Show a page made for a size. Only lines that differ from the previous page are sent."""
        text = []
        if size != self._size:
            self._size, self._lines = size, []
            text.append(_CLEAR)
        before = self._lines
        for row, line in enumerate(lines):
            if row >= len(before) or before[row] != line:
                text.append(f"{_ESCAPE}{row + 1};1H{_ESCAPE}0m{line}")
        text += [f"{_ESCAPE}{row + 1};1H{_ESCAPE}0m{_ESCAPE}K" for row in range(len(lines), len(before))]
        self._lines = list(lines)
        if text:
            self._send("".join([*text, _ASK]))
            self._unanswered += 1
            self._asked_s = time.monotonic()

    def keys(self, timeout_s: float) -> list[Key]:
        """Wait for keys, at most this long, and continue to send. If the terminal is gone, return QUIT."""
        writing = [self._own] if self._waiting else []
        readable, writable, _ = select.select([self._keyboard], writing, [], timeout_s)
        if writable:
            self._send("")
        if not readable:
            return []
        try:
            data = os.read(self._keyboard, 4096)
        except OSError:
            data = b""
        if not data:
            return [Key.QUIT]
        keys = self._decoder.feed(data)
        for _ in range(keys.count(Key.ANSWER)):
            self._answers = True
            self._unanswered = max(self._unanswered - 1, 0)
        return [key for key in keys if key is not Key.ANSWER]

    def _send(self, text: str) -> None:
        self._waiting += text.encode()
        try:
            while self._waiting:
                self._waiting = self._waiting[os.write(self._own, self._waiting) :]
        except BlockingIOError:
            return  # the rest is sent when the terminal takes it
        except OSError:
            self._waiting = b""  # the terminal went away, as reading its keys will tell

    def _leave(self) -> None:
        """Restore the terminal. Answers that are still to come are read: the shell would take them for typing."""
        self._waiting = b""
        end = time.monotonic() + LEAVE_TIMEOUT_S
        self._send(_LEAVE)
        while self._waiting or (self._answers and self._unanswered):
            remaining = end - time.monotonic()
            if remaining <= 0 or Key.QUIT in self.keys(remaining):
                break
        if self._own != self._display:
            os.close(self._own)
        # At once: a terminal that has stopped taking output must not hold up the end.
        _restore(self._keyboard, self._before)


if sys.platform == "win32":  # where no terminal of this kind is ever entered

    def _mode(keyboard: int) -> list[Any]:
        raise NotImplementedError

    def _give_single_keys(keyboard: int) -> None:
        raise NotImplementedError

    def _restore(keyboard: int, before: list[Any]) -> None:
        raise NotImplementedError

    def _open_again(display: int) -> int:
        raise NotImplementedError

else:
    import termios

    def _mode(keyboard: int) -> list[Any]:
        return termios.tcgetattr(keyboard)

    def _give_single_keys(keyboard: int) -> None:
        """Have single keys come unchanged, unseen. Ctrl-C still interrupts; Ctrl-Z would leave the picture behind."""
        mode = termios.tcgetattr(keyboard)
        mode[0] &= ~(termios.IXON | termios.ICRNL)
        mode[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
        for character, value in ((termios.VMIN, 1), (termios.VTIME, 0), (termios.VSUSP, 0), (termios.VQUIT, 0)):
            mode[6][character] = value if character in (termios.VMIN, termios.VTIME) else b"\0"
        termios.tcsetattr(keyboard, termios.TCSANOW, mode)

    def _restore(keyboard: int, before: list[Any]) -> None:
        """Restore the mode of before, and drop what was typed. Whatever goes wrong, the terminal is gone."""
        with contextlib.suppress(termios.error):
            termios.tcflush(keyboard, termios.TCIFLUSH)
        with contextlib.suppress(termios.error):
            termios.tcsetattr(keyboard, termios.TCSANOW, before)

    def _open_again(display: int) -> int:
        """Return a descriptor of the same terminal that does not block; the given one if that fails."""
        try:
            return os.open(os.ttyname(display), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError:
            return display
