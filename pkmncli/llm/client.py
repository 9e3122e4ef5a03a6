"""Client of a language model: one question through cache, limits, retries, repair and reading of the reply."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from threading import Event, Thread
from typing import Any, TypeVar

from pkmncli.api import Advice, LLMBackend, LLMFailure, LLMFault, LLMReply, LLMRequest
from pkmncli.diagnostics import one_line
from pkmncli.errors import LLMConnectionError
from pkmncli.llm.cache import CacheUse, ReplyCache, cache_key
from pkmncli.llm.json_objects import whole_value
from pkmncli.llm.keys import InvalidKeyError
from pkmncli.llm.loading import Loading
from pkmncli.llm.prompts import CHARACTERS_PER_TOKEN, estimated_tokens
from pkmncli.llm.replies import Reading, ReadReply, ReplyForm
from pkmncli.llm.retry import WORTH_RETRYING, Backoff, CircuitBreaker
from pkmncli.llm.thoughts import take_apart
from pkmncli.llm.usage import Usage
from pkmncli.outgoing_text import redact, redacted

logger = logging.getLogger(__name__)

T = TypeVar("T")

LONGEST_REPLY = 20_000
"""Maximum number of characters of a reply in a repair's prompt, and in transcripts."""

THINKING_TOKENS = 4_000
"""Tokens of a reply of a model that thinks first, unless the user has chosen a number."""

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
    members: tuple[tuple[str, Answer], ...] = ()
    """Answer of each model of an ensemble, by its name there; empty without one."""
    backers: tuple[str, ...] = ()
    """Models of an ensemble that gave this advice."""


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
        meanwhile: words that say who continues while the service fails.
        may_grow: True to give the model more tokens for its replies, once it has used all of them in thinking.
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
    meanwhile: str = "The rules go on"
    may_grow: bool = False
    _thinks: bool = False
    """True if its replies have more tokens now."""
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

    def answer(self, request: LLMRequest) -> LLMReply:
        """Return the reply as it is, through cache, limits and retries.

        Raises:
            LLMFailure: there is no reply.
        """
        try:
            return self._reply(request)[0]
        except _Unasked as reason:
            raise LLMFailure(LLMFault.REFUSED, str(reason)) from reason

    def probe(self, request: LLMRequest) -> Answer | None:
        """Return the answer to one request that only measures: without retries and repair. Its cost counts.

        None if the model is not to be measured: nothing may be asked, the reply is in the cache, or the backend says
        so (``probed = False``).
        """
        request = self._sized(request)
        if not (self.settled and getattr(self.backend, "probed", True)) or self.usage.spent:
            return None
        if self.cache_use is CacheUse.ONLY or (self.cache_use.reads and self._kept(request) is not None):
            return None
        began = time.perf_counter()
        try:
            reply = self._sent(request, self.loading.time_for(request.timeout_s))
        except LLMFailure as failure:
            self.usage.add_fault(failure.fault)
            return self._without(request, str(failure), fault=failure.fault, latency_s=time.perf_counter() - began)
        self._thinks |= self._grows(request, reply)
        read = self.form.read(reply, expires_after=self.expires_after, words_too=True)
        latency_s = time.perf_counter() - began
        return Answer(request, read.advice, read.reading, read.problem, (reply,), latency_s=latency_s)

    def _sized(self, request: LLMRequest) -> LLMRequest:
        """Return the request with room for thinking, if the model has shown that it thinks."""
        return replace(request, max_tokens=max(request.max_tokens, THINKING_TOKENS)) if self._thinks else request

    def _grows(self, request: LLMRequest, reply: LLMReply) -> bool:
        """Return True if the model has used all its tokens in thinking, and is to have more of them."""
        return self.may_grow and reply.cut and is_empty(reply) and request.max_tokens < THINKING_TOKENS

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values: usage, whether a spent budget was reported, and if the model thinks."""
        state = {"usage": self.usage.state_dict(), "budget_reported": self._reported_spent}
        return {**state, **({"thinks": True} if self._thinks else {})}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self.usage.load_state_dict(state["usage"])
        self._thinks = state.get("thinks", False)
        self._reported_spent = state["budget_reported"] and bool(self.usage.spent)  # the budget may be larger now

    def close(self) -> None:
        """Close the backend and the cache, once, without waiting for requests in progress."""
        if self.stopping.is_set():
            return
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
        """Return the reply, and True if it is from the cache."""
        request = self._sized(request)
        found = self._reply_within(request)
        if not self._grows(request, found[0]):
            return found
        self._thinks = True
        return self._reply_within(self._sized(request))

    def _reply_within(self, request: LLMRequest) -> tuple[LLMReply, bool]:
        """Return the reply within the tokens of the request, and True if it is from the cache."""
        self._check_length(request)
        if self.cache_use.reads and (kept := self._kept(request)) is not None:
            return kept, True
        if self.cache_use is CacheUse.ONLY:
            raise _Unasked("the cache has no reply to it, and nothing else may be asked")
        self._check_budget()
        reply = self._from_model(request)
        if self.cache is not None and self.cache_use.writes:
            self.cache.put(cache_key(self.backend_name, self.backend.model, request), reply)
        return reply, False

    def _kept(self, request: LLMRequest) -> LLMReply | None:
        if self.cache is None:
            return None
        return self.cache.get(cache_key(self.backend_name, self.backend.model, request))

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
            time_s = self.loading.time_for(request.timeout_s)
            try:
                reply = self._sent(request, time_s)
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
                    self.report(f"No advice: {failure}. {self.meanwhile}; it is asked again from time to time.")
                if opened or failures >= self.backoff.attempts or failure.fault not in WORTH_RETRYING:
                    raise
                if self.stopping.wait(min(self.backoff.delay_s(failures, failure), request.timeout_s)):
                    raise
                continue
            if self.breaker.succeeded(way_out):
                self.report("The language model answers again.")
            return reply

    def _sent(self, request: LLMRequest, time_s: float) -> LLMReply:
        """Return the reply to a request that is sent now; count both."""
        self.usage.add_request()
        with self.loading.watched(request.timeout_s, time_s):
            reply = self._when_loaded(request, time_s)
        self.usage.add_reply(reply)
        self.loading.answered()
        self._look_at_end(request, reply)
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
            empty, grows = is_empty(reply), self._grows(request, reply)
            self._reported_cut = not grows  # they may be too few again
            ended = "before it answered" if empty else "in the middle of its answer"
            more = "give it more with --llm-reply-tokens"
            if grows:
                more = f"it has {THINKING_TOKENS:,} from now on, or the number of --llm-reply-tokens"
            self.report(
                f"{reply.model or self.backend.model} used up its {request.max_tokens:,} tokens {ended}: {more}"
                f"{', or keep it from thinking: ' + NO_THINKING if empty else ''}."
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


def begin_answer(ask: Callable[[LLMRequest], T], request: LLMRequest, *, after: Future[T] | None = None) -> Future[T]:
    """Ask in a separate thread, once the answer ``after`` has come. Return the answer to come, which raises errors."""
    future: Future[T] = Future()

    def answer() -> None:
        try:
            if after is not None:
                wait([after])
            future.set_result(ask(request))
        except Exception as error:
            future.set_exception(error)

    # A daemon: it ends with the process, however long its request would still take.
    Thread(target=answer, name="advice", daemon=True).start()
    return future


def is_empty(reply: LLMReply) -> bool:
    """Return True if a reply has no answer; thoughts are no answer."""
    if reply.parsed is not None:
        return False
    answer, thoughts = take_apart(reply.text)
    return not answer.strip() and whole_value(thoughts) is None


class _Unasked(Exception):  # noqa: N818 - a reason, not an error
    """Reason that a model was not asked."""
