"""Signals that ask for the end: the first one for an orderly end, the second one ends at once, whatever runs.

Ctrl-C, SIGTERM and SIGHUP often reach the whole group of processes. They are the parent's to handle: workers ignore
them.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from pkmncli.child_processes import SIGNALS
from pkmncli.diagnostics import say
from pkmncli.errors import EXIT_INTERRUPTED

SECONDS_TO_END = 1.5
"""Time that a second signal leaves for closing files, after which the process is ended."""

SECONDS_OF_A_REQUEST = 0.5
"""Time in which another SIGTERM is the same request to end."""

ENDS_WITH_INPUT = "PKMN_ENDS_WITH_INPUT"
"""Variable of a command whose standard input is a pipe from whoever began it, and ends with that."""

_NEVER_INSIST = tuple(getattr(signal, name) for name in ("SIGHUP", "SIGXCPU") if hasattr(signal, name))
"""Signals that also come again by themselves: a limit of processor time is signalled every second."""
_SHOW_CURSOR = b"\x1b[?25h"


class InterruptFlag:
    """While entered, turns the first signal into a flag that the training loop looks at between steps.

    A SIGHUP that is ignored, as with nohup, stays so. In a thread other than the main one the flag stays down: Python
    lets only that one have signals.
    """

    entered: InterruptFlag | None = None
    """Flag of this process that receives signals now."""

    def __init__(self, message: str = "") -> None:
        """Create a flag.

        Args:
            message: printed at the first signal, since an orderly end may take a while.
        """
        self._message = message
        self.received: signal.Signals | None = None
        self.insisted = False
        """True if a second signal came, which ends everything."""
        self.last_words: Callable[[], str] = lambda: ""
        """Returns the last message when the second signal ends the process."""
        self._requests = _Requests()
        self._previous: dict[signal.Signals, Any] = {}
        self._last_resort: _LastResort | None = None
        self._outer: InterruptFlag | None = None

    def __bool__(self) -> bool:
        return self.received is not None

    @property
    def exit_code(self) -> int:
        """Exit code that a shell expects of a process ended by a signal."""
        return 128 + (self.received or signal.SIGINT)

    def __enter__(self) -> InterruptFlag:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if number.name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN:
                    continue
                self._previous[number] = signal.signal(number, self._on_signal)
            self._last_resort = _LastResort(self)
            self._outer, InterruptFlag.entered = InterruptFlag.entered, self
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._last_resort is not None:
            InterruptFlag.entered = self._outer
            self._last_resort.close()
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._requests.insists(number) or (self.received is not None and number == signal.SIGINT):
            self.insisted = True
            if callable(handler := self._previous.get(signal.SIGINT)):
                handler(signal.SIGINT, frame)  # the command's own, which notes it
            raise KeyboardInterrupt
        self.ask(signal.Signals(number))

    def ask(self, number: signal.Signals) -> None:
        """Request an orderly end, unless that was done already."""
        if self.received is None:
            self.received = number
            if self._message:
                say(self._message)


class _Requests:
    """Requests for the end. One that arrives twice counts once: shells forward a hangup, timeout(1) a SIGTERM."""

    def __init__(self) -> None:
        self._first: float | None = None

    def insists(self, number: int) -> bool:
        """Return whether a signal that comes now is a second request to end."""
        now = time.monotonic()
        if self._first is None:
            self._first = now
            return False
        if number == signal.SIGTERM:
            return now - self._first > SECONDS_OF_A_REQUEST
        return number not in _NEVER_INSIST


class _LastResort:
    """A thread that ends the process when it is still there some time after a second signal.

    Python hands a signal to the main thread between two of its instructions: never, while that is in a call that does
    not return. This thread hears of it from the system itself.
    """

    def __init__(self, flag: InterruptFlag) -> None:
        self._flag = flag
        self._hears, self._is_told = socket.socketpair()
        self._is_told.setblocking(False)
        self._before = signal.set_wakeup_fd(self._is_told.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._listen, name="pkmn-last-resort", daemon=True).start()

    def close(self) -> None:
        """Stop listening: the process ended in good order."""
        signal.set_wakeup_fd(self._before)
        self._is_told.close()

    def _listen(self) -> None:
        requests, deadline = _Requests(), None
        with self._hears:
            while True:
                if deadline is not None:
                    self._hears.settimeout(max(deadline - time.monotonic(), 0.001))
                try:
                    heard = self._hears.recv(64)
                except TimeoutError:
                    break
                if not heard:  # closed
                    return
                insists = any(requests.insists(number) for number in heard if number in SIGNALS)
                if insists and deadline is None:
                    deadline = time.monotonic() + SECONDS_TO_END
        for child in multiprocessing.active_children():
            child.kill()
        _write_at_once(2, (self._flag.last_words() + "\n").encode(errors="replace"))
        if os.isatty(1):
            _write_at_once(1, _SHOW_CURSOR)
        os._exit(EXIT_INTERRUPTED)


def stop_with_whoever_began_this() -> None:
    """Have this command save and stop when the one that began it is gone, where that one asked for it.

    A pipe tells it at once on every system, also of a parent that was killed, and unlike the parent's number it can't
    be another's by then. A thread waits for its end: that takes no time from the others.
    """
    if os.environ.pop(ENDS_WITH_INPUT, None):
        threading.Thread(target=_stop_at_end_of_input, name="pkmn-parent", daemon=True).start()


def _stop_at_end_of_input() -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 1024):
            pass
    if InterruptFlag.entered is None:  # there is nothing to save yet, or any more
        os.kill(os.getpid(), signal.SIGTERM)
    else:  # no signal, which would be the second one where it was asked to save before
        InterruptFlag.entered.ask(signal.SIGTERM)


def _write_at_once(descriptor: int, text: bytes) -> None:
    """Write to a descriptor if it accepts data now, bypassing streams that may be blocked."""
    with contextlib.suppress(OSError, ValueError):
        if sys.platform == "win32" or select.select([], [descriptor], [], 0)[1]:
            os.write(descriptor, text)
