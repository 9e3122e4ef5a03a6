"""Language model of Anthropic, through the official client: replies with a schema come as the input of a tool."""

from __future__ import annotations

import base64
import os
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, TypeVar

import anthropic
import httpx2

from pkmn_anthropic.prices import ANTHROPIC_PRICES
from pkmn_anthropic.settings import AnthropicSettings
from pkmncli.api import LLMFailure, LLMFault, LLMReply, LLMRequest, Price
from pkmncli.errors import LLMConnectionError
from pkmncli.llm.transport import (
    UNLISTED,
    Refusals,
    bounded_client,
    check_address,
    check_unlisted,
    checked_reply,
    close_client,
    failure_inside,
    first_to_talk_to,
    is_listed,
    key_from,
    lists_none,
    names_in,
    not_listed,
    route_to,
    through_client,
    where_is,
    with_advice,
)

KEY = "ANTHROPIC_API_KEY"
TOKEN = "ANTHROPIC_AUTH_TOKEN"
ANTHROPIC = "https://api.anthropic.com"
CHECK_TIMEOUT_S = 15.0
MOST_LISTED = 1000
TOOL = "reply"
_OPTIONS = {"tool_choice": r"\btool_choice\b", "tools": r"\btools?\b"}
"""Options that some models refuse, and the words of that error."""

T = TypeVar("T")


class AnthropicBackend:
    """Backend that asks Anthropic's service, or one with its interface.

    Args:
        settings: address and options.
        model: the model's name; the settings' default if empty.
    """

    sees = True

    def __init__(self, settings: AnthropicSettings | None, model: str | None) -> None:
        self._settings = settings or AnthropicSettings()
        self._chosen = model is not None
        self.model = model or self._settings.default_model
        self.tell: Callable[[str], None] = lambda text: None
        self._url = self._settings.base_url or os.environ.get("ANTHROPIC_BASE_URL", "").strip()
        self._where = where_is(self._url, "Anthropic")
        self._refusals = Refusals(_OPTIONS, self._settings.extra_fields)
        self._lock = threading.Lock()
        self._made: anthropic.AsyncAnthropic | None = None

    @property
    def prices(self) -> Mapping[str, Price]:
        """Anthropic's list prices; empty for another service."""
        return ANTHROPIC_PRICES if where_is(self._url or ANTHROPIC, "") == "api.anthropic.com" else {}

    def check(self) -> str:
        """List the models, which checks key and model."""
        self._check_address()
        if not any(map(key_from, (KEY, TOKEN))) and not self._settings.carries_key:
            raise LLMConnectionError(
                f"No key for {self._where}: set the environment variable {KEY}, or: pkmn llm keys set anthropic"
            )
        _ = self._client  # errors of the address or the key have their own messages
        try:
            known = self._list()
        except LLMFailure as failure:
            if not lists_none(failure):
                hint = f"Check the key in {KEY}" if failure.fault is LLMFault.AUTHENTICATION else "Check the network"
                raise with_advice(failure, hint) from failure
            known = None
        if not known:
            return f"Advice: {self.model} at {self._where}. {UNLISTED}"
        beginning = self.model.removesuffix("-latest")  # names end with a date
        listed = is_listed(self.model, known) or any(name.startswith(beginning) for name in known)
        if not listed and not self._chosen:
            small = (name for name in known if "haiku" in name)
            self.model = next(small, None) or first_to_talk_to(known) or known[0]
        elif not listed and self._settings.listed_only:
            refuse = not_listed(self._where, self.model, known)
            remark = check_unlisted(self._where, self.model, known, self.complete, refuse)
            return f"Advice: {self.model} at {self._where}. {remark}"
        return f"Advice: {self.model} at {self._where}."

    def complete(self, request: LLMRequest) -> LLMReply:
        """Ask, with the schema as that of a tool that the model must use, or may use if it cannot be forced.

        The service takes neither temperature nor seed.
        """
        return self._refusals.complete(self._where, request, self._ask, self.tell)

    def _ask(self, request: LLMRequest, refused: Collection[str]) -> LLMReply:
        began = time.perf_counter()
        options = self._options(request, refused)
        message: Any = self._guarded(lambda client: client.messages.create(**options), request.timeout_s)
        error = getattr(message, "error", None)
        if error:
            raise failure_inside(self._where, error, "answered an error")
        content = getattr(message, "content", None)
        if content is None:
            raise LLMFailure(LLMFault.BROKEN, f"{self._where} answered, but not with a message")
        usage = getattr(message, "usage", None)
        return checked_reply(
            self._where,
            content,
            getattr(message, "model", None) or self.model,
            getattr(usage, "input_tokens", 0),
            getattr(usage, "output_tokens", 0),
            latency_s=time.perf_counter() - began,
            ending=getattr(message, "stop_reason", None),
        )

    def _options(self, request: LLMRequest, refused: Collection[str]) -> dict[str, Any]:
        content: list[dict[str, Any]] = [
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(image).decode()},
            }
            for image in request.images
        ]
        content.append({"type": "text", "text": request.prompt})
        options: dict[str, Any] = {
            "model": self.model,
            "max_tokens": request.max_tokens,
            "messages": [{"role": "user", "content": content}],
        }
        if request.system:
            options["system"] = request.system
        if request.schema is not None and self._settings.use_schema and "tools" not in refused:
            options["tools"] = [{"name": TOOL, "description": "Your answer.", "input_schema": dict(request.schema)}]
            forced = "tool_choice" not in refused
            options["tool_choice"] = {"type": "tool", "name": TOOL} if forced else {"type": "auto"}
        extra = self._settings.extra_fields
        options["extra_body"] = {name: value for name, value in extra.items() if name not in refused}
        return options

    def models(self) -> list[str]:
        """Return the models that the service lists."""
        _ = self._client
        try:
            return self._list() or []
        except LLMFailure as failure:
            raise with_advice(failure, "Check the network") from failure

    def close(self) -> None:
        """Close the connections; open requests end with a fault."""
        if self._made is not None:
            close_client(self._made.close)

    def _list(self) -> list[str] | None:
        async def ask(client: anthropic.AsyncAnthropic) -> list[str] | None:
            listing = await client.models.with_raw_response.list(limit=MOST_LISTED)
            return names_in(listing.http_response.json())

        return self._guarded(ask, CHECK_TIMEOUT_S)

    def _check_address(self) -> None:
        check_address(
            self._url or ANTHROPIC, "The setting base_url (or ANTHROPIC_BASE_URL) is no address: write http://HOST"
        )

    @property
    def _client(self) -> anthropic.AsyncAnthropic:
        with self._lock:
            if self._made is None:
                self._check_address()
                key, token = key_from(KEY), key_from(TOKEN)
                route = route_to(self._url or ANTHROPIC, httpx2, proxy=self._settings.proxy)
                self._made = anthropic.AsyncAnthropic(
                    api_key=key or None,
                    auth_token=None if key else token or None,
                    base_url=self._url or None,
                    default_headers=self._settings.headers,
                    max_retries=0,
                    http_client=bounded_client(httpx2, **route.options),
                )
                self._where += route.via
                for remark in route.remarks:
                    self.tell(remark)
            return self._made

    def _guarded(self, call: Callable[[anthropic.AsyncAnthropic], Awaitable[T]], timeout_s: float) -> T:
        """Run a call of the client; every error of it becomes a failure."""
        return through_client(lambda: call(self._client), anthropic, httpx2, self._where, timeout_s)
