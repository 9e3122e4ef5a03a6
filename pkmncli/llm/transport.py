"""HTTP for backends: a whole reply within its time and size, and statuses as faults.

The clients of language model services bound the wait for each piece of a reply, not for the whole: one byte a second
would hold a request for ever. The hooks made here end it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from pkmncli.api import LLMFailure, LLMFault
from pkmncli.diagnostics import redact

MOST_BYTES = 2_000_000
"""Longest reply that is read: a thousand times what advice takes."""

_LONGEST_DETAIL = 160
_ENDS_AT = "pkmncli.ends_at"
_WITHOUT_TIMEOUT_S = 60.0
_FAULT_BY_STATUS = {
    401: LLMFault.AUTHENTICATION,
    402: LLMFault.AUTHENTICATION,
    403: LLMFault.AUTHENTICATION,
    404: LLMFault.NO_MODEL,
    408: LLMFault.TIMEOUT,
    413: LLMFault.TOO_LONG,
    429: LLMFault.OVERLOADED,
    503: LLMFault.OVERLOADED,
    504: LLMFault.TIMEOUT,
    529: LLMFault.OVERLOADED,
}
_TOO_LONG_WORDS = ("context length", "context size", "context_length", "too long", "maximum context", "exceed_context")


def bounding_hooks(httpx: ModuleType) -> dict[str, list[Callable[[Any], None]]]:
    """Event hooks for a client of ``httpx``, or of a library of its interface, that bound each reply in time and size.

    A request's read timeout counts for the whole reply. What passes a bound ends with ``ReadTimeout`` or ``ReadError``.
    """

    class BoundedStream(httpx.SyncByteStream):  # type: ignore[misc, name-defined]
        def __init__(self, stream: Any, request: Any) -> None:
            self._stream, self._request = stream, request

        def __iter__(self) -> Iterator[bytes]:
            size = 0
            for chunk in self._stream:
                size += len(chunk)
                if size > MOST_BYTES:
                    raise httpx.ReadError(f"the reply is longer than {MOST_BYTES:,} bytes", request=self._request)
                if time.monotonic() > self._request.extensions[_ENDS_AT]:
                    raise httpx.ReadTimeout("the reply did not end in time", request=self._request)
                yield chunk

        def close(self) -> None:
            self._stream.close()

    def begin(request: Any) -> None:
        seconds = request.extensions.get("timeout", {}).get("read")
        request.extensions[_ENDS_AT] = time.monotonic() + (_WITHOUT_TIMEOUT_S if seconds is None else seconds)

    def bound(response: Any) -> None:
        response.stream = BoundedStream(response.stream, response.request)

    return {"request": [begin], "response": [bound]}


def failure_of_status(status: int, body: str, headers: Mapping[str, str], who: str) -> LLMFailure:
    """The failure that an HTTP status stands for.

    Args:
        status: of the response.
        body: of the response; of it a short line is told, except where a key was refused.
        headers: of the response, for ``retry-after``.
        who: what was asked, for people.
    """
    fault = _FAULT_BY_STATUS.get(status, LLMFault.BROKEN if status >= 500 else LLMFault.REFUSED)
    if fault is LLMFault.REFUSED and any(words in body.lower() for words in _TOO_LONG_WORDS):
        fault = LLMFault.TOO_LONG
    detail = "" if fault is LLMFault.AUTHENTICATION else _detail(body)
    text = f"{who} answered {status}" + (f" ({detail})" if detail else "")
    return LLMFailure(fault, text, retry_after_s=_retry_after(headers))


def _detail(body: str) -> str:
    """The message in an error's body, on one line and short; nothing from a page meant for browsers."""
    text = body.strip()
    try:
        value = json.loads(text)
    except ValueError:
        if text.startswith("<"):
            return ""
    else:
        while isinstance(value, Mapping) and ("error" in value or "message" in value):
            value = value.get("error", value.get("message"))
        text = value if isinstance(value, str) else ""
    text = " ".join(redact(text).split())
    return text if len(text) <= _LONGEST_DETAIL else f"{text[:_LONGEST_DETAIL]}..."


def _retry_after(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after")
    try:
        seconds = float(value) if value is not None else -1.0
    except ValueError:  # a date: rare, and clocks differ
        return None
    return min(seconds, 600.0) if seconds >= 0 else None
