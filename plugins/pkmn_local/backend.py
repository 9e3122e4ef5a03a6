"""Language model from a GGUF file, run by llama.cpp in this process. A grammar makes its replies follow the schema."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import xllamacpp

from pkmn_local.model_files import find_model, installed
from pkmn_local.settings import LocalSettings
from pkmncli.api import LLMFailure, LLMFault, LLMReply, LLMRequest
from pkmncli.errors import LLMConnectionError
from pkmncli.llm.transport import Refusals, StatusFailure, call_within, checked_reply

_SILENT = -1
_LONGEST_END_S = 30.0


class LocalBackend:
    """Backend that asks a model in this process, one question at a time.

    Args:
        settings: file and options.
        model: a GGUF file, or the name of a downloaded model; an installed one if empty.
    """

    sees = False

    def __init__(self, settings: LocalSettings | None, model: str | None) -> None:
        self._settings = settings or LocalSettings()
        self._asked_for = model
        self.model = model or ""
        self.tell: Callable[[str], None] = lambda text: None
        self._refusals = Refusals({})
        self._server: Any = None
        self._busy = threading.Lock()
        self._closed = threading.Event()

    def check(self) -> str:
        """Load the model."""
        path = find_model(self._asked_for, self._settings.model_path)
        self.model = path.stem
        began = time.perf_counter()
        with self._busy:
            self._load(path)
        return f"Advice: {self.model} from {path}, loaded in {time.perf_counter() - began:.1f} s."

    def complete(self, request: LLMRequest) -> LLMReply:
        """Wait for its turn and ask. When the time is up, the model stops at its next token."""
        began = time.perf_counter()
        ends_at = time.monotonic() + request.timeout_s
        if self._closed.is_set() or not self._busy.acquire(timeout=request.timeout_s):
            raise _late(request)

        def work() -> LLMReply:
            try:
                return self._refusals.complete(
                    "llama.cpp", request, lambda shaped, refused: self._ask(shaped, began, ends_at), self.tell
                )
            finally:
                self._busy.release()

        try:
            return call_within(work, ends_at - time.monotonic())
        except TimeoutError as error:  # reading a long prompt cannot be interrupted
            raise _late(request) from error

    def models(self) -> list[str]:
        """Return the installed model files."""
        return [path.stem for path in installed()]

    def close(self) -> None:
        """End an open question at its next token, and release the model.

        This waits for that token: a process that ends while llama.cpp calls back into it would crash.
        """
        self._closed.set()
        if self._busy.acquire(timeout=_LONGEST_END_S):
            self._server = None
            self._busy.release()

    def _load(self, path: Path) -> None:
        if self._server is not None:
            return
        settings = self._settings
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx = settings.context_tokens
        params.n_parallel = 1
        params.n_gpu_layers = settings.gpu_layers
        params.cpuparams.n_threads = settings.threads
        params.cpuparams_batch.n_threads = settings.threads
        params.verbosity = _SILENT
        params.warmup = False
        try:
            self._server = xllamacpp.Server(params)
        except Exception as error:  # any error of llama.cpp for a file that is not a model
            raise LLMConnectionError(f"{path} can't be loaded by llama.cpp: is it a whole GGUF file?") from error

    def _ask(self, request: LLMRequest, began: float, ends_at: float) -> LLMReply:
        if self._server is None:
            try:
                path = find_model(self._asked_for, self._settings.model_path)
                self.model = path.stem
                self._load(path)
            except LLMConnectionError as error:
                raise LLMFailure(LLMFault.NO_MODEL, str(error)) from error
        parts: list[str] = []
        thoughts: list[Any] = []
        ending = ""
        usage: dict[str, Any] = {}
        problem: list[dict[str, Any]] = []
        late = False

        def take(chunk: dict[str, Any]) -> bool:
            """Take a part of the reply. Return True to stop."""
            nonlocal late, ending
            if "error" in chunk:
                problem.append(chunk["error"])
                return True
            for choice in chunk.get("choices", ()):
                delta = choice.get("delta", {})
                parts.append(delta.get("content") or "")
                thoughts.append(delta.get("reasoning_content"))
                ending = choice.get("finish_reason") or ending
            usage.update(chunk.get("usage") or {})
            late = time.monotonic() > ends_at
            return late or self._closed.is_set()

        system = [{"role": "system", "content": request.system}] if request.system else []
        question: dict[str, Any] = {
            "messages": [*system, {"role": "user", "content": request.prompt}],
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.seed is not None:
            question["seed"] = request.seed & 0x7FFFFFFF
        if request.schema is not None:
            question["response_format"] = {"type": "json_schema", "json_schema": {"schema": dict(request.schema)}}
        try:
            self._server.handle_chat_completions(question, take)
        except (ValueError, RuntimeError) as error:
            text = f"llama.cpp refused the question ({error})"
            raise StatusFailure(LLMFault.REFUSED, text, status=400, body=str(error)) from error
        if problem:
            text = str(problem[0].get("message", ""))
            fault = LLMFault.TOO_LONG if "context" in text else LLMFault.REFUSED
            raise StatusFailure(fault, f"llama.cpp refused the question ({text})", status=400, body=text)
        if late:
            raise _late(request)
        if self._closed.is_set():
            raise LLMFailure(LLMFault.UNREACHABLE, "the run has ended")
        return checked_reply(
            "llama.cpp",
            "".join(parts),
            self.model,
            usage.get("prompt_tokens"),
            usage.get("completion_tokens"),
            latency_s=time.perf_counter() - began,
            thoughts=thoughts,
            ending=ending,
        )


def _late(request: LLMRequest) -> LLMFailure:
    return LLMFailure(LLMFault.TIMEOUT, f"the model did not answer within {request.timeout_s:g} s")
