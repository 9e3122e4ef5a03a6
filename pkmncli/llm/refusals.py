"""Refusals of services and models: a refused part of a request is left out or replaced from then on, and reported."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from pkmncli.api import LLMFailure, LLMFault, LLMReply, LLMRequest

SYSTEM = "system"
IMAGES = "images"

_REFUSES = re.compile(
    r"unsupported|(?:not|n't) (?:be )?(?:support|enabled|permitted|allowed|available|a valid|one of)|unrecogni[sz]ed"
    r"|unknown|unexpected|invalid|forbidden|failed to parse|wrong|deprecated|unavailable|can(?:no|')t be used|may not"
    r"|must\b|should be|instead|\bonly\b|no endpoints|extra inputs|incompatible",
    re.IGNORECASE | re.DOTALL,
)
"""Words of a message that refuses something, rather than only mentions it."""

_OF_ALL: Mapping[str, str] = {
    SYSTEM: r"\bsystem[ _-]*(?:role|message|prompt|instruction)|\broles?\b.{0,60}\bsystem\b|\bsystem\b.{0,40}\brole"
    r"|must alternate|\buser\W+(?:and |or )?\W*assistant|developer instruction",
    IMAGES: r"image_url|\bimages?\b|\bvision\b|multi-?modal",
}
"""Parts that are recognized by words alone, because they are not options."""

_AFTER: Mapping[str, str] = {"max_completion_tokens": "max_tokens"}
"""Options that a request has only after another was refused."""

_STATUSES = frozenset({400, 422})
_STATUSES_OF_ALL = frozenset({400, 404, 415, 422, 500, 501})
"""Templates without a system role cause server errors, and gateways find no provider that takes images."""

_SAID: Mapping[str, str] = {
    SYSTEM: "takes no system role: what stands there goes before each question instead",
    IMAGES: "takes no images: it is asked without the screen from now on",
    "max_tokens": "takes the length of a reply as max_completion_tokens",
    "enable_thinking=false": "must not think here: enable_thinking = false is sent from now on",
    "tool_choice": "can't be made to use a tool: it may from now on",
    "response_format": "takes no schema: it is asked without from now on (use_schema = false saves the first try)",
    "format": "takes no schema: it is asked without from now on (use_schema = false saves the first try)",
    "think": "knows no thinking: the setting think is left out from now on",
}


class StatusFailure(LLMFailure):
    """Failure with an HTTP status.

    Args:
        fault: kind of failure.
        text: message with the service.
        status: of the response.
        body: of the response.
        retry_after_s: seconds after which the service asks for a retry; None if it does not say.
    """

    def __init__(
        self, fault: LLMFault, text: str, *, status: int, body: str, retry_after_s: float | None = None
    ) -> None:
        super().__init__(fault, text, retry_after_s=retry_after_s)
        self.status = status
        self.body = body


class Refusals:
    """Parts of requests that one service has refused so far. Safe for several threads.

    Args:
        options: fields of a request that can be left out, each with a regular expression that recognizes it in a
            message.
        extra: further fields from the user's settings; they can be left out, too.
    """

    def __init__(self, options: Mapping[str, str], extra: Collection[str] = ()) -> None:
        own = {name: rf"\b{re.escape(name)}\b" for name in extra if name not in options}
        self._complaints = {
            name: re.compile(words, re.IGNORECASE | re.DOTALL) for name, words in {**options, **own, **_OF_ALL}.items()
        }
        self._refused: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    def complete(
        self,
        where: str,
        request: LLMRequest,
        ask: Callable[[LLMRequest, Collection[str]], LLMReply],
        tell: Callable[[str], None],
    ) -> LLMReply:
        """Return the reply to a request; ask again for each refused part, all within the request's time.

        Args:
            where: name of the service, for people.
            request: the request.
            ask: asks once, given the request with the rest of its time, and the names of refused parts.
            tell: receives a message for people, once for each refused part.

        Raises:
            LLMFailure: there is no reply.
        """
        ends_at = time.monotonic() + request.timeout_s
        while True:
            left = ends_at - time.monotonic()
            if left <= 0:
                raise LLMFailure(LLMFault.TIMEOUT, f"{where} did not answer within {request.timeout_s:g} s")
            refused = self._refused
            try:
                return ask(replace(_without(request, refused), timeout_s=left), refused)
            except StatusFailure as failure:
                name = self._complained_of(failure, request, refused)
                if not name:
                    raise
                if self._is_new(name):
                    tell(f"{where} {_SAID.get(name, f'refuses {name}: it is left out from now on')}.")

    def _is_new(self, name: str) -> bool:
        """Note a refused part. Return True if no other thread has noted it."""
        with self._lock:
            is_new = name not in self._refused
            self._refused |= {name}
            return is_new

    def _complained_of(self, failure: StatusFailure, request: LLMRequest, refused: Collection[str]) -> str:
        """Return the part of the request that a failure refuses; empty if it is none that can be left out."""
        if failure.fault is LLMFault.TOO_LONG or failure.status not in _STATUSES_OF_ALL:
            return ""
        message, named = _message(failure.body)
        absent = {SYSTEM: not request.system, IMAGES: not request.images}
        open_to = [
            name
            for name in self._complaints
            if name not in refused
            and not absent.get(name, False)
            and (name not in _AFTER or _AFTER[name] in refused)
            and (failure.status in _STATUSES or name in (SYSTEM, IMAGES))
        ]
        places = {name: match.start() for name in open_to if (match := self._complaints[name].search(message))}
        if not _REFUSES.search(message):
            places = {}
        if named:  # the service names the field, which may be one that cannot be left out
            field = re.split(r"[.\[]", named)[0]
            whole = [name for name in open_to if self._complaints[name].fullmatch(field)]
            parts = [name for name in places if name.startswith(f"{field}=")]
            parts += [name for name in places if field == "messages" and name in (SYSTEM, IMAGES)]
            return next(iter([*parts, *whole]), "")
        return min(places, key=lambda name: places[name], default="")  # the first one that the message has


def _without(request: LLMRequest, refused: Collection[str]) -> LLMRequest:
    if SYSTEM in refused and request.system:
        request = replace(request, system="", prompt=f"{request.system}\n\n{request.prompt}")
    return replace(request, images=()) if IMAGES in refused else request


def _message(body: str) -> tuple[str, str]:
    """Return the message in an error's body, and the field that it names; the whole body if it has no message."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        return body, ""
    named = ""
    while isinstance(value, Mapping):
        if isinstance(value.get("param"), str):
            named = value["param"]
        inner = value.get("error", value.get("message"))
        if inner is None:
            return body, named
        value = inner
    return (value if isinstance(value, str) and value else body), named
