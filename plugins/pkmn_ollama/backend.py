"""Language model of an Ollama server. The official client takes no further fields, so only its types are used."""

from __future__ import annotations

import base64
import os
import threading
import time
from collections.abc import Callable, Collection
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import ValidationError

from pkmn_ollama.settings import OllamaSettings
from pkmncli.api import LLMFailure, LLMFault, LLMReply, LLMRequest
from pkmncli.errors import LLMConnectionError
from pkmncli.llm.transport import (
    UNLISTED,
    Refusals,
    bounded_client,
    check_address,
    check_unlisted,
    checked_reply,
    close_client,
    exchange,
    failure_inside,
    failure_of_status,
    first_to_talk_to,
    is_listed,
    key_from,
    lists_none,
    names_in,
    no_client,
    route_to,
    some_of,
    unreachable,
    where_is,
    with_advice,
    without_environment,
)

HOST = "OLLAMA_HOST"
KEY = "OLLAMA_API_KEY"
PORT = 11434

with without_environment(HOST, KEY):  # the import makes a client, which fails on invalid values there
    import ollama

CHECK_TIMEOUT_S = 15.0
SUGGESTED_MODEL = "llama3.2:3b"
TALKS = "completion"
_START = f"Start it with: ollama serve. {HOST} has its address"
_OPTIONS = {
    "think": r"\bthink",
    "format": r"\bformat\b|\bschema\b|grammar",
    "keep_alive": r"\bkeep_alive\b",
    "num_ctx": r"\bnum_ctx\b",
    "seed": r"\bseed\b",
}
"""Options that some models refuse, and the words of that error."""

T = TypeVar("T")


