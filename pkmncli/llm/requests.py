"""Requests in parallel with the training: at most one for each environment; answers are taken at a step.

Only :meth:`AdviceRequests.wait` waits for a model.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from dataclasses import dataclass, field
from typing import Any

from pkmncli.api import LLMRequest
from pkmncli.llm.client import Answer, LLMClient, begin_answer
from pkmncli.llm.ensemble import EnsembleClient
from pkmncli.llm.usage import RepeatedAnswer

SECONDS_BETWEEN_LOOKS = 0.1
"""Seconds between two checks for an interruption while waiting for an answer."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Answer that has come. ``asked_at`` is the step of the question, over all environments."""

    environment: int
    asked_at: int
    event: str
    """Reason for the question."""
    answer: Answer


@dataclass(slots=True)
class _Open:
    asked_at: int
    event: str
    future: Future[Answer]
    since: float = field(default_factory=time.monotonic)


class AdviceRequests:
    """Open questions of all environments. Used by the trainer's thread only.

    Args:
        client: answers questions, in threads of this class.
        num_envs: number of environments.
        most_open: maximum number of open questions, over all environments.
        patience_s: seconds after which a question is given up, whether or not its thread still waits.
        waits: True to wait for each answer and to ask one question after the other, so that a run is reproducible.
    """

    def __init__(
        self,
        client: LLMClient | EnsembleClient,
        num_envs: int,
        *,
        most_open: int = 4,
        waits: bool = False,
        patience_s: float = 300.0,
    ) -> None:
        self._client = client
        self.waits = waits
        self.given_up = 0
        """Number of questions that were given up."""
        self._most_open = most_open
        self._patience_s = patience_s
        self._open: list[_Open | None] = [None] * num_envs
        self._latest: Future[Answer] | None = None

    def is_open(self, environment: int) -> bool:
        """Return True if a question of an environment is open."""
        return self._open[environment] is not None

    @property
    def has_room(self) -> bool:
        """True if another question may be asked."""
        return sum(one is not None for one in self._open) < self._most_open

    def ask(self, environment: int, request: LLMRequest, *, asked_at: int, event: str) -> None:
        """Ask for an environment without an open question."""
        assert self._open[environment] is None, "one open question for each environment"
        future = begin_answer(self._client.ask, request, after=self._latest if self.waits else None)
        self._open[environment] = _Open(asked_at, event, future)
        self._latest = future

    def wait(self, interrupted: Callable[[], bool]) -> bool:
        """Wait until every question has its answer. Return False if interrupted before."""
        futures = [one.future for one in self._open if one is not None]
        while wait_for(futures, SECONDS_BETWEEN_LOOKS).not_done:
            if interrupted():
                return False
        return True

    def poll(self) -> Sequence[Delivery]:
        """Return the answers that have come since the last call, without waiting."""
        deliveries = []
        for environment, one in enumerate(self._open):
            if one is None:
                continue
            if not one.future.done():
                if not self.waits and time.monotonic() - one.since > self._patience_s:
                    self._open[environment] = None
                    self.given_up += 1
                continue
            self._open[environment] = None
            deliveries.append(Delivery(environment, one.asked_at, one.event, one.future.result()))
        return deliveries

    def count_again(self, answer: RepeatedAnswer) -> None:
        """Count an answer that takes effect again after a resume."""
        self._client.usage.add_repeated(answer)

    def metrics(self) -> dict[str, float]:
        """Return the use so far: tokens, and dollars if the price is known."""
        usage = self._client.usage
        cost = {} if usage.cost_usd is None else {"llm/cost_usd": usage.cost_usd}
        return {"llm/tokens": float(usage.tokens), **cost}

    def summary(self) -> dict[str, Any]:
        """Return the figures of the requests, for the run's summary."""
        return {**self._client.usage.summary(), "given_up": self.given_up}

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values, without the open questions."""
        return {"client": self._client.state_dict(), "given_up": self.given_up}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self._client.load_state_dict(state["client"])
        self.given_up = int(state["given_up"])

    def close(self) -> None:
        """Close the client, without waiting for open questions."""
        self._client.close()
