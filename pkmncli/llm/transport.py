"""HTTP for backends: replies from what a service sent, statuses as faults, and clients that end in time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from pkmncli.api import LLMFailure, LLMFault, LLMReply
from pkmncli.api.data_text import parse_json
from pkmncli.llm.deadlines import bound_client, call_within
from pkmncli.outgoing_text import redact

_LONGEST_DETAIL = 160
_LONGEST_NAME = 200
_MOST_TOKENS = 100_000_000
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


def checked_reply(
    who: str,
    text: Any,
    model: Any,
    prompt_tokens: Any,
    completion_tokens: Any,
    *,
    latency_s: float,
    parsed: Any = None,
) -> LLMReply:
    """A reply from values that a service sent, whatever their types turn out to be.

    Args:
        who: what was asked, for people.
        text: of the reply; None counts as empty.
        model: its name.
        prompt_tokens: as counted by the service; what is no number counts as 0.
        completion_tokens: likewise.
        latency_s: seconds that it took.
        parsed: the reply as a value.

    Raises:
        LLMFailure: the text is none.
    """
    if text is not None and not isinstance(text, str):
        raise LLMFailure(LLMFault.BROKEN, f"{who} answered, but not with a text")
    return LLMReply(
        text=redact(_whole(text or "")),
        model=_whole(model)[:_LONGEST_NAME] if isinstance(model, str) else "",
        prompt_tokens=_count(prompt_tokens),
        completion_tokens=_count(completion_tokens),
        latency_s=latency_s,
        parsed=parsed,
    )


def _whole(text: str) -> str:
    """The text without halves of characters, which no file takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else 0


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


__all__ = ["ServiceAddress", "bound_client", "call_within", "checked_reply", "failure_of_status", "where_is"]