class OllamaBackend:
    """Backend that asks an Ollama server.

    Args:
        settings: address and options.
        model: the model's name; an installed one if empty.
    """

    def __init__(self, settings: OllamaSettings | None, model: str | None) -> None:
        self._settings = settings or OllamaSettings()
        self.model = model or ""
        self.sees = self._settings.sees
        self.tell: Callable[[str], None] = lambda text: None
        self._host = self._settings.host or os.environ.get(HOST, "").strip() or f"127.0.0.1:{PORT}"
        self._via = ""
        self._refusals = Refusals(_OPTIONS, self._settings.extra_fields)
        self._lock = threading.Lock()
        self._made: httpx.AsyncClient | None = None

    @property
    def _where(self) -> str:
        return f"Ollama at {where_is(self._host, HOST)}{self._via}"

    def check(self) -> str:
        """List the installed models, and choose the model."""
        _ = self._client  # errors of the address or the key have their own messages
        try:
            known = self._list()
        except LLMFailure as failure:
            if not (self.model and lists_none(failure)):
                raise with_advice(failure, _START) from failure
            known = None
        if known is None and self.model:
            return f"Advice: {self.model} on {self._where}. {UNLISTED}"
        known = known or []
        if not self.model:
            found = first_to_talk_to(known)
            if found is None:
                has = f"only {some_of(known)}" if known else "no model"
                raise LLMConnectionError(f"{self._where} has {has}. Fetch one: ollama pull {SUGGESTED_MODEL}")
            self.model = found
            return f"Advice: {self.model}, installed on {self._where}."
        talents = self._talents(self.model)
        is_here = talents is not None or is_listed(self.model, known, variants=False)
        if self._settings.listed_only and not is_here:
            has = f"it has {some_of(known)}" if known else "it has none"
            refuse = LLMConnectionError(
                f"{self._where} has no model {self.model!r} ({has}). Fetch it: ollama pull {self.model}"
            )
            remark = check_unlisted(self._where, self.model, known, self.complete, refuse)
            return f"Advice: {self.model} on {self._where}. {remark}"
        if talents and TALKS not in talents:
            raise LLMConnectionError(
                f"{self.model} on {self._where} is no model to talk to ({', '.join(talents)}): choose with --llm-model"
            )
        return f"Advice: {self.model} on {self._where}."

    def complete(self, request: LLMRequest) -> LLMReply:
        """Ask, with the schema as the reply's format."""
        return self._refusals.complete(self._where, request, self._ask, self.tell)

    def _ask(self, request: LLMRequest, refused: Collection[str]) -> LLMReply:
        began = time.perf_counter()
        reply = self._guarded(
            ollama.ChatResponse, "POST", "/api/chat", request.timeout_s, json=self._fields(request, refused)
        )
        return checked_reply(
            self._where,
            reply.message.content,
            reply.model or self.model,
            reply.prompt_eval_count,
            reply.eval_count,
            latency_s=time.perf_counter() - began,
            thoughts=reply.message.thinking,
            calls=reply.message.tool_calls,
            ending=reply.done_reason,
        )

    def _fields(self, request: LLMRequest, refused: Collection[str]) -> dict[str, Any]:
        """Return the request's body. The client's own method takes no further fields."""
        settings = self._settings
        message: dict[str, Any] = {"role": "user", "content": request.prompt}
        if request.images and self.sees:
            message["images"] = [base64.b64encode(image).decode() for image in request.images]
        schema = dict(request.schema) if request.schema is not None and settings.use_schema else None
        given = {"format": schema, "keep_alive": settings.keep_alive, "think": settings.think, **settings.extra_fields}
        own = given.pop("options", {})
        # The server reads these only among the options, and a gateway before it perhaps outside.
        of_model = {name: given[name] for name in ollama.Options.model_fields if name in given}
        options = {
            "temperature": request.temperature,
            "num_predict": request.max_tokens,
            "seed": request.seed,
            "num_ctx": settings.context_tokens,
            **of_model,
            **(own if isinstance(own, dict) else {}),
        }
        system = [{"role": "system", "content": request.system}] if request.system else []
        return {
            "model": self.model,
            "messages": [*system, message],
            "stream": False,
            "options": {name: one for name, one in options.items() if one is not None and name not in refused},
            **{name: one for name, one in given.items() if one is not None and name not in refused},
        }

    def models(self) -> list[str]:
        """Return the installed models."""
        _ = self._client
        try:
            return self._list() or []
        except LLMFailure as failure:
            raise with_advice(failure, _START) from failure

    def close(self) -> None:
        """Close the connections."""
        if self._made is not None:
            close_client(self._made.aclose)

    def _list(self) -> list[str] | None:
        listing: dict[str, Any] = self._guarded(dict, "GET", "/api/tags", CHECK_TIMEOUT_S)
        return names_in(listing)

    def _talents(self, model: str) -> list[str] | None:
        """Return the capabilities of a model, empty if the server does not say; None if it does not have the model.

        A server that passes questions on knows models that it does not list.
        """
        try:
            shown = self._guarded(ollama.ShowResponse, "POST", "/api/show", CHECK_TIMEOUT_S, json={"model": model})
        except LLMFailure:
            return None
        return list(shown.capabilities or ())

    @property
    def _client(self) -> httpx.AsyncClient:
        with self._lock:
            if self._made is None:
                key = key_from(KEY)
                address = self._host if "://" in self._host else f"http://{self._host}"
                check_address(address, f"The setting host (or {HOST}) is no address: write http://HOST:PORT")
                parts = urlsplit(address)
                if "://" not in self._host and parts.port is None:
                    address = parts._replace(netloc=f"{parts.netloc}:{PORT}").geturl()
                route = route_to(address, httpx, proxy=self._settings.proxy)
                headers = {**({"authorization": f"Bearer {key}"} if key else {}), **self._settings.headers}
                client: httpx.AsyncClient = bounded_client(httpx, base_url=address, headers=headers, **route.options)
                self._made, self._via = client, route.via
                for remark in route.remarks:
                    self.tell(remark)
            return self._made

    def _guarded(self, kind: Callable[..., T], method: str, path: str, timeout_s: float, **content: Any) -> T:
        """Send a request; every error of it becomes a failure.

        Raises:
            LLMFailure: for every error.
        """
        try:
            client = self._client
        except LLMConnectionError as error:
            raise no_client(error) from error
        where = self._where

        async def ask() -> T:
            response = await client.request(method, path, **content)
            if not response.is_success:
                raise failure_of_status(response.status_code, response.text, response.headers, where)
            return kind(**response.json())

        try:
            return exchange(ask, timeout_s)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise LLMFailure(LLMFault.TIMEOUT, f"{where} did not answer within {timeout_s:.3g} s") from error
        except httpx.ReadError as error:
            if "longer than" in str(error):
                raise LLMFailure(LLMFault.BROKEN, f"{where}: {error}") from error
            raise LLMFailure(LLMFault.UNREACHABLE, f"{where} broke off its answer") from error
        except (httpx.TransportError, UnicodeEncodeError) as error:
            raise unreachable(where, error) from error
        except ValidationError as error:  # of the body, which may contain an error
            body = error.errors(include_url=False)[0]["input"]
            raise failure_inside(where, body if isinstance(body, dict) else {}, "answered what is no reply") from error
        except (httpx.HTTPError, ValueError, TypeError, AttributeError, RuntimeError) as error:
            raise LLMFailure(LLMFault.BROKEN, f"{where} answered what is no reply") from error
