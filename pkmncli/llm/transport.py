"""HTTP for backends: addresses, and failures of services and connections as faults."""

from __future__ import annotations

import json
import os
import re
import ssl
from collections.abc import Awaitable, Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pkmncli.api import LLMFailure, LLMFault
from pkmncli.api.data_text import parse_json
from pkmncli.errors import LLMConnectionError
from pkmncli.llm.contents import checked_reply
from pkmncli.llm.deadlines import bounded_client, call_within, close_client, exchange
from pkmncli.llm.keys import InvalidKeyError, key_from
from pkmncli.llm.model_names import UNLISTED, check_unlisted, first_to_talk_to, is_listed, names_in, not_listed, some_of
from pkmncli.llm.proxy import THROUGH, is_this_machine, route_to, without_environment
from pkmncli.llm.refusals import Refusals, StatusFailure
from pkmncli.llm.service_settings import ServiceAddress, ServiceSettings
from pkmncli.outgoing_text import redact

T = TypeVar("T")

_LONGEST_DETAIL = 160
_PROXY_REFUSED = 407
_FAULT_BY_STATUS = {
    401: LLMFault.AUTHENTICATION,
    402: LLMFault.AUTHENTICATION,
    403: LLMFault.AUTHENTICATION,
    404: LLMFault.NO_MODEL,
    _PROXY_REFUSED: LLMFault.AUTHENTICATION,
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
"""HTTP status for the words in an error, if the response has another status."""
_TOO_LONG_WORDS = ("context length", "context size", "context_length", "too long", "maximum context", "exceed_context")
_LOADING = re.compile(r"\bload(?:ing|ed yet)|\bwarming up|\bcold start|\bstarting up", re.IGNORECASE)
_LOADING_STATUSES = frozenset({409, 425, 429, 500, 502, 503})
_NO_TALKER = re.compile(
    r"(?:not|n't) (?:a |support |supported (?:in|by) )*(?:the )?(?:v1/)?(?:chat|generat)|embedding model"
    r"|no chat template",
    re.IGNORECASE,
)
_VARIABLES_OF_CLIENTS = ("OPENAI_", "ANTHROPIC_", "OLLAMA_")
_PROXY_PASSWORD = "it wants a name and a password, as in HTTPS_PROXY=http://NAME:PASSWORD@HOST:PORT"
_MAY_BE_NO_TALKER = frozenset({LLMFault.REFUSED, LLMFault.NO_MODEL, LLMFault.BROKEN})
_NO_REPLY = (ValueError, TypeError, AttributeError, RuntimeError)
"""Errors that the clients raise for a response that they cannot read."""


def where_is(url: str, default: str) -> str:
    """Return a service's host and port for people, without name and password."""
    try:
        parts = urlsplit(url if "//" in url else f"//{url}")
        host, port = parts.hostname, parts.port
    except ValueError:  # invalid; the client reports it
        return default
    if not host:
        return default
    host = f"[{host}]" if ":" in host else host
    return host if port is None else f"{host}:{port}"


def check_address(url: str, what_to_do: str) -> None:
    """Check a service's address.

    Raises:
        LLMConnectionError: it is invalid. The message is ``what_to_do``; the address may have a password.
    """
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_one = False
    if not is_one:
        raise LLMConnectionError(what_to_do)


def failure_of_status(status: int, body: str, headers: Mapping[str, str], who: str) -> LLMFailure:
    """Return the failure for an HTTP status.

    Args:
        status: of the response.
        body: of the response; the message has a short line of it, unless a key was refused.
        headers: of the response, for ``retry-after``.
        who: name of the service, for people.
    """
    fault = _FAULT_BY_STATUS.get(status, LLMFault.BROKEN if status >= 500 else LLMFault.REFUSED)
    hint = ""
    if status in _LOADING_STATUSES and _LOADING.search(body) and not body.lstrip().startswith("<"):
        fault = LLMFault.LOADING
    elif fault is LLMFault.REFUSED and any(words in body.lower() for words in _TOO_LONG_WORDS):
        fault = LLMFault.TOO_LONG
    elif fault in _MAY_BE_NO_TALKER and _NO_TALKER.search(body):
        fault, hint = LLMFault.NO_MODEL, ": it is no model to talk to, choose another with --llm-model"
    detail = "" if fault is LLMFault.AUTHENTICATION else _detail(body)
    text = f"{who} answered {status}" + (f" ({detail})" if detail else "") + hint
    return StatusFailure(fault, text, status=status, body=body, retry_after_s=_retry_after(headers))


def lists_none(failure: LLMFailure) -> bool:
    """Return True if a service that failed to list its models may still answer questions."""
    if not isinstance(failure, StatusFailure):
        return False
    if failure.fault in (LLMFault.NO_MODEL, LLMFault.REFUSED, LLMFault.LOADING) or failure.status == 501:
        return True
    return failure.status == 403 and "scope" in failure.body.lower()  # a key that may only ask


def unreachable(where: str, error: BaseException) -> LLMFailure:
    """Return the failure for a connection that was not made, with a hint."""
    for one in _chain(error):
        if isinstance(one, ssl.SSLCertVerificationError):
            why = f"its certificate is not trusted ({one.verify_message}); SSL_CERT_FILE can name a file with it"
            return ExplainedFailure(LLMFault.UNREACHABLE, f"{where} can't be reached: {why}")
        kind = type(one).__name__  # the same in both HTTP libraries
        if isinstance(one, ssl.SSLError):
            plain = "WRONG_VERSION_NUMBER" in str(one) or "record layer" in str(one).lower()
            why = "it does not speak https there, so write http://" if plain else f"no encryption ({one.reason or one})"
            return ExplainedFailure(LLMFault.UNREACHABLE, f"{where} can't be reached: {why}")
        if kind == "ProxyError":
            why = f"the proxy answered {_detail(str(one))}" + (f"; {_PROXY_PASSWORD}" if "407" in str(one) else "")
            return ExplainedFailure(LLMFault.UNREACHABLE, f"{where} can't be reached: {why}")
        if kind == "LocalProtocolError" or isinstance(one, UnicodeEncodeError):
            which = ", ".join(name for name, value in os.environ.items() if _is_odd(name, value))
            why = f"{which or 'a header of the settings'} holds what no header may, such as a line break"
            return ExplainedFailure(LLMFault.AUTHENTICATION, f"{where} can't be asked: {why}")
    return LLMFailure(LLMFault.UNREACHABLE, f"{where} can't be reached")


def _is_odd(variable: str, value: str) -> bool:
    return variable.startswith(_VARIABLES_OF_CLIENTS) and not (value.isascii() and value.isprintable())


class ExplainedFailure(LLMFailure):
    """Failure whose message has a hint."""


def no_client(error: LLMConnectionError) -> LLMFailure:
    """Return the failure for a client that cannot be built."""
    fault = LLMFault.AUTHENTICATION if isinstance(error, InvalidKeyError) else LLMFault.UNREACHABLE
    return ExplainedFailure(fault, str(error))


def with_advice(failure: LLMFailure, advice: str) -> LLMConnectionError:
    """Return a failure as an error for people, with ``advice`` unless its message has a hint."""
    if isinstance(failure, ExplainedFailure):
        return LLMConnectionError(str(failure))
    if isinstance(failure, StatusFailure) and failure.status == _PROXY_REFUSED:
        advice = f"{_PROXY_PASSWORD[0].upper()}{_PROXY_PASSWORD[1:]}"
    elif failure.fault is LLMFault.UNREACHABLE and THROUGH in str(failure):
        advice = "Is the proxy there? NO_PROXY excepts a service, as does the setting proxy = none"
    return LLMConnectionError(f"{failure}. {advice}")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def through_client(
    call: Callable[[], Awaitable[T]], sdk: ModuleType, http: ModuleType, where: str, timeout_s: float
) -> T:
    """Return the result of a call of an official client; each of its errors becomes a failure.

    Args:
        call: returns the coroutine of a request.
        sdk: the client's library, ``openai`` or one generated alike.
        http: the HTTP library that it uses.
        where: name of the service, for people.
        timeout_s: seconds for the whole exchange.

    Raises:
        LLMFailure: the call failed.
    """
    try:
        return exchange(call, timeout_s)
    except LLMConnectionError as error:  # the client could not be built
        raise no_client(error) from error
    except sdk.APIStatusError as error:
        response = error.response
        raise failure_of_status(error.status_code, response.text, response.headers, where) from error
    except (TimeoutError, sdk.APITimeoutError) as error:
        raise LLMFailure(LLMFault.TIMEOUT, f"{where} did not answer within {timeout_s:.3g} s") from error
    except sdk.APIConnectionError as error:
        cause = error.__cause__
        if isinstance(cause, http.ReadError) and "longer than" in str(cause):
            raise LLMFailure(LLMFault.BROKEN, f"{where}: {cause}") from error
        if not isinstance(cause, (http.TransportError, UnicodeEncodeError)):  # endless redirects, or a compressed reply
            raise LLMFailure(LLMFault.BROKEN, f"{where} answered what is no reply") from error
        raise unreachable(where, error) from error
    except UnicodeEncodeError as error:
        raise unreachable(where, error) from error
    except (sdk.APIError, http.HTTPError, *_NO_REPLY) as error:
        raise LLMFailure(LLMFault.BROKEN, f"{where} answered what is no reply") from error


def failure_inside(who: str, body: Any, otherwise: str) -> LLMFailure:
    """Return the failure for a response without a reply, though its status was 200.

    Args:
        who: name of the service, for people.
        body: of the response, or its error.
        otherwise: message if the body has no error.
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
    """Return the message in an error's body, short and on one line; empty for an HTML page."""
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
    "UNLISTED",
    "Refusals",
    "ServiceAddress",
    "ServiceSettings",
    "StatusFailure",
    "bounded_client",
    "call_within",
    "check_address",
    "check_unlisted",
    "checked_reply",
    "close_client",
    "exchange",
    "failure_inside",
    "failure_of_status",
    "first_to_talk_to",
    "is_listed",
    "is_this_machine",
    "key_from",
    "lists_none",
    "names_in",
    "no_client",
    "not_listed",
    "route_to",
    "some_of",
    "through_client",
    "unreachable",
    "where_is",
    "with_advice",
    "without_environment",
]
