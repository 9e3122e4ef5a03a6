"""Client of a language model: one question through cache, limits, retries, repair and reading of the reply."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

from pkmncli.api import Advice, LLMBackend, LLMFailure, LLMFault, LLMReply, LLMRequest
from pkmncli.diagnostics import one_line
from pkmncli.errors import LLMConnectionError
from pkmncli.llm.budget import Usage
from pkmncli.llm.cache import CacheUse, ReplyCache, cache_key
from pkmncli.llm.json_objects import whole_value
from pkmncli.llm.keys import InvalidKeyError
from pkmncli.llm.loading import Loading
from pkmncli.llm.prompts import CHARACTERS_PER_TOKEN, estimated_tokens
from pkmncli.llm.replies import Reading, ReadReply, ReplyForm
from pkmncli.llm.retry import WORTH_RETRYING, Backoff, CircuitBreaker
from pkmncli.llm.thoughts import take_apart
from pkmncli.outgoing_text import redact, redacted

logger = logging.getLogger(__name__)

LONGEST_REPLY = 20_000
"""Maximum number of characters of a reply in a repair's prompt, and in transcripts."""

NO_THINKING = "--set ollama.think=false, or extra_fields of the backend, such as {enable_thinking = false}"
"""Settings that keep a model from thinking, by backend."""

_FIRST_LOOK_S = 0.5
_LONGEST_LOOK_S = 5.0
"""Seconds between two requests to a service that is loading the model: the first pause, and the longest."""

