"""When to ask again, and when to leave a failing service alone: backoff with jitter, and a breaker that reopens."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from pkmncli.api import LLMFailure, LLMFault

WORTH_RETRYING = frozenset({LLMFault.OVERLOADED, LLMFault.UNREACHABLE, LLMFault.BROKEN})
"""Faults that may be gone a moment later. A timeout and a loading are not: they have taken their time already."""

HOPELESS = frozenset({LLMFault.AUTHENTICATION, LLMFault.NO_MODEL})
"""Faults that stay until a person does something; the service is asked again all the same, seldom."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait before asking again: doubling, with jitter, as long as the service wants at least."""

    attempts: int = 3
    """Times that one question is asked at most."""
    first_s: float = 0.5
    most_s: float = 30.0

    def delay_s(self, failures: int, failure: LLMFailure, draw: Callable[[], float] = random.random) -> float:
        """Seconds to wait after a number of failures in a row; ``draw`` gives numbers in 0..1."""
        wait = min(self.first_s * 2.0 ** (failures - 1), self.most_s) * (0.5 + 0.5 * draw())
        return max(wait, failure.retry_after_s or 0.0)


@dataclass(frozen=True, slots=True)
class Pass:
    """Lets one request out. ``trial`` where it is the one that shows whether a service is back."""

    trial: bool


@dataclass(slots=True)
class Breaker:
    """Stops asking a service that fails time after time, and lets one request through now and then to see.

    Args:
        clock: seconds, such as ``time.monotonic``.
        failures: failures in a row that open it.
        pause_s: seconds until the first trial; doubles with each trial that fails.
        most_pause_s: the longest pause.
    """

    clock: Callable[[], float]
    failures: int = 5
    pause_s: float = 5.0
    most_pause_s: float = 120.0
    shortest_hold_s: float = 2.0
    """A service that wants to be asked again later than this is left alone until then, by all."""
    in_a_row: int = 0
    _open_until: float | None = None
    _pause: float = 0.0
    _trial: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_open(self) -> bool:
        """Whether the service is left alone at present."""
        return self._open_until is not None

    def allows(self) -> Pass | None:
        """What a request needs to go out now, if it may. Where it is the trial, nothing else may until it has ended."""
        with self._lock:
            if self._open_until is None:
                return Pass(trial=False)
            if self._trial or self.clock() < self._open_until:
                return None
            self._trial = True
            return Pass(trial=True)

    def succeeded(self, by: Pass) -> bool:
        """A reply came. Returns whether the service is back after having been left alone."""
        with self._lock:
            was_open = self._open_until is not None
            if was_open and not by.trial:  # one that had left before the service was given up proves nothing
                return False
            self.in_a_row = 0
            self._open_until, self._pause, self._trial = None, 0.0, False
            return was_open

    def failed(self, failure: LLMFailure, by: Pass, *, at_once: bool = False) -> bool:
        """No reply came. Returns whether the service is left alone from now on, and was not before.

        A service that says when it wants to be asked again is left alone by all until then.

        Args:
            failure: why.
            by: what the request went out with.
            at_once: whether one such failure is enough.
        """
        with self._lock:
            was_open = self._open_until is not None
            if was_open and not by.trial:
                return False
            self.in_a_row += 1
            self._trial = False
            patient = failure.retry_after_s is None or failure.retry_after_s <= self.shortest_hold_s
            enough = at_once or not patient or self.in_a_row >= self.failures or failure.fault in HOPELESS
            if not was_open and not enough:
                return False
            self._pause = min(self._pause * 2 if was_open else self.pause_s, self.most_pause_s)
            self._open_until = self.clock() + max(self._pause, failure.retry_after_s or 0.0)
            return not was_open
