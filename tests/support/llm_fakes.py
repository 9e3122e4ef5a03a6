"""A backend that answers what a test puts into it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from pkmncli.api import LLMFailure, LLMReply, LLMRequest
from pkmncli.llm.cache import CacheUse, ReplyCache
from pkmncli.llm.client import LLMClient
from pkmncli.llm.retry import Backoff, CircuitBreaker
from pkmncli.llm.usage import Usage
from support.reply_forms import FORM

GOOD = json.dumps({"goal": "g", "skill": "press", "presses": ["up"], "confidence": 0.5, "reason": "r"})
REQUEST = LLMRequest(system="you advise", prompt="what now?")

Answering = str | LLMFailure | Callable[[LLMRequest], LLMReply]


@dataclass
class FakeBackend:
    """Gives its answers in turn, the last one for ever."""

    answers: list[Answering] = field(default_factory=lambda: [GOOD])
    model: str = "fake"
    sees: bool = True
    asked: list[LLMRequest] = field(default_factory=list)
    closed: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self) -> str:
        return "Advice: fake."

    def complete(self, request: LLMRequest) -> LLMReply:
        with self._lock:
            self.asked.append(request)
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, LLMFailure):
            raise answer
        if callable(answer):
            return answer(request)
        return LLMReply(answer, self.model, prompt_tokens=100, completion_tokens=20, latency_s=0.2)

    def models(self) -> list[str]:
        return [self.model]

    def close(self) -> None:
        self.closed = True


@dataclass
class Clock:
    """A clock that a test sets."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def client_of(
    backend: FakeBackend,
    *,
    clock: Clock | None = None,
    usage: Usage | None = None,
    cache: ReplyCache | None = None,
    cache_use: CacheUse = CacheUse.OFF,
    failures: int = 5,
    told: list[str] | None = None,
    most_tokens: int | None = None,
) -> LLMClient:
    """A client that waits for nothing between its attempts."""
    return LLMClient(
        backend,
        "fake",
        usage or Usage(),
        CircuitBreaker(clock or Clock(), failures=failures),
        backoff=Backoff(attempts=3, first_s=0.0),
        form=FORM,
        most_tokens=most_tokens,
        cache=cache,
        cache_use=cache_use,
        report=(told if told is not None else []).append,
    )
