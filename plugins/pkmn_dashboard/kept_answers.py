"""Answers about a run's tables that serve everyone who asks the same within some seconds, asked for one at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

REST = 40
"""How many times as long as an answer took it serves at least: long runs are asked about less often."""

MOST_KEPT_ANSWERS = 200

Answer = TypeVar("Answer")


class KeptAnswers:
    """Answers about the tables in a folder. Methods may be called from several threads; one asks while others wait."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._kept: dict[Any, tuple[float, int, Any]] = {}
        """Until when each answer serves whatever is written, how old its table was, and the answer."""

    def kept(self, table: str, question: Any, fresh_s: float, ask: Callable[[], Answer]) -> Answer:
        """The answer to a question about a table: an earlier one, while it is fresh or nothing was written since."""
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
        """When a file of the table last came or went."""
        try:
            return (self._folder / table).stat().st_mtime_ns
        except OSError:
            return 0
