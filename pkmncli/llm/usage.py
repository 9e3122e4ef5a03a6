"""Accounting of requests, tokens, time and money, and their budgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from pkmncli.api import LLMReply, Price
from pkmncli.llm.contents import NO_ANSWER
from pkmncli.llm.replies import CUT_OFF, EMPTY

KEPT_LATENCIES = 10_000
"""Maximum number of latencies kept for percentiles; the oldest are dropped."""

_COUNTS = ("requests", "cached", "replies", "repaired", "prompt_tokens", "completion_tokens", "cut", "empty")


def price_of(model: str, prices: Mapping[str, Price]) -> Price | None:
    """Return the price of a model, by the longest beginning of its name; None if unknown."""
    beginnings = [name for name in prices if model.startswith(name)]
    return Price(*prices[max(beginnings, key=len)]) if beginnings else None


def cost_of(usages: Iterable[Usage]) -> float | None:
    """Return the cost in dollars of the models whose price is known; None if none is."""
    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    return sum(costs) if costs else None


@dataclass(frozen=True, slots=True)
class RepeatedAnswer:
    """Answer that came before a run was interrupted, and takes effect again when it resumes."""

    reading: str
    replies: int
    cached: bool
    prompt_tokens: int
    completion_tokens: int
    latency_s: float
    problem: str = ""
    """Reason that there is no advice."""
    member: str = ""
    """Name of the model in its ensemble; empty without one."""


@dataclass(slots=True)
class Usage:
    """Requests of a run, and their cost. Safe for several threads.

    Args:
        price: of the model; None if unknown.
        budget_usd: maximum cost in dollars; None for no limit.
        budget_tokens: maximum number of tokens; None for no limit.
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
    """Questions without advice whose answer the service cut at its maximum length."""
    empty: int = 0
    """Questions without advice whose answer is empty, cut or not."""
    latencies_s: list[float] = field(default_factory=list)
    readings: Counter[str] = field(default_factory=Counter)
    """Number of replies by the way in which they were read; useless ones count as ``nothing``."""
    faults: Counter[str] = field(default_factory=Counter)
    shared_with: tuple[Usage, ...] = field(default=(), repr=False, compare=False)
    """Usages that count for the same budgets, with this one; empty if there is only this one."""
    _lock: Lock = field(default_factory=Lock)

    def add_request(self) -> None:
        """Count a request that is sent."""
        with self._lock:
            self.requests += 1

    def add_reply(self, reply: LLMReply) -> None:
        """Add a reply of the model."""
        with self._lock:
            self.replies += 1
            self.prompt_tokens += reply.prompt_tokens
            self.completion_tokens += reply.completion_tokens
            self.latencies_s.append(reply.latency_s)
            del self.latencies_s[:-KEPT_LATENCIES]

    def add_fault(self, fault: str) -> None:
        """Count a request without a reply."""
        with self._lock:
            self.faults[fault] += 1

    def add_reading(self, reading: str, *, cached: bool, repaired: bool, problem: str = "") -> None:
        """Add the reading of an answered question; ``problem`` is the reason that there is no advice."""
        with self._lock:
            self._add_problem(problem)
            self.readings[reading] += 1
            self.cached += cached
            self.repaired += repaired

    def _add_problem(self, problem: str) -> None:
        empty = problem.endswith((EMPTY, NO_ANSWER))
        self.empty += empty
        self.cut += problem.startswith(CUT_OFF) and not empty

    def add_repeated(self, answer: RepeatedAnswer) -> None:
        """Add an answer that takes effect again: the checkpoint has not counted it yet."""
        with self._lock:
            self._add_problem(answer.problem)
            self.readings[answer.reading] += bool(answer.replies)
            self.repaired += answer.replies > 1
            self.cached += answer.cached
            if answer.cached or not answer.replies:
                return
            self.requests += answer.replies
            self.replies += answer.replies
            self.prompt_tokens += answer.prompt_tokens
            self.completion_tokens += answer.completion_tokens
            self.latencies_s.append(answer.latency_s)

    def include(self, other: Usage) -> None:
        """Add the requests of another model."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.latencies_s += other.latencies_s
        self.readings.update(other.readings)
        self.faults.update(other.faults)

    @property
    def tokens(self) -> int:
        """Number of tokens of prompts and replies."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def cost_usd(self) -> float | None:
        """Cost in dollars; None if the price is unknown."""
        if self.price is None:
            return None
        return (self.prompt_tokens * self.price.prompt_usd + self.completion_tokens * self.price.completion_usd) / 1e6

    @property
    def spent(self) -> str:
        """Name of the budget that is used up, in words; empty if there is none."""
        all_ = self.shared_with or (self,)
        if self.budget_tokens is not None and sum(one.tokens for one in all_) >= self.budget_tokens:
            return f"the budget of {self.budget_tokens:,} tokens"
        cost = cost_of(all_)
        if self.budget_usd is not None and cost is not None and cost >= self.budget_usd:
            return f"the budget of ${self.budget_usd:g}"
        return ""

    def latency_s(self, percent: float) -> float | None:
        """Return a percentile of the latencies; None without any."""
        latencies = sorted(self.latencies_s)
        if not latencies:
            return None
        return latencies[min(int(len(latencies) * percent / 100), len(latencies) - 1)]

    def summary(self) -> dict[str, Any]:
        """Return the figures, for people and the run's summary."""
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
        """Return the state as plain values."""
        with self._lock:
            return {
                **{name: getattr(self, name) for name in _COUNTS},
                "latencies_s": [round(latency, 4) for latency in self.latencies_s],
                "readings": dict(self.readings),
                "faults": dict(self.faults),
            }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        with self._lock:
            for name in _COUNTS:
                setattr(self, name, int(state.get(name, 0)))  # older checkpoints lack some
            self.latencies_s = [float(latency) for latency in state["latencies_s"]]
            self.readings = Counter(state["readings"])
            self.faults = Counter(state["faults"])
