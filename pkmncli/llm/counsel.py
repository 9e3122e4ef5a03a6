"""One question from beginning to end: cache, limits, the model, a second chance, and the reading of the reply."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Event

from pkmncli.api import Advice, LLMBackend, LLMFailure, LLMFault, LLMReply, LLMRequest
from pkmncli.diagnostics import one_line
from pkmncli.errors import LLMConnectionError
from pkmncli.llm.cache import CacheUse, ReplyCache, cache_key
from pkmncli.llm.guard import WORTH_RETRYING, Backoff, Breaker
from pkmncli.llm.json_objects import whole_value
from pkmncli.llm.keys import InvalidKeyError
from pkmncli.llm.loading import Loading
from pkmncli.llm.prompts import CHARACTERS_PER_TOKEN, estimated_tokens
from pkmncli.llm.replies import Reading, ReadReply, ReplyForm
from pkmncli.llm.thoughts import take_apart
from pkmncli.llm.usage import Usage
from pkmncli.outgoing_text import redact, redacted

logger = logging.getLogger(__name__)

LONGEST_REPLY = 20_000
"""Characters of a reply that a repair shows to the model again, and that transcripts keep."""

NO_THINKING = "--set ollama.think=false, or extra_fields of the backend, such as {enable_thinking = false}"
"""Settings that keep a model from thinking, by its backend."""

_FIRST_LOOK_S = 0.5
_LONGEST_LOOK_S = 5.0
"""Pauses between two questions to a service that is loading the model."""

_REPAIR = (
    "{prompt}\n\nYour last answer could not be used: {problem}. It was:\n{reply}\n\n"
    "Answer again, with one JSON object of the asked form and nothing else."
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a question. Without ``advice``, ``problem`` says why in one line."""

    request: LLMRequest
    advice: Advice | None
    reading: Reading
    problem: str = ""
    replies: tuple[LLMReply, ...] = ()
    """In order; a second one is the repair's."""
    cached: bool = False
    fault: LLMFault | None = None
    """Why there is no reply."""
    asked: bool = True
    """Whether the model was to be asked: not while its service is left alone, a budget spent, or the cache all."""
    latency_s: float = 0.0
    """Seconds from question to answer, retries and waiting included."""


@dataclass(slots=True)
class Counsel:
    """Asks a model through all that stands before it. Used by several threads at once; never raises.

    Args:
        backend: carries the requests.
        backend_name: its name, part of the cache's keys.
        usage: where requests are counted, and whose budgets are kept.
        breaker: leaves a failing service alone.
        backoff: how often and how soon a failed request is made again.
        cache: replies on disk, if any.
        cache_use: what the cache is used for.
        form: form of the replies.
        expires_after: steps that advice holds.
        most_tokens: of a request's text, about; a longer one is not sent.
        settled: whether the backend knows its model; otherwise it is checked before the first request.
        loading: how long an answer may take while the model is being loaded.
        report: told once when the service is left alone and when it is back, which budget is spent, and what mends
            replies that end before an answer.
        stopping: set when the run ends; no request is made again after that.
    """

    backend: LLMBackend
    backend_name: str
    usage: Usage
    breaker: Breaker
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
    told_spent: bool = False
    """Whether people know that a budget is spent."""
    _told_long: bool = False
    _told_cut: bool = False

    def ask(self, request: LLMRequest) -> Answer:
        """Asks, reads, asks once more if the reply is no use, and reads that."""
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

    def close(self) -> None:
        """Lets go of the backend and the cache. What is under way is not waited for."""
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
            if room < 0:  # the question leaves no room to speak of its answer
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
        if not self._told_long:
            self._told_long = True
            self.report(
                f"No advice here: what must be said takes about {tokens} tokens, and max_context_length is "
                f"{self.most_tokens}. The rules go on; other situations may be shorter."
            )
        raise _Unasked("the question is longer than max_context_length")

    def _check_budget(self) -> None:
        spent = self.usage.spent
        if not spent:
            return
        if not self.told_spent:
            self.told_spent = True
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
                if self.stopping.is_set():  # the run's end broke it off, which is no fault of the service
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
        """Return the backend's reply, within a time; a service that is loading the model is asked again."""
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
        """Tell once what mends replies that end before, or in the middle of, an answer."""
        if reply.cut and not self._told_cut:
            self._told_cut = True
            empty = is_empty(reply)
            ended = "before it answered" if empty else "in the middle of its answer"
            self.report(
                f"{reply.model or self.backend.model} used up its {request.max_tokens:,} tokens {ended}: give it more "
                f"with --llm-reply-tokens{', or keep it from thinking: ' + NO_THINKING if empty else ''}."
            )

    def _complete(self, request: LLMRequest) -> LLMReply:
        """The backend's reply. Settles the model first where it could not be when the run began."""
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
        except Exception as error:  # whatever a backend does: a training is not to end by it
            logger.exception("the backend %s broke its contract", self.backend_name)
            raise LLMFailure(LLMFault.BROKEN, f"the backend failed: {one_line(error)}") from error
        return replace(
            reply,
            text=redact(reply.text),
            parsed=redacted(reply.parsed),
            cut=reply.cut or reply.completion_tokens >= request.max_tokens,  # not every service says so
            problem=redact(reply.problem),
        )


def is_empty(reply: LLMReply) -> bool:
    """Return whether a reply says nothing, whatever was thought."""
    if reply.parsed is not None:
        return False
    answer, thoughts = take_apart(reply.text)
    return not answer.strip() and whole_value(thoughts) is None


class _Unasked(Exception):  # noqa: N818 - a reason, not an error
    """Why a model was not asked."""
