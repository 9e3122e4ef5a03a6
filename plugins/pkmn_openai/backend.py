"""Language model with OpenAI's chat interface, through the official client."""

from __future__ import annotations

import base64
import os
import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
from openai import BaseModel

from pkmn_openai.prices import OPENAI_PRICES
from pkmn_openai.settings import OpenAISettings
from pkmn_openai.strict_schema import strict_schema
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
    is_this_machine,
    key_from,
    lists_none,
    names_in,
    not_listed,
    route_to,
    some_of,
    through_client,
    where_is,
    with_advice,
)

KEY = "OPENAI_API_KEY"
CHECK_TIMEOUT_S = 15.0
OPENAI = "https://api.openai.com/v1"
_ADDRESS = "Is this the address of the interface, up to /v1? The setting base_url has its address"
_OPTIONS = {
    "enable_thinking=false": r"enable_thinking\W.{0,40}\bfalse",
    "max_tokens": r"\bmax_tokens\b",
    "max_completion_tokens": r"\bmax_completion_tokens\b",
    "temperature": r"temperature",
    "seed": r"\bseed\b",
    "response_format": r"response_format|json_schema|grammar",
}
"""Options that some models refuse, and the words of that error."""


class OpenAIBackend:
    """Backend that asks a service with OpenAI's interface.

    Args:
        settings: address and options.
        model: the model's name; if empty, the settings' default, or the first that the service lists.
    """

    def __init__(self, settings: OpenAISettings | None, model: str | None) -> None:
        self._settings = settings or OpenAISettings()
        self._chosen = model is not None
        self.model = model or self._settings.default_model or ""
        self.sees = self._settings.sees
        self.tell: Callable[[str], None] = lambda text: None
        address = self._settings.base_url or os.environ.get("OPENAI_BASE_URL", "")
        self._url = address.strip().rstrip("/").removesuffix("/chat/completions")
        self._where = where_is(self._url, "OpenAI")
        self._refusals = Refusals(_OPTIONS, self._settings.extra_fields)
        self._lock = threading.Lock()
        self._made: openai.AsyncOpenAI | None = None

    # The contract ------------------------------------------------------------------------------------------------

    def check(self) -> str:
        """List the models, and choose the model."""
        self._check_address()
        if not self._key:
            raise LLMConnectionError(
                f"No key for {self._where}: set the environment variable {KEY}, or: pkmn llm keys set openai"
            )
        _ = self._client  # errors of the address or the key have their own messages
        try:
            known = self._list(CHECK_TIMEOUT_S)
        except LLMFailure as failure:
            if not (self.model and lists_none(failure)):
                raise with_advice(failure, self._advice(failure.fault)) from failure
            known = None
        line = self._settle(known or [])
        if known:
            return line
        return f"{line} {UNLISTED}" + (f" {_ADDRESS}" if self._lacks_version else "")

    def _settle(self, known: list[str]) -> str:
        """Return the model to ask, given the listed ones."""
        # The default is a model of OpenAI: another service is asked for its list.
        if not self.model or (self._url and known and not self._chosen and not is_listed(self.model, known)):
            found = first_to_talk_to(known)
            if found is None:
                has = f"only {some_of(known)}" if known else "no models"
                raise LLMConnectionError(f"{self._where} lists {has}: name one to talk to with --llm-model")
            self.model = found
        elif known and self._settings.listed_only and not is_listed(self.model, known):
            refuse = not_listed(self._where, self.model, known)
            remark = check_unlisted(self._where, self.model, known, self.complete, refuse)
            return f"Advice: {self.model} at {self._where}. {remark}"
        return f"Advice: {self.model} at {self._where}."

    def complete(self, request: LLMRequest) -> LLMReply:
        """Ask, and ask once more for each option that the model refuses."""
        return self._refusals.complete(self._where, request, self._ask, self.tell)

    def models(self) -> list[str]:
        """Return the models that the service lists."""
        _ = self._client
        try:
            return self._list(CHECK_TIMEOUT_S) or []
        except LLMFailure as failure:
            raise with_advice(failure, self._advice(failure.fault)) from failure

    def close(self) -> None:
        """Close the connections; open requests end with a fault."""
        if self._made is not None:
            close_client(self._made.close)

    @property
    def prices(self) -> Mapping[str, Price]:
        """OpenAI's list prices; empty for another service, which may charge others for the same names."""
        return OPENAI_PRICES if where_is(self._url or OPENAI, "") == "api.openai.com" else {}

    # Parts ---------------------------------------------------------------------------------------------------------

    def _check_address(self) -> None:
        if self._url:
            check_address(
                self._url, "The setting base_url (or OPENAI_BASE_URL) is no address: write http://HOST:PORT/v1"
            )

    @property
    def _lacks_version(self) -> bool:
        """Return whether the address lacks the version with which most of them end."""
        return bool(self._url) and "/v" not in urlsplit(self._url).path

    @property
    def _key(self) -> str:
        """Return the key. Local servers take any, so none has to be set for them."""
        key = key_from(KEY)
        at_home = is_this_machine(urlsplit(self._url).hostname or "")
        return key or ("none" if at_home or self._settings.carries_key else "")

    @property
    def _client(self) -> openai.AsyncOpenAI:
        with self._lock:
            if self._made is None:
                self._check_address()
                route = route_to(self._url or OPENAI, httpx2, proxy=self._settings.proxy)
                self._made = openai.AsyncOpenAI(
                    api_key=self._key or "none",
                    base_url=self._url or None,
                    default_headers=self._settings.headers,
                    max_retries=0,
                    http_client=bounded_client(httpx2, **route.options),
                )
                self._where += route.via
                for remark in route.remarks:
                    self.tell(remark)
            return self._made

    def _list(self, timeout_s: float) -> list[str] | None:
        async def ask() -> list[str] | None:
            return names_in((await self._client.models.with_raw_response.list()).http_response.json())

        return through_client(ask, openai, httpx2, self._where, timeout_s)

    def _ask(self, request: LLMRequest, refused: Collection[str]) -> LLMReply:
        began = time.perf_counter()
        options = self._options(request, refused)
        completion = through_client(
            lambda: self._client.chat.completions.create(model=self.model, **options),
            openai,
            httpx2,
            self._where,
            request.timeout_s,
        )
        error = getattr(completion, "error", None)
        try:
            choice = completion.choices[0]
            message = choice.message
            model, usage = completion.model, completion.usage
            content = message.content
        except (AttributeError, LookupError, TypeError) as fault:
            body = completion.to_dict(warnings=False) if isinstance(completion, BaseModel) else None
            raise failure_inside(self._where, error or body, "answered, but not with a completion") from fault
        error = error or getattr(choice, "error", None)
        if error:
            raise failure_inside(self._where, error, "answered an error")
        return checked_reply(
            self._where,
            content,
            model or self.model,
            getattr(usage, "prompt_tokens", 0),
            getattr(usage, "completion_tokens", 0),
            latency_s=time.perf_counter() - began,
            thoughts=[getattr(message, name, None) for name in ("reasoning_content", "reasoning", "thinking")],
            calls=getattr(message, "tool_calls", None) or getattr(message, "function_call", None),
            refusal=getattr(message, "refusal", None),
            ending=getattr(choice, "finish_reason", None),
        )

    def _options(self, request: LLMRequest, refused: Collection[str]) -> dict[str, Any]:
        content: Any = request.prompt
        if request.images and self.sees:
            content = [{"type": "text", "text": request.prompt}]
            for image in request.images:
                url = "data:image/png;base64," + base64.b64encode(image).decode()
                content.append({"type": "image_url", "image_url": {"url": url}})
        messages = [{"role": "system", "content": request.system}] if request.system else []
        options: dict[str, Any] = {"temperature": request.temperature, "max_tokens": request.max_tokens}
        if "max_tokens" in refused:
            options["max_completion_tokens"] = request.max_tokens
        if request.seed is not None:
            options["seed"] = request.seed
        if request.schema is not None and self._settings.use_schema:
            options["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": strict_schema(request.schema), "strict": True},
            }
        extra = {**self._settings.extra_fields}
        if "enable_thinking=false" in refused:
            extra["enable_thinking"] = False
        given = {name: value for name, value in options.items() if name not in refused and name not in extra}
        further = {name: value for name, value in extra.items() if name not in refused}
        return {"messages": [*messages, {"role": "user", "content": content}], **given, "extra_body": further}

    def _advice(self, fault: LLMFault) -> str:
        if fault is LLMFault.AUTHENTICATION:
            return f"Check the key in {KEY}" if key_from(KEY) else f"Set its key in {KEY}, or: pkmn llm keys set openai"
        if fault in (LLMFault.BROKEN, LLMFault.NO_MODEL) and self._lacks_version:
            return _ADDRESS
        if self._url:
            return "Is the server running there? The setting base_url has its address"
        return "Check the network, or name another service with the setting base_url"
