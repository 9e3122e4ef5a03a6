"""The advisor: requests run beside the training, one at most for each environment, and answers are picked up by step.

Nothing here waits for a model, except :meth:`Advisor.wait`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from dataclasses import dataclass, field
from threading import Thread

from pkmncli.api import LLMRequest
from pkmncli.llm.counsel import Answer, Counsel

SECONDS_BETWEEN_LOOKS = 0.1
"""How long an interruption may be overlooked while an answer is waited for."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """An answer that has come. ``asked_at`` is the step of the question, counted over all environments."""

    environment: int
    asked_at: int
    event: str
    """Why it was asked."""
    answer: Answer


@dataclass(slots=True)
class _Open:
    asked_at: int
    event: str
    future: Future[Answer]
    since: float = field(default_factory=time.monotonic)


class Advisor:
    """Keeps the open questions of all environments. Used by the trainer's thread alone.

    Args:
        counsel: answers a question, in threads of its own.
        num_envs: environments that may ask.
        most_open: questions open at once over all environments.
        patience_s: seconds after which a question is given up, whatever its thread still waits for.
        waits: whether answers are waited for, so that a run is reproducible: one is answered after the other.
    """

    def __init__(
        self, counsel: Counsel, num_envs: int, *, most_open: int = 4, waits: bool = False, patience_s: float = 300.0
    ) -> None:
        self.counsel = counsel
        self.waits = waits
        self.given_up = 0
        """Questions that were given up."""
        self._most_open = most_open
        self._patience_s = patience_s
        self._open: list[_Open | None] = [None] * num_envs
        self._latest: Future[Answer] | None = None

    def is_open(self, environment: int) -> bool:
        """Whether an environment's question is under way."""
        return self._open[environment] is not None

    @property
    def has_room(self) -> bool:
        """Whether one more question may be asked."""
        return sum(one is not None for one in self._open) < self._most_open

    def ask(self, environment: int, request: LLMRequest, *, asked_at: int, event: str) -> None:
        """Asks for an environment that has no question open."""
        assert self._open[environment] is None, "one open question for each environment"
        future: Future[Answer] = Future()
        # A thread that ends with the process, however long its request would still take.
        arguments = (self.counsel, request, future, self._latest if self.waits else None)
        Thread(target=_answer, args=arguments, name="advice", daemon=True).start()
        self._open[environment] = _Open(asked_at, event, future)
        self._latest = future

    def wait(self, interrupted: Callable[[], bool]) -> bool:
        """Waits until every question has its answer. Returns whether they have; an interruption ends the waiting."""
        futures = [one.future for one in self._open if one is not None]
        while wait_for(futures, SECONDS_BETWEEN_LOOKS).not_done:
            if interrupted():
                return False
        return True

    def poll(self) -> Sequence[Delivery]:
        """The answers that have come since the last time. Never waits."""
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

    def close(self) -> None:
        """Ends without waiting for what is under way: nobody will take its answer."""
        self.counsel.close()


def _answer(counsel: Counsel, request: LLMRequest, future: Future[Answer], after: Future[Answer] | None) -> None:
    """Answers a question, after another one where that is given."""
    try:
        if after is not None:
            wait_for([after])
        future.set_result(counsel.ask(request))
    except Exception as error:  # a fault of a backend that breaks its contract is the training's to tell
        future.set_exception(error)
