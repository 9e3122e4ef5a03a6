"""Several models as advisers of one agent: all are asked at the same time, each through its own client.

Every model has its own retries, circuit breaker and accounting; budgets are common. Which of the answers is followed is
decided elsewhere (:mod:`pkmncli.advice.ensemble`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from typing import Any

from pkmncli.api import LLMFault, LLMRequest
from pkmncli.llm.client import Answer, LLMClient, begin_answer
from pkmncli.llm.replies import Reading
from pkmncli.llm.usage import RepeatedAnswer, Usage, cost_of

LATE = "its answer came too late for this question"
"""Problem of a model that took longer than the others may wait."""

_BUSY = "it still answers an earlier question"


class EnsembleUsage:
    """Usage of all models of an ensemble.

    Args:
        models: usage of each model, by its name in the ensemble. Their budgets become common: each model stops when
            all together have reached its budget.
    """

    def __init__(self, models: Mapping[str, Usage]) -> None:
        self.models = dict(models)
        for usage in self.models.values():
            usage.shared_with = tuple(self.models.values())

    @property
    def tokens(self) -> int:
        """Number of tokens of prompts and replies, of all models."""
        return sum(usage.tokens for usage in self.models.values())

    @property
    def cost_usd(self) -> float | None:
        """Cost in dollars of the models whose price is known; None if none is."""
        return cost_of(self.models.values())

    def add_repeated(self, answer: RepeatedAnswer) -> None:
        """Add an answer of a model that takes effect again."""
        self.models[answer.member].add_repeated(answer)

    def summary(self) -> dict[str, Any]:
        """Return the figures of all models together, and those of each under ``models``."""
        whole = Usage()
        for usage in self.models.values():
            whole.include(usage)
        models = {name: usage.summary() for name, usage in self.models.items()}
        return {**whole.summary(), "cost_usd": self.cost_usd, "models": models}


@dataclass(slots=True)
class EnsembleClient:
    """Client of several models. Safe for several threads; :meth:`ask` never raises.

    Args:
        models: client of each model, by its name in the ensemble.
        waits: True to wait for every model, so that a run is reproducible. Otherwise a question waits for late models
            only until ``timeout_s`` of its request, if another model has answered by then.
    """

    models: Mapping[str, LLMClient]
    waits: bool = False
    usage: EnsembleUsage = field(init=False)
    _late: dict[str, Future[Answer]] = field(default_factory=dict)
    """Latest answer of each model that its question did not wait for."""

    def __post_init__(self) -> None:
        self.usage = EnsembleUsage({name: client.usage for name, client in self.models.items()})

    def ask(self, request: LLMRequest) -> Answer:
        """Return the answers of all models as ``members`` of an answer without advice.

        A model that still answers a question that did not wait for it is left out.
        """
        began = time.perf_counter()
        asked: dict[str, Future[Answer]] = {}
        for name, client in self.models.items():
            late = self._late.get(name)
            if late is None or late.done():
                asked[name] = begin_answer(client.ask, request)
        self._wait(asked, None if self.waits else request.timeout_s)
        answers = []
        for name in self.models:
            future = asked.get(name)
            if future is None:
                answers.append((name, _without(request, _BUSY, asked=False)))
            elif future.done():
                answers.append((name, future.result()))
            else:
                self._late[name] = future
                answers.append((name, _without(request, LATE)))
        return replace(
            _without(request, "no model has answered"),
            members=tuple(answers),
            latency_s=time.perf_counter() - began,
        )

    def _wait(self, asked: Mapping[str, Future[Answer]], timeout_s: float | None) -> None:
        pending = wait(asked.values(), timeout_s).not_done
        while pending and not any(one.done() and one.result().advice is not None for one in asked.values()):
            pending = wait(pending, return_when=FIRST_COMPLETED).not_done

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {"models": {name: client.state_dict() for name, client in self.models.items()}}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        for name, client in self.models.items():  # of all first: a client looks whether the common budget is spent
            client.usage.load_state_dict(state["models"][name]["usage"])
        for name, client in self.models.items():
            client.load_state_dict(state["models"][name])

    def close(self) -> None:
        """Close all clients, without waiting for requests in progress."""
        for client in self.models.values():
            client.close()


def _without(request: LLMRequest, problem: str, *, asked: bool = True) -> Answer:
    fault = LLMFault.TIMEOUT if asked else None
    return Answer(request, None, Reading.NOTHING, problem, fault=fault, asked=asked)
