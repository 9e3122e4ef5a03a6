"""The advisor: requests run beside the training, one at most for each environment, and answers are picked up by step.

Nothing here waits for a model unless it is told to.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Thread

from pkmncli.api import LLMRequest
from pkmncli.llm.counsel import Answer, Counsel


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
        wait: whether an answer is waited for, so that a run is reproducible.
    """

    def __init__(
        self, counsel: Counsel, num_envs: int, *, most_open: int = 4, wait: bool = False, patience_s: float = 300.0
    ) -> None:
        self.counsel = counsel
        self.wait = wait
        self.given_up = 0
        """Questions that were given up."""
        self._most_open = most_open
        self._patience_s = patience_s
        self._open: list[_Open | None] = [None] * num_envs

    def is_open(self, environment: int) -> bool:
        """Whether an environment's question is under way."""
        return self._open[environment] is not None

    @property
    def has_room(self) -> bool:
        """Whether one more question may be asked."""
        return sum(one is not None for one in self._open) < self._most_open

    def ask(self, environment: int, request: LLMRequest, *, asked_at: int, event: str) -> None:
        """Asks for an environment that has no question open. With ``wait`` the answer is there when this returns."""
        assert self._open[environment] is None, "one open question for each environment"
        future: Future[Answer] = Future()
        if self.wait:
            future.set_result(self.counsel.ask(request))
        else:
            # A thread that ends with the process, however long its request would still take.
            Thread(target=_answer, args=(self.counsel, request, future), name="advice", daemon=True).start()
        self._open[environment] = _Open(asked_at, event, future)

    def poll(self) -> Sequence[Delivery]:
        """The answers that have come since the last time. Never waits."""
        deliveries = []
        for environment, one in enumerate(self._open):
            if one is None:
                continue
            if not one.future.done():
                if time.monotonic() - one.since > self._patience_s:
                    self._open[environment] = None
                    self.given_up += 1
                continue
            self._open[environment] = None
            deliveries.append(Delivery(environment, one.asked_at, one.event, one.future.result()))
        return deliveries

    def close(self) -> None:
        """Ends without waiting for what is under way: nobody will take its answer."""
        self.counsel.close()


def _answer(counsel: Counsel, request: LLMRequest, future: Future[Answer]) -> None:
    try:
        future.set_result(counsel.ask(request))
    except Exception as error:  # a fault of a backend that breaks its contract is the training's to tell
        future.set_exception(error)
