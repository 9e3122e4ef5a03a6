"""Cache of replies on disk, by all that they depend on, so that a run can be repeated without a server."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from contextlib import ExitStack
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pkmncli.api import LLMReply, LLMRequest
from pkmncli.api.data_text import parse_json
from pkmncli.errors import RunError

BUSY_TIMEOUT_S = 30.0
_VERSION = 1


class CacheUse(StrEnum):
    """Use of the cache."""

    OFF = "off"
    READ = "read"
    """Replies are read from it; none are added."""
    READWRITE = "readwrite"
    ONLY = "only"
    """Replies come from the cache alone; the model is not asked."""

    @property
    def reads(self) -> bool:
        """True if replies are read from the cache."""
        return self is not CacheUse.OFF

    @property
    def writes(self) -> bool:
        """True if replies are added to the cache."""
        return self is CacheUse.READWRITE


def cache_key(backend: str, model: str, request: LLMRequest) -> str:
    """Return a hash over all that the reply depends on; the timeout is not part of it."""
    values = asdict(request)
    del values["timeout_s"]
    values["images"] = [hashlib.sha256(image).hexdigest() for image in request.images]
    text = json.dumps([_VERSION, backend, model, values], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


class ReplyCache:
    """SQLite file of replies, safe for several threads and processes.

    Args:
        path: the file; created if it does not exist.
        read_only: True to write nothing, and not to create the file.

    Raises:
        RunError: the file cannot be opened, or is not such a cache.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._lock = threading.Lock()
        where = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
        try:
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(where, uri=True, timeout=BUSY_TIMEOUT_S, check_same_thread=False)
            with ExitStack() as unless_usable:
                unless_usable.callback(self._database.close)
                if read_only:
                    self._database.execute("SELECT key FROM replies LIMIT 1")
                else:
                    self._database.execute("PRAGMA journal_mode = WAL")
                    self._database.execute("PRAGMA synchronous = NORMAL")
                    with self._database:
                        self._database.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT)")
                unless_usable.pop_all()
        except (sqlite3.Error, OSError) as error:
            raise RunError(
                f"The cache of replies {path} can't be used ({error}): name another with --llm-cache-path"
            ) from error

    def get(self, key: str) -> LLMReply | None:
        """Return the reply of a key; None if there is none, or it is damaged."""
        with self._lock:
            try:
                row = self._database.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
            except sqlite3.Error:  # locked for too long, or closed since the run ended
                return None
        if row is None:
            return None
        try:
            values: dict[str, Any] = parse_json(row[0])
            reply = LLMReply(**values)
        except (ValueError, TypeError):
            return None
        return reply if all(isinstance(one, str) for one in (reply.text, reply.model, reply.problem)) else None

    def put(self, key: str, reply: LLMReply) -> None:
        """Add a reply, unless its key has one. Errors of the disk are ignored."""
        text = json.dumps(asdict(reply), ensure_ascii=True)
        with self._lock:
            try:
                with self._database:
                    self._database.execute("INSERT OR IGNORE INTO replies VALUES (?, ?)", (key, text))
            except sqlite3.Error:
                return

    def remember_model(self, backend: str, model: str) -> None:
        """Add the name of the model that a backend has chosen."""
        self.put(f"model of {backend}", LLMReply("", model))

    def remembered_model(self, backend: str) -> str:
        """Return the model that a backend chose when the cache was written; empty if unknown."""
        kept = self.get(f"model of {backend}")
        return kept.model if kept is not None else ""

    def __len__(self) -> int:
        with self._lock:
            return int(self._database.execute("SELECT count(*) FROM replies").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
