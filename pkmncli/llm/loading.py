"""Time for answers while a model is being loaded: loading starts again if a request is cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

LONGEST_S = 3600.0
_MOST_DOUBLINGS = 2


@dataclass(slots=True)
class Loading:
    """More time for the first answer, and for an answer after a timeout. Safe for several threads.

    A server that loads a model on the first request stops loading when no request waits for it. So a request that may
    have to wait for the model has more time than others, and more again after each timeout.

    Args:
        limit_s: seconds for an answer until the first has come; None for the same time as any other.
        tell: receives a message for people, once, if an answer takes longer than others may.
    """

    limit_s: float | None = None
    tell: Callable[[str], None] = lambda text: None
    _loaded: bool = False
    _doublings: int = 0
    _told: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def time_for(self, timeout_s: float) -> float:
        """Return the seconds that an answer may take now, at least ``timeout_s``."""
        with self._lock:
            if self._loaded or self.limit_s is None:
                return timeout_s
            return max(timeout_s, min(self.limit_s * (1 << self._doublings), LONGEST_S))

    def answered(self) -> None:
        """Note that an answer has come: the model is loaded."""
        with self._lock:
            self._loaded, self._doublings = True, 0

    def late(self, time_s: float) -> None:
        """Note that no answer came in ``time_s``: the model may have been unloaded, or takes longer to load."""
        with self._lock:
            if not self._loaded and self.limit_s is not None and time_s >= self.limit_s:
                self._doublings = min(self._doublings + 1, _MOST_DOUBLINGS)
            self._loaded = False

    @contextmanager
    def watched(self, timeout_s: float, time_s: float) -> Iterator[None]:
        """Report, while waiting for an answer, that it takes longer than ``timeout_s``."""
        if time_s <= timeout_s or self._told:
            yield
            return
        timer = threading.Timer(timeout_s, self._tell, (timeout_s, time_s))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _tell(self, timeout_s: float, time_s: float) -> None:
        with self._lock:
            told, self._told = self._told, True
        if not told:
            self.tell(
                f"No answer within {timeout_s:g} s yet: the model may still be loading, for which it has {time_s:g} s "
                "(llm_load_timeout_s)."
            )
