"""Language model of the Hugging Face format in this process, alone or with the adapter of a multi-model run.

With xgrammar installed, replies follow the schema of a request: tokens that would break it are never taken.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from transformers import StoppingCriteria, StoppingCriteriaList

from pkmn_multimodel.libraries import cached_models
from pkmn_multimodel.population.bases import TINY, device_of, loaded
from pkmn_multimodel.population.population import Population
from pkmn_multimodel.population.threads import fitting_threads
from pkmn_multimodel.recording import nested
from pkmn_multimodel.settings import HuggingFaceSettings
from pkmncli.api import LLMFailure, LLMFault, LLMReply, LLMRequest, find_run, runs
from pkmncli.errors import ConfigurationError, LLMConnectionError, PkmnError
from pkmncli.llm.transport import call_within, checked_reply

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_LONGEST_END_S = 30.0
_NO_GRAMMAR = "Replies of huggingface do not follow the schema: for that, pip install 'xgrammar>=0.2.8'."


class HuggingFaceBackend:
    """Backend that asks a causal language model by transformers, one question at a time. It downloads nothing.

    Args:
        settings: adapter and device.
        model: a folder, or a name in the local cache; with an adapter, by default the base of its run.
    """

    sees = False

    def __init__(self, settings: HuggingFaceSettings | None, model: str | None) -> None:
        self._settings = settings or HuggingFaceSettings()
        self._name = model or ""
        self.model = model or ""
        self.tell: Callable[[str], None] = lambda text: None
        self._loaded: tuple[Any, PreTrainedTokenizerBase] | None = None
        self._grammars: dict[str, Any] = {}
        self._compiler: Any = None
        self._busy = threading.Lock()
        self._closed = threading.Event()

    def check(self) -> str:
        """Load the model, and the adapter."""
        began = time.perf_counter()
        with self._busy:
            self._load()
        return f"Advice: {self.model}, loaded in {time.perf_counter() - began:.1f} s."

    def complete(self, request: LLMRequest) -> LLMReply:
        """Wait for its turn and ask. When the time is up, the model stops at its next token."""
        began = time.perf_counter()
        ends_at = time.monotonic() + request.timeout_s
        if self._closed.is_set() or not self._busy.acquire(timeout=request.timeout_s):
            raise _late(request)

        def work() -> LLMReply:
            try:
                return self._ask(request, began, ends_at)
            finally:
                self._busy.release()

        try:
            return call_within(work, ends_at - time.monotonic())
        except TimeoutError as error:  # reading a long prompt cannot be interrupted
            raise _late(request) from error

    def models(self) -> list[str]:
        """Return the models in the local cache."""
        return cached_models()

    def close(self) -> None:
        """End an open question at its next token.

        This waits for that token: a process that ends while PyTorch computes in another thread aborts.
        """
        self._closed.set()
        if self._busy.acquire(timeout=_LONGEST_END_S):
            self._busy.release()

    def _load(self) -> tuple[Any, PreTrainedTokenizerBase]:
        if self._loaded is None:
            try:
                self._loaded = self._with_adapter() if self._settings.adapter else self._alone()
            except PkmnError as error:
                raise LLMConnectionError(str(error)) from error
        return self._loaded

    def _alone(self) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
        settings = self._settings
        if not self._name:
            here = self.models()
            there = f"; the local cache has {', '.join(here[:8])}" if here else "; the local cache has none"
            raise ConfigurationError(f"huggingface needs a model: --llm-model with a folder or a name{there}")
        device = device_of(settings.device, "huggingface.device")
        return loaded(self._name, settings.precision, device, "--llm-model")

    def _with_adapter(self) -> tuple[Any, PreTrainedTokenizerBase]:
        """Return the base of a run with one of its adapters, whose hash is checked."""
        run, _, adapter = str(self._settings.adapter).rpartition(":")
        if not run or not adapter:
            raise ConfigurationError(f"huggingface.adapter = {self._settings.adapter}: write RUN:model_0")
        found = find_run(run)
        own: Mapping[str, Any] = found.settings.get("multimodel", {})
        state = nested(runs.read_state(found.folder)).get("population", {})
        if not own or adapter not in state.get("adapters", {}):
            has = f"it has {', '.join(sorted(state['adapters']))}" if own and state else "it is no multi-model run"
            raise ConfigurationError(f"huggingface.adapter: run {run} has no adapter {adapter!r}; {has}")
        name = self._name or own["base"]
        if name in ("auto", TINY):
            raise ConfigurationError(
                f"huggingface.adapter: the base of run {run} is {name}; name the model with --llm-model (tiny ones are "
                "made for their game and advise nobody)"
            )
        device = device_of(self._settings.device, "huggingface.device")
        base, tokenizer = loaded(name, own["precision"], device, "--llm-model")
        modules = tuple(own["target_modules"])
        population = Population(base, tokenizer, [adapter], own["rank"], own["alpha"], modules, device=device)
        one = {part: {adapter: state[part][adapter]} for part in ("adapters", "versions")}
        population.load_state_dict({**one, "base": state["base"], "shared": state.get("shared", {})})
        population.model.set_adapter(adapter)
        self.model = f"{name}+{found.folder.name}:{adapter}"
        return population.model, tokenizer

    def _ask(self, request: LLMRequest, began: float, ends_at: float) -> LLMReply:
        try:
            model, tokenizer = self._load()
        except LLMConnectionError as error:
            raise LLMFailure(LLMFault.NO_MODEL, str(error)) from error
        prompt = tokenizer(_text(tokenizer, request), return_tensors="pt", add_special_tokens=False).to(model.device)
        asked = int(prompt["input_ids"].shape[1])
        longest = getattr(model.config, "max_position_embeddings", None)
        if longest is not None and asked + request.max_tokens > longest:
            text = f"the question has {asked} tokens, and {self.model} takes {longest} with its reply"
            raise LLMFailure(LLMFault.TOO_LONG, text)
        sampled = {"do_sample": True, "temperature": request.temperature} if request.temperature > 0 else {}
        end = _End(ends_at, self._closed)
        devices = [model.device] if model.device.type == "cuda" else []
        with (
            torch.random.fork_rng(devices),
            torch.no_grad(),
            fitting_threads(model.num_parameters(), model.device.type),
        ):
            torch.manual_seed(request.seed or 0)
            found = model.generate(
                **prompt,
                **({"do_sample": False} | sampled),
                max_new_tokens=request.max_tokens,
                pad_token_id=tokenizer.pad_token_id or tokenizer.eos_token_id,
                stopping_criteria=StoppingCriteriaList([end]),
                logits_processor=self._held_to(request.schema, model, tokenizer),
            )
        if end.late:
            raise _late(request)
        tokens = found[0, asked:]
        reply, cut = str(tokenizer.decode(tokens, skip_special_tokens=True)), len(tokens) == request.max_tokens
        return checked_reply(
            "the model",
            reply,
            self.model,
            asked,
            len(tokens),
            latency_s=time.perf_counter() - began,
            parsed=None if cut or request.schema is None else _object(reply),
            ending="length" if cut else "stop",
        )

    def _held_to(self, schema: Mapping[str, Any] | None, model: Any, tokenizer: PreTrainedTokenizerBase) -> list[Any]:
        """Return what holds the tokens to a schema; nothing without a schema or without xgrammar."""
        if schema is None:
            return []
        try:
            import xgrammar  # noqa: PLC0415 - optional
            from xgrammar.contrib.hf import LogitsProcessor  # noqa: PLC0415
        except ImportError:
            self.tell(_NO_GRAMMAR)
            self.tell = lambda text: None
            return []
        if self._compiler is None:
            about = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
            self._compiler = xgrammar.GrammarCompiler(about, max_threads=1)
        text = json.dumps(dict(schema))
        if text not in self._grammars:
            self._grammars[text] = self._compiler.compile_json_schema(text, any_whitespace=False)
        return [LogitsProcessor(self._grammars[text])]


class _End(StoppingCriteria):
    """End of a reply whose time is up, or whose run has ended."""

    def __init__(self, ends_at: float, closed: threading.Event) -> None:
        self._ends_at = ends_at
        self._closed = closed
        self.late = False

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **_: Any) -> torch.Tensor:
        self.late = time.monotonic() > self._ends_at or self._closed.is_set()
        return torch.full((len(input_ids),), self.late, device=input_ids.device)


def _text(tokenizer: PreTrainedTokenizerBase, request: LLMRequest) -> str:
    """Return the question in the form that the model was trained with, if its tokenizer knows one."""
    whole = f"{request.system}\n\n{request.prompt}".strip()
    if not tokenizer.chat_template:
        return f"{whole}\n"
    system = [{"role": "system", "content": request.system}] if request.system else []
    for messages in ([*system, {"role": "user", "content": request.prompt}], [{"role": "user", "content": whole}]):
        try:
            return str(
                tokenizer.apply_chat_template(
                    messages, tokenize=False, add_generation_prompt=True, enable_thinking=False
                )
            )
        except Exception:  # a template may refuse a system role by any error of its language
            continue
    return f"{whole}\n"


def _object(text: str) -> Any:
    """Return the object of a reply; None if it is none. A grammar lets control characters into texts."""
    try:
        return json.loads(text, strict=False)
    except ValueError:
        return None


def _late(request: LLMRequest) -> LLMFailure:
    return LLMFailure(LLMFault.TIMEOUT, f"the model did not answer within {request.timeout_s:g} s")
