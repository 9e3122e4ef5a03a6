"""A language model of Anthropic, through the official client: replies of a schema come as the input of a tool."""

from __future__ import annotations

import base64
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

import anthropic
import httpx2

from pkmn_anthropic.prices import ANTHROPIC_PRICES
from pkmn_anthropic.settings import AnthropicSettings
from pkmncli.api import LLMFailure, LLMFault, LLMReply, LLMRequest, Price
from pkmncli.errors import LLMConnectionError
from pkmncli.llm.transport import bound_client, checked_reply, failure_inside, failure_of_status, where_is

KEY = "ANTHROPIC_API_KEY"
CHECK_TIMEOUT_S = 15.0
TOOL = "reply"

T = TypeVar("T")


class AnthropicBackend:
    """Asks Anthropic's service, or one with its interface.

    Args:
        settings: where and how.
        model: the model; without one the settings' default.
    """

    sees = True

    def __init__(self, settings: AnthropicSettings | None, model: str | None) -> None:
        self._settings = settings or AnthropicSettings()
        self._chosen = model is not None
        self.model = model or self._settings.default_model
        self._url = self._settings.base_url or os.environ.get("ANTHROPIC_BASE_URL") or ""
        self._where = where_is(self._url, "Anthropic")
        self._forces_tool = True
        self._lock = threading.Lock()
        self._made: anthropic.Anthropic | None = None

    @property
    def prices(self) -> Mapping[str, Price]:
        """Anthropic's own; another service has prices of its own."""
        return ANTHROPIC_PRICES if not self._url or urlsplit(self._url).hostname == "api.anthropic.com" else {}

    def check(self) -> str:
        """Lists the models, which tells whether key and model are right."""
        if not any(os.environ.get(name, "").strip() for name in (KEY, "ANTHROPIC_AUTH_TOKEN")):
            raise LLMConnectionError(f"No key for {self._where}: set the environment variable {KEY}")
        try:
            known = self._list()
        except LLMFailure as failure:
            if failure.fault in (LLMFault.NO_MODEL, LLMFault.REFUSED):
                return f"Advice: {self.model} at {self._where}."  # a service that lists no models
            hint = f"Check the key in {KEY}" if failure.fault is LLMFault.AUTHENTICATION else "Check the network"
            raise LLMConnectionError(f"{failure}. {hint}") from failure
        listed = any(name.startswith(self.model.removesuffix("-latest")) for name in known)  # names end in a date
        if known and not listed and not self._chosen:
            self.model = next((name for name in known if "haiku" in name), known[0])
        elif known and not listed:
            raise LLMConnectionError(
                f"{self._where} has no model {self.model!r}; it has {', '.join(known[:8])}: choose with --llm-model"
            )
        return f"Advice: {self.model} at {self._where}."

    def complete(self, request: LLMRequest) -> LLMReply:
        """Asks, with the schema as that of a tool which the model must use, or may where it can't be made to.

        The service takes neither temperature nor seed.
        """
        ends_at = time.monotonic() + request.timeout_s
        try:
            return self._ask(request, request.timeout_s)
        except _RefusedChoiceError:
            self._forces_tool = False
            return self._ask(request, max(ends_at - time.monotonic(), 0.001))

    def _ask(self, request: LLMRequest, timeout_s: float) -> LLMReply:
        began = time.perf_counter()
        options = self._options(request)
        message: Any = self._guarded(
            lambda client: client.messages.create(timeout=timeout_s, **options), request.timeout_s
        )
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

    def _options(self, request: LLMRequest) -> dict[str, Any]:
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
        if request.schema is not None and self._settings.use_schema:
            options["tools"] = [{"name": TOOL, "description": "Your answer.", "input_schema": dict(request.schema)}]
            options["tool_choice"] = {"type": "tool", "name": TOOL} if self._forces_tool else {"type": "auto"}
        return options

    def models(self) -> list[str]:
        """The models that the service lists."""
        try:
            return self._list()
        except LLMFailure as failure:
            raise LLMConnectionError(str(failure)) from failure

    def close(self) -> None:
        """Closes the connections; what is under way ends with a fault."""
        if self._made is not None:
            self._made.close()

    def _list(self) -> list[str]:
        return self._guarded(
            lambda client: [str(one.id) for one in client.models.list(timeout=CHECK_TIMEOUT_S).data], CHECK_TIMEOUT_S
        )

    @property
    def _client(self) -> anthropic.Anthropic:
        with self._lock:
            if self._made is None:
                http_client = httpx2.Client(follow_redirects=True)
                bound_client(http_client, httpx2)
                self._made = anthropic.Anthropic(
                    api_key=os.environ.get(KEY, "").strip() or None,
                    base_url=self._url or None,
                    max_retries=0,
                    http_client=http_client,
                )
            return self._made

    def _guarded(self, call: Callable[[anthropic.Anthropic], T], timeout_s: float) -> T:
        """Runs a call of the client; every error of it becomes a failure."""
        where = self._where
        try:
            return call(self._client)
        except anthropic.APIStatusError as error:
            if error.status_code == 400 and "tool_choice" in error.response.text and self._forces_tool:
                raise _RefusedChoiceError from error
            raise failure_of_status(error.status_code, error.response.text, error.response.headers, where) from error
        except anthropic.APITimeoutError as error:
            raise LLMFailure(LLMFault.TIMEOUT, f"{where} did not answer within {timeout_s:.3g} s") from error
        except anthropic.APIConnectionError as error:
            cause = error.__cause__
            if isinstance(cause, httpx2.ReadError) and "longer than" in str(cause):
                raise LLMFailure(LLMFault.BROKEN, f"{where}: {cause}") from error
            if not isinstance(cause, httpx2.TransportError):  # redirected for ever, or packed
                raise LLMFailure(LLMFault.BROKEN, f"{where} answered what is no reply") from error
            raise LLMFailure(LLMFault.UNREACHABLE, f"{where} can't be reached") from error
        except (
            anthropic.AnthropicError,
            httpx2.HTTPError,
            ValueError,
            TypeError,
            AttributeError,
            RuntimeError,
        ) as error:
            raise LLMFailure(LLMFault.BROKEN, f"{where} answered what is no reply") from error


class _RefusedChoiceError(Exception):
    """The model, which may be thinking, can't be made to use a tool."""
