"""HTTP for backends: replies from what a service sent, statuses as faults, and clients that end in time."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from pkmncli.api import LLMFailure, LLMFault
from pkmncli.api.data_text import parse_json
from pkmncli.llm.contents import checked_reply
from pkmncli.llm.deadlines import bound_client, call_within
from pkmncli.outgoing_text import redact

_LONGEST_DETAIL = 160
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
_STATUS_BY_WORD = {
    **{"rate_limit": 429, "overloaded": 529, "unavailable": 503, "authentication": 401, "api_key": 401},
    **{"permission": 403, "quota": 402, "not_found": 404, "too_large": 413, "timeout": 504, "invalid_request": 400},
}
"""The status that an error's own word stands for, where it comes with another."""
_TOO_LONG_WORDS = ("context length", "context size", "context_length", "too long", "maximum context", "exceed_context")


def _without_secrets(address: str) -> str:
    if any(sign in address for sign in "@?#"):
        raise PydanticCustomError(
            "secret",
            "must be an address without name, password or query, since settings are written into the run; keys belong "
            "into the environment",
        )
    return address


ServiceAddress = Annotated[str, AfterValidator(_without_secrets)]
"""The type of a setting that holds a service's address. What could be a secret in it is refused, and not shown."""


def where_is(url: str, default: str) -> str:
    """A service's host and port for people, without a name and password in its address."""
    try:
        parts = urlsplit(url if "//" in url else f"//{url}")
        host, port = parts.hostname, parts.port
    except ValueError:  # no address; the client says so
        return default
    if not host:
        return default
    host = f"[{host}]" if ":" in host else host
    return host if port is None else f"{host}:{port}"


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


def failure_inside(who: str, body: Any, otherwise: str) -> LLMFailure:
    """The failure that a response without a reply stands for, though its status was 200.

    Args:
        who: what was asked, for people.
        body: of the response, or its error.
        otherwise: what to say where it tells nothing of an error.
    """
    values = body if isinstance(body, Mapping) else {"error": body}
    detail = _detail(json.dumps(values, default=str))
    error = values.get("error")
    error = error if isinstance(error, Mapping) else values
    kinds = " ".join(str(error.get(name, "")) for name in ("code", "status", "type")).lower()
    status = next((status for word, status in _STATUS_BY_WORD.items() if word in kinds), 500)
    if (number := re.search(r"\b[45]\d\d\b", kinds)) is not None:
        status = int(number[0])
    fault = failure_of_status(status, detail, {}, who).fault
    if fault is LLMFault.AUTHENTICATION or not detail:
        return LLMFailure(fault, f"{who} {otherwise}" if not detail else f"{who} answered an error")
    return LLMFailure(fault, f"{who} answered an error ({detail})")


def _detail(body: str) -> str:
    """The message in an error's body, on one line and short; nothing from a page meant for browsers."""
    text = body.strip()
    try:
        value = parse_json(text)
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


__all__ = [
    "ServiceAddress",
    "bound_client",
    "call_within",
    "checked_reply",
    "failure_inside",
    "failure_of_status",
    "where_is",
]