_REPAIR = (
    "{prompt}\n\nYour last answer could not be used: {problem}. It was:\n{reply}\n\n"
    "Answer again, with one JSON object of the asked form and nothing else."
)


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer to a question. Without ``advice``, ``problem`` is the reason in one line."""

    request: LLMRequest
    advice: Advice | None
    reading: Reading
    problem: str = ""
    replies: tuple[LLMReply, ...] = ()
    """Replies in order; the second is that of the repair."""
    cached: bool = False
    fault: LLMFault | None = None
    """Reason that there is no reply."""
    asked: bool = True
    """False if the model must not be asked: its service keeps failing, a budget is spent, or only the cache is used."""
    latency_s: float = 0.0
    """Seconds from question to answer, with retries and waiting."""


@dataclass(slots=True)
class LLMClient:
    """Client of one model. Safe for several threads; :meth:`ask` never raises.

    Args:
        backend: sends the requests.
        backend_name: its name, part of the cache's keys.
        usage: counts requests, and has the budgets.
        breaker: pauses requests to a failing service.
        backoff: number and delay of retries.
        cache: replies on disk; None for no cache.
        cache_use: use of the cache.
        form: form of the replies.
        expires_after: steps for which advice holds.
        most_tokens: maximum tokens of a request's text, estimated; a longer one is not sent. None for no limit.
        settled: False if the backend must be checked before the first request.
        loading: time for an answer while the model is being loaded.
        report: receives messages for people, each once: a pause of requests and its end, a spent budget, replies that
            end before an answer.
        stopping: set when the run ends; there are no retries after that.
    """

    backend: LLMBackend
    backend_name: str
    usage: Usage
    breaker: CircuitBreaker
    backoff: Backoff = field(default_factory=Backoff)
    cache: ReplyCache | None = None
    cache_use: CacheUse = CacheUse.OFF
    form: ReplyForm = field(default_factory=ReplyForm)
    expires_after: int = 100
    most_tokens: int | None = None
    settled: bool = True
    loading: Loading = field(default_factory=Loading)
    report: Callable[[str], None] = lambda text: None
    stopping: Event = field(default_factory=Event)
    _reported_spent: bool = False
    """True if the spent budget was reported."""
    _reported_long: bool = False
    _reported_cut: bool = False

    def ask(self, request: LLMRequest) -> Answer:
        """Return the answer to a question. A reply that cannot be used is repaired once."""
        began = time.perf_counter()
        try:
            reply, cached = self._reply(request)
        except _Unasked as reason:
            return self._without(request, str(reason), asked=False)
        except LLMFailure as failure:
            return self._without(request, str(failure), fault=failure.fault, latency_s=time.perf_counter() - began)
        replies = [reply]
        read = self.form.read(reply, expires_after=self.expires_after)
        repaired = False
        if read.advice is None:
            second, second_cached = self._repair(request, reply, read)
            if second is not None:
                replies.append(second)
                repaired, cached = True, cached and second_cached
            read = self.form.read(replies[-1], expires_after=self.expires_after, words_too=True)
        problem = "" if read.advice is not None else read.problem
        self.usage.add_reading(read.reading, cached=cached, repaired=repaired, problem=problem)
        return Answer(
            request,
            read.advice,
            read.reading,
            read.problem,
            tuple(replies),
            cached,
            latency_s=time.perf_counter() - began,
        )

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values: usage, and whether a spent budget was reported."""
        return {"usage": self.usage.state_dict(), "budget_reported": self._reported_spent}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self.usage.load_state_dict(state["usage"])
        self._reported_spent = state["budget_reported"] and bool(self.usage.spent)  # the budget may be larger now

    def close(self) -> None:
        """Close the backend and the cache, without waiting for requests in progress."""
        self.stopping.set()
        self.backend.close()
        if self.cache is not None:
            self.cache.close()

    def _without(
        self,
        request: LLMRequest,
        problem: str,
        *,
        fault: LLMFault | None = None,
        asked: bool = True,
        latency_s: float = 0,
    ) -> Answer:
        return Answer(request, None, Reading.NOTHING, problem, fault=fault, asked=asked, latency_s=latency_s)

    def _repair(self, request: LLMRequest, reply: LLMReply, read: ReadReply) -> tuple[LLMReply | None, bool]:
        shown = reply.text[:LONGEST_REPLY]
        if self.most_tokens is not None:
            without = _REPAIR.format(prompt=request.prompt, problem=read.problem, reply="")
            room = self.most_tokens - estimated_tokens(request.system) - estimated_tokens(without)
            if room < 0:  # the question leaves no room for its answer
                return None, False
            shown = shown.encode()[: room * CHARACTERS_PER_TOKEN].decode(errors="ignore")
        text = _REPAIR.format(prompt=request.prompt, problem=read.problem, reply=shown)
        try:
            return self._reply(replace(request, prompt=text))
        except (LLMFailure, _Unasked):
            return None, False

    def _reply(self, request: LLMRequest) -> tuple[LLMReply, bool]:
        self._check_length(request)
        key = cache_key(self.backend_name, self.backend.model, request) if self.cache is not None else ""
        if self.cache is not None and self.cache_use.reads:
            kept = self.cache.get(key)
            if kept is not None:
                return kept, True
        if self.cache_use is CacheUse.ONLY:
            raise _Unasked("the cache has no reply to it, and nothing else may be asked")
        self._check_budget()
        reply = self._from_model(request)
        if self.cache is not None and self.cache_use.writes:
            self.cache.put(key, reply)
        return reply, False

    def _check_length(self, request: LLMRequest) -> None:
        tokens = estimated_tokens(request.system) + estimated_tokens(request.prompt)
        if self.most_tokens is None or tokens <= self.most_tokens:
            return
        if not self._reported_long:
            self._reported_long = True
            self.report(
                f"No advice here: what must be said takes about {tokens} tokens, and max_context_length is "
                f"{self.most_tokens}. The rules go on; other situations may be shorter."
            )
        raise _Unasked("the question is longer than max_context_length")

    def _check_budget(self) -> None:
        spent = self.usage.spent
        if not spent:
            return
        if not self._reported_spent:
            self._reported_spent = True
            self.report(f"{spent[0].upper()}{spent[1:]} for the language model is spent: the rules go on without it.")
        raise _Unasked(f"{spent} is spent")

    def _from_model(self, request: LLMRequest) -> LLMReply:
        failures = 0
        while True:
            way_out = self.breaker.allows()
            if way_out is None:
                raise _Unasked("its service fails, and is left alone for a while")
            self.usage.add_request()
            time_s = self.loading.time_for(request.timeout_s)
            try:
                with self.loading.watched(request.timeout_s, time_s):
                    reply = self._when_loaded(request, time_s)
            except LLMFailure as failure:
                if self.stopping.is_set():  # the end of the run, not a fault of the service
                    raise
                failures += 1
                self.usage.add_fault(failure.fault)
                late = failure.fault in (LLMFault.TIMEOUT, LLMFault.LOADING)
                if late:
                    self.loading.late(time_s)
                opened = self.breaker.failed(failure, way_out, at_once=late and time_s > request.timeout_s)
                if opened:
                    self.report(f"No advice: {failure}. The rules go on; it is asked again from time to time.")
                if opened or failures >= self.backoff.attempts or failure.fault not in WORTH_RETRYING:
                    raise
                if self.stopping.wait(min(self.backoff.delay_s(failures, failure), request.timeout_s)):
                    raise
                continue
            self.usage.add_reply(reply)
            self.loading.answered()
            self._look_at_end(request, reply)
            if self.breaker.succeeded(way_out):
                self.report("The language model answers again.")
            return reply

    def _when_loaded(self, request: LLMRequest, time_s: float) -> LLMReply:
        """Return the backend's reply within ``time_s``; ask again while the service loads the model."""
        ends_at = time.monotonic() + time_s
        loading: LLMFailure | None = None
        pause_s = _FIRST_LOOK_S
        while True:
            left = ends_at - time.monotonic()
            try:
                return self._complete(replace(request, timeout_s=max(left, _FIRST_LOOK_S)))
            except LLMFailure as failure:
                if failure.fault is LLMFault.TIMEOUT and loading is not None:
                    raise loading from failure
                if failure.fault is not LLMFault.LOADING:
                    raise
                loading = failure
            left = ends_at - time.monotonic()
            if left <= 0 or self.stopping.wait(min(max(pause_s, loading.retry_after_s or 0.0), left)):
                raise loading
            pause_s = min(2 * pause_s, _LONGEST_LOOK_S)

    def _look_at_end(self, request: LLMRequest, reply: LLMReply) -> None:
        """Report once how to avoid replies that end before, or in the middle of, an answer."""
        if reply.cut and not self._reported_cut:
            self._reported_cut = True
            empty = is_empty(reply)
            ended = "before it answered" if empty else "in the middle of its answer"
            self.report(
                f"{reply.model or self.backend.model} used up its {request.max_tokens:,} tokens {ended}: give it more "
                f"with --llm-reply-tokens{', or keep it from thinking: ' + NO_THINKING if empty else ''}."
            )

    def _complete(self, request: LLMRequest) -> LLMReply:
        """Return the backend's reply. Check the backend first if that was not possible when the run began."""
        try:
            if not self.settled:
                self.backend.check()
                self.settled = True
            reply = self.backend.complete(request)
            if not isinstance(reply, LLMReply) or not isinstance(reply.text, str):
                raise TypeError(f"a reply of type {type(reply).__name__}")
        except LLMFailure:
            raise
        except LLMConnectionError as error:
            fault = LLMFault.AUTHENTICATION if isinstance(error, InvalidKeyError) else LLMFault.UNREACHABLE
            raise LLMFailure(fault, str(error)) from error
        except Exception as error:  # a bug in a backend must not end a training
            logger.exception("the backend %s broke its contract", self.backend_name)
            raise LLMFailure(LLMFault.BROKEN, f"the backend failed: {one_line(error)}") from error
        return replace(
            reply,
            text=redact(reply.text),
            parsed=redacted(reply.parsed),
            cut=reply.cut or reply.completion_tokens >= request.max_tokens,  # not every service reports it
            problem=redact(reply.problem),
        )


def is_empty(reply: LLMReply) -> bool:
    """Return True if a reply has no answer; thoughts are no answer."""
    if reply.parsed is not None:
        return False
    answer, thoughts = take_apart(reply.text)
    return not answer.strip() and whole_value(thoughts) is None


class _Unasked(Exception):  # noqa: N818 - a reason, not an error
    """Reason that a model was not asked."""
