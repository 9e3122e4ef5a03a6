"""Accounting: requests, tokens, time and money, and the budgets that they may use up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from pkmncli.api import LLMReply, Price
from pkmncli.llm.contents import NO_ANSWER
from pkmncli.llm.replies import CUT_OFF, EMPTY

KEPT_LATENCIES = 10_000
"""Latencies kept for percentiles; the oldest make room."""


def price_of(model: str, prices: Mapping[str, Price]) -> Price | None:
    """The price of a model by the longest beginning of its name; None where it is unknown."""
    beginnings = [name for name in prices if model.startswith(name)]
    return Price(*prices[max(beginnings, key=len)]) if beginnings else None


@dataclass(slots=True)
class Usage:
    """What the requests of a run came to. Used by several threads at once.

    Args:
        price: of the model, for the cost; unknown without one.
        budget_usd: dollars that may be spent; no limit without it.
        budget_tokens: tokens that may be spent; no limit without it.
    """

    price: Price | None = None
    budget_usd: float | None = None
    budget_tokens: int | None = None
    requests: int = 0
    cached: int = 0
    replies: int = 0
    repaired: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cut: int = 0
    """Questions without advice whose answer the service cut at its longest length, in the middle."""
    empty: int = 0
    """Questions without advice whose answer says nothing, cut or not."""
    latencies_s: list[float] = field(default_factory=list)
    readings: Counter[str] = field(default_factory=Counter)
    """How the replies were read; what was no use at all counts as nothing."""
    faults: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def add_request(self) -> None:
        """A request leaves."""
        with self._lock:
            self.requests += 1

    def add_reply(self, reply: LLMReply) -> None:
        """A reply has come from the model."""
        with self._lock:
            self.replies += 1
            self.prompt_tokens += reply.prompt_tokens
            self.completion_tokens += reply.completion_tokens
            self.latencies_s.append(reply.latency_s)
            del self.latencies_s[:-KEPT_LATENCIES]

    def add_fault(self, fault: str) -> None:
        """A request got no reply."""
        with self._lock:
            self.faults[fault] += 1

    def add_reading(self, reading: str, *, cached: bool, repaired: bool, problem: str = "") -> None:
        """A question was answered, so or so; with what was wrong where no advice came of it."""
        with self._lock:
            self._add_problem(problem)
            self.readings[reading] += 1
            self.cached += cached
            self.repaired += repaired

    def _add_problem(self, problem: str) -> None:
        empty = problem.endswith((EMPTY, NO_ANSWER))
        self.empty += empty
        self.cut += problem.startswith(CUT_OFF) and not empty

    def add_repeated(
        self,
        reading: str,
        *,
        replies: int,
        cached: bool,
        prompt_tokens: int,
        completion_tokens: int,
        latency_s: float,
        problem: str = "",
    ) -> None:
        """A question was answered before the run was broken off, and its answer takes effect again: it did cost."""
        with self._lock:
            self._add_problem(problem)
            self.readings[reading] += bool(replies)
            self.repaired += replies > 1
            self.cached += cached
            if cached or not replies:
                return
            self.requests += replies
            self.replies += replies
            self.prompt_tokens += prompt_tokens
            self.completion_tokens += completion_tokens
            self.latencies_s.append(latency_s)

    @property
    def tokens(self) -> int:
        """Of prompts and replies."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def cost_usd(self) -> float | None:
        """Dollars spent; None where the price is unknown."""
        if self.price is None:
            return None
        return (self.prompt_tokens * self.price.prompt_usd + self.completion_tokens * self.price.completion_usd) / 1e6

    @property
    def spent(self) -> str:
        """Which budget is used up, in words; empty while none is."""
        if self.budget_tokens is not None and self.tokens >= self.budget_tokens:
            return f"the budget of {self.budget_tokens:,} tokens"
        cost = self.cost_usd
        if self.budget_usd is not None and cost is not None and cost >= self.budget_usd:
            return f"the budget of ${self.budget_usd:g}"
        return ""

    def latency_s(self, percent: float) -> float | None:
        """A percentile of the latencies; None without any."""
        latencies = sorted(self.latencies_s)
        if not latencies:
            return None
        return latencies[min(int(len(latencies) * percent / 100), len(latencies) - 1)]

    def summary(self) -> dict[str, Any]:
        """The figures, for people and the run's summary."""
        asked = sum(self.readings.values())
        valid = self.readings["schema"]
        return {
            "requests": self.requests,
            "replies": self.replies,
            "from_cache": self.cached,
            "repaired": self.repaired,
            "cut": self.cut,
            "empty": self.empty,
            "validity_rate": valid / asked if asked else None,
            "readings": dict(self.readings),
            "faults": dict(self.faults),
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "latency_p50_s": self.latency_s(50),
            "latency_p95_s": self.latency_s(95),
            "cost_usd": self.cost_usd,
        }

    def state_dict(self) -> dict[str, Any]:
        """Plain values to go on from."""
        with self._lock:
            return {
                "requests": self.requests,
                "cached": self.cached,
                "replies": self.replies,
                "repaired": self.repaired,
                "cut": self.cut,
                "empty": self.empty,
                "prompt_tokens": self.prompt_tokens,
                "completion_tokens": self.completion_tokens,
                "latencies_s": [round(latency, 4) for latency in self.latencies_s],
                "readings": dict(self.readings),
                "faults": dict(self.faults),
            }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`state_dict`."""
        with self._lock:
            for name in ("requests", "cached", "replies", "repaired", "prompt_tokens", "completion_tokens"):
                setattr(self, name, int(state[name]))
            self.cut, self.empty = int(state.get("cut", 0)), int(state.get("empty", 0))  # younger than some checkpoints
            self.latencies_s = [float(latency) for latency in state["latencies_s"]]
            self.readings = Counter(state["readings"])
            self.faults = Counter(state["faults"])
