"""A language model of an Ollama server, through the official client."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import httpx
import ollama
from pydantic import ValidationError

from pkmn_ollama.settings import OllamaSettings
from pkmncli.api import LLMFailure, LLMFault, LLMReply, LLMRequest
from pkmncli.errors import LLMConnectionError
from pkmncli.llm.transport import bound_client, checked_reply, failure_inside, failure_of_status, where_is

CHECK_TIMEOUT_S = 15.0
SUGGESTED_MODEL = "llama3.2:3b"

T = TypeVar("T")


class OllamaBackend:
    """Asks an Ollama server.

    Args:
        settings: where and how.
        model: the model; without one an installed one is taken.
    """

    def __init__(self, settings: OllamaSettings | None, model: str | None) -> None:
        self._settings = settings or OllamaSettings()
        self.model = model or ""
        self.sees = self._settings.sees
        self._host = self._settings.host or os.environ.get("OLLAMA_HOST") or "127.0.0.1:11434"
        self._think: Any = self._settings.think
        self._lock = threading.Lock()
        self._clients: dict[float, ollama.Client] = {}

    @property
    def _where(self) -> str:
        return f"Ollama at {where_is(self._host, 'OLLAMA_HOST')}"

    def check(self) -> str:
        """Lists the installed models, and settles which one is asked."""
        known = self.models()
        if not self.model:
            if not known:
                raise LLMConnectionError(f"{self._where} has no model. Fetch one: ollama pull {SUGGESTED_MODEL}")
            self.model = known[0]
            return f"Advice: {self.model}, installed on {self._where}."
        if self.model not in known and f"{self.model}:latest" not in known and not self._knows(self.model):
            has = f"it has {', '.join(known[:8])}" if known else "it has none"
            raise LLMConnectionError(
                f"{self._where} has no model {self.model!r} ({has}). Fetch it: ollama pull {self.model}"
            )
        return f"Advice: {self.model} on {self._where}."

    def complete(self, request: LLMRequest) -> LLMReply:
        """Asks with the schema as the reply's format."""
        began = time.perf_counter()
        message: dict[str, Any] = {"role": "user", "content": request.prompt}
        if request.images and self.sees:
            message["images"] = list(request.images)
        options: dict[str, Any] = {"temperature": request.temperature, "num_predict": request.max_tokens}
        if request.seed is not None:
            options["seed"] = request.seed
        if self._settings.context_tokens is not None:
            options["num_ctx"] = self._settings.context_tokens
        reply = self._guarded(
            lambda client: client.chat(
                model=self.model,
                messages=[{"role": "system", "content": request.system}, message],
                format=dict(request.schema) if request.schema is not None and self._settings.use_schema else None,
                options=options,
                keep_alive=self._settings.keep_alive,
                think=self._think,
            ),
            request.timeout_s,
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

    def models(self) -> list[str]:
        """The installed models."""
        try:
            listing = self._guarded(lambda client: client.list(), CHECK_TIMEOUT_S)
        except LLMFailure as failure:
            raise LLMConnectionError(
                f"{failure}. Start it with: ollama serve. OLLAMA_HOST says where it is looked for"
            ) from failure
        return [one.model for one in listing.models if one.model]

    def _knows(self, model: str) -> bool:
        """Whether the server has a model that it doesn't list, as those do that pass questions on."""
        try:
            self._guarded(lambda client: client.show(model), CHECK_TIMEOUT_S)
        except LLMFailure:
            return False
        return True

    def close(self) -> None:
        """Lets go of the connections."""
        with self._lock:
            for client in self._clients.values():
                client.close()  # type: ignore[no-untyped-call]
            self._clients.clear()

    def _client(self, timeout_s: float) -> ollama.Client:
        """A client whose requests take no longer; it takes no timeout with a request."""
        with self._lock:
            if timeout_s not in self._clients:
                client = ollama.Client(host=self._host, timeout=timeout_s)
                bound_client(client._client, httpx)
                self._clients[timeout_s] = client
            return self._clients[timeout_s]

    def _guarded(self, call: Callable[[ollama.Client], T], timeout_s: float) -> T:
        """Runs a call of the client; every error of it becomes a failure."""
        where = self._where
        try:
            return call(self._client(timeout_s))
        except ollama.ResponseError as error:
            # The client keeps the status' headers only in what it turned into its own error.
            response = getattr(error.__context__, "response", None)
            headers = {} if response is None else response.headers
            raise failure_of_status(error.status_code, str(error.error), headers, where) from error
        except ConnectionError as error:
            raise LLMFailure(LLMFault.UNREACHABLE, f"{where} can't be reached") from error
        except httpx.TimeoutException as error:
            raise LLMFailure(LLMFault.TIMEOUT, f"{where} did not answer within {timeout_s:.3g} s") from error
        except httpx.ReadError as error:
            if "longer than" in str(error):
                raise LLMFailure(LLMFault.BROKEN, f"{where}: {error}") from error
            raise LLMFailure(LLMFault.UNREACHABLE, f"{where} broke off its answer") from error
        except httpx.TransportError as error:
            raise LLMFailure(LLMFault.UNREACHABLE, f"{where} can't be reached") from error
        except ValidationError as error:  # of the body, which may speak of an error
            body = error.errors(include_url=False)[0]["input"]
            raise failure_inside(where, body if isinstance(body, dict) else {}, "answered what is no reply") from error
        except (httpx.HTTPError, ValueError, TypeError, AttributeError, RuntimeError) as error:
            raise LLMFailure(LLMFault.BROKEN, f"{where} answered what is no reply") from error
