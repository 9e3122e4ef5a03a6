"""Cache of answers about a run's tables, shared by equal questions within some seconds, computed one at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

REST = 40
"""Minimum lifetime of an answer, in multiples of its computing time: slow questions are repeated less often."""

MOST_KEPT_ANSWERS = 200

Answer = TypeVar("Answer")


class KeptAnswers:
    """Cache of answers about the tables in a folder. Thread-safe: one thread computes while others wait."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._kept: dict[Any, tuple[float, int, Any]] = {}
        """Question -> end of its minimum lifetime, time of change of its table, and the answer."""

    def kept(self, table: str, question: Any, fresh_s: float, ask: Callable[[], Answer]) -> Answer:
        """Return the answer to a question about a table: the kept one while it is fresh or the table is unchanged."""
        key = (table, question)
        with self._lock:
            until, written, answer = self._kept.get(key, (-1e9, -1, None))
            began, now = time.monotonic(), self._written(table)
            if began > until and written != now:
                answer = ask()
                ended = time.monotonic()
                if len(self._kept) >= MOST_KEPT_ANSWERS:
                    self._kept.clear()
                self._kept[key] = (ended + max(fresh_s, REST * (ended - began)), now, answer)
            return answer  # type: ignore[no-any-return]

    def _written(self, table: str) -> int:
        """Return the time at which a file of the table last came or went."""
        try:
            return (self._folder / table).stat().st_mtime_ns
        except OSError:
            return 0
