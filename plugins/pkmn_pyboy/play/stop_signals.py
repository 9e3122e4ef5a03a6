"""Signals that ask for the end of a game, noticed instead of raised: PyBoy's frames let no exception through."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any, Self

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class StopSignals:
    """While it is entered, a signal sets :attr:`number`, and nothing else happens."""

    def __init__(self) -> None:
        self.number = 0
        """The first signal that came, 0 for none."""
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
        self._before = {number: signal.signal(number, self._notice) for number in numbers}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _notice(self, number: int, _frame: FrameType | None) -> None:
        self.number = self.number or number
