"""Retries of failed requests: backoff with jitter, and a circuit breaker for a failing service."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from pkmncli.api import LLMFailure, LLMFault

WORTH_RETRYING = frozenset({LLMFault.OVERLOADED, LLMFault.UNREACHABLE, LLMFault.BROKEN})
"""Faults that may be gone a moment later. Not a timeout or a loading model: these have taken their time already."""

HOPELESS = frozenset({LLMFault.AUTHENTICATION, LLMFault.NO_MODEL})
"""Faults that stay until a person acts. The service is still asked again from time to time."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Time to wait before a retry: it doubles, has jitter, and is at least what the service asks for."""

    attempts: int = 3
    """Maximum number of requests for one question."""
    first_s: float = 0.5
    most_s: float = 30.0

    def delay_s(self, failures: int, failure: LLMFailure, sample: Callable[[], float] = random.random) -> float:
        """Return the seconds to wait after ``failures`` in a row; ``sample`` returns numbers in 0..1."""
        wait = min(self.first_s * 2.0 ** (failures - 1), self.most_s) * (0.5 + 0.5 * sample())
        return max(wait, failure.retry_after_s or 0.0)


@dataclass(frozen=True, slots=True)
class Pass:
    """Permission for one request. ``trial`` is True if the request is to show whether the service is back."""

    trial: bool


@dataclass(slots=True)
class CircuitBreaker:
    """Circuit breaker: no requests to a service that keeps failing, except a trial from time to time.

    Args:
        clock: seconds, such as ``time.monotonic``.
        failures: failures in a row that open it.
        pause_s: seconds until the first trial; doubles with each failed trial.
        most_pause_s: maximum pause in seconds.
    """

    clock: Callable[[], float]
    failures: int = 5
    pause_s: float = 5.0
    most_pause_s: float = 120.0
    shortest_hold_s: float = 2.0
    """Seconds up to which one request alone waits if the service asks for a pause; for longer ones, all wait."""
    in_a_row: int = 0
    _open_until: float | None = None
    _pause: float = 0.0
    _trial: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_open(self) -> bool:
        """True while the service is not asked."""
        return self._open_until is not None

    def allows(self) -> Pass | None:
        """Return the permission for a request; None if it must not be sent. There is one trial at a time."""
        with self._lock:
            if self._open_until is None:
                return Pass(trial=False)
            if self._trial or self.clock() < self._open_until:
                return None
            self._trial = True
            return Pass(trial=True)

    def succeeded(self, by: Pass) -> bool:
        """Note a reply. Return True if the service is back after a pause."""
        with self._lock:
            was_open = self._open_until is not None
            if was_open and not by.trial:  # sent before the pause began, it proves nothing
                return False
            self.in_a_row = 0
            self._open_until, self._pause, self._trial = None, 0.0, False
            return was_open

    def failed(self, failure: LLMFailure, by: Pass, *, at_once: bool = False) -> bool:
        """Note a request without a reply. Return True if a pause begins now.

        If the service says when to ask again, the pause lasts until then.

        Args:
            failure: the reason.
            by: the permission of the request.
            at_once: True if one such failure is enough.
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
