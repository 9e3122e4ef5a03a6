"""A language model of Anthropic, through the official client: replies of a schema come as the input of a tool."""

from __future__ import annotations

import base64
import os
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

import anthropic
import httpx2

from pkmn_anthropic.settings import AnthropicSettings
from pkmncli.api import LLMFailure, LLMFault, LLMReply, LLMRequest
from pkmncli.errors import LLMConnectionError
from pkmncli.llm.transport import bounding_hooks, failure_of_status

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
        self.model = model or self._settings.default_model
        self._url = self._settings.base_url or os.environ.get("ANTHROPIC_BASE_URL") or ""
        self._where = urlsplit(self._url).netloc or "Anthropic"
        self._no_temperature = False
        self._lock = threading.Lock()
        self._made: anthropic.Anthropic | None = None

    def check(self) -> str:
        """Lists the models, which tells whether key and model are right."""
        if not os.environ.get(KEY, "").strip():
            raise LLMConnectionError(f"No key for {self._where}: set the environment variable {KEY}")
        try:
            known = self._list()
        except LLMFailure as failure:
            if failure.fault in (LLMFault.NO_MODEL, LLMFault.REFUSED):
                return f"Advice: {self.model} at {self._where}."  # a service that lists no models
            hint = f"Check the key in {KEY}" if failure.fault is LLMFault.AUTHENTICATION else "Check the network"
            raise LLMConnectionError(f"{failure}. {hint}") from failure
        is_alias = self.model.endswith("-latest")
        if known and self.model not in known and not is_alias:
            raise LLMConnectionError(
                f"{self._where} has no model {self.model!r}; it has {', '.join(known[:8])}: choose with --llm-model"
            )
        return f"Advice: {self.model} at {self._where}."

    def complete(self, request: LLMRequest) -> LLMReply:
        """Asks, with the schema as that of a tool which the model must use."""
        began = time.perf_counter()
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
            "timeout": request.timeout_s,
        }
        if request.system:
            options["system"] = request.system
        if not self._no_temperature:
            options["temperature"] = min(request.temperature, 1.0)
        if request.schema is not None and self._settings.use_schema:
            options["tools"] = [{"name": TOOL, "description": "Your answer.", "input_schema": dict(request.schema)}]
            options["tool_choice"] = {"type": "tool", "name": TOOL}
        message: Any = self._guarded(lambda client: client.messages.create(**options), request.timeout_s)
        try:
            text = "".join(block.text for block in message.content if block.type == "text")
            parsed = next((block.input for block in message.content if block.type == "tool_use"), None)
            return LLMReply(
                text or ("" if parsed is None else str(parsed)),
                message.model or self.model,
                message.usage.input_tokens,
                message.usage.output_tokens,
                time.perf_counter() - began,
                parsed,
            )
        except (AttributeError, TypeError) as error:
            raise LLMFailure(LLMFault.BROKEN, f"{self._where} answered, but not with a message") from error

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
                self._made = anthropic.Anthropic(
                    api_key=os.environ.get(KEY, "").strip() or None,
                    base_url=self._url or None,
                    max_retries=0,
                    http_client=httpx2.Client(event_hooks=bounding_hooks(httpx2), follow_redirects=True),
                )
            return self._made

    def _guarded(self, call: Callable[[anthropic.Anthropic], T], timeout_s: float) -> T:
        """Runs a call of the client; every error of it becomes a failure."""
        where = self._where
        try:
            return call(self._client)
        except anthropic.APIStatusError as error:
            if error.status_code == 400 and "temperature" in error.response.text:
                self._no_temperature = True  # the next question leaves it out
            raise failure_of_status(error.status_code, error.response.text, error.response.headers, where) from error
        except anthropic.APITimeoutError as error:
            raise LLMFailure(LLMFault.TIMEOUT, f"{where} did not answer within {timeout_s:.3g} s") from error
        except anthropic.APIConnectionError as error:
            if isinstance(error.__cause__, httpx2.ReadError) and "longer than" in str(error.__cause__):
                raise LLMFailure(LLMFault.BROKEN, f"{where}: {error.__cause__}") from error
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
