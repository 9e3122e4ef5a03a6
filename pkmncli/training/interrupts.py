"""Ctrl-C and SIGTERM while training: the first asks for an orderly end, the second ends at once.

Both often reach the whole group of processes. They are the parent's to handle: workers ignore them.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

from pkmncli.child_processes import SIGNALS
from pkmncli.diagnostics import say


class InterruptFlag:
    """While entered, turns the first signal into a flag that the training loop looks at between steps.

    In a thread other than the main one it stays down: Python lets only that one have signals.
    """

    def __init__(self, message: str = "") -> None:
        """``message`` is said at the first signal, since an orderly end may take a while."""
        self._message = message
        self.received: signal.Signals | None = None
        self.insisted = False
        """Whether a second signal came, which ends whatever is going on."""
        self._previous: dict[signal.Signals, Any] = {}

    def __bool__(self) -> bool:
        return self.received is not None

    @property
    def exit_code(self) -> int:
        """What a shell expects of a process that a signal ended."""
        return 128 + (self.received or signal.SIGINT)

    def __enter__(self) -> InterruptFlag:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._previous[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_exception: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self.received is not None:
            self.insisted = True
            raise KeyboardInterrupt
        self.received = signal.Signals(number)
        if self._message:
            say(self._message)
