"""Log of decisions: at level DEBUG, a line for each decision with all that led to it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pkmncli.api import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pkmncli.training.deciding import StepChoice
    from pkmncli.training.workers.pool import WorkerPool

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Before:
    """State in which a step is decided; a value for each environment."""

    choice: StepChoice
    pilot_actions: NDArray[Any]
    pilot_confidences: NDArray[Any]
    allowed: list[str]
    advice: list[str]


class DecisionLog:
    """Log of the decisions of a training. Above level DEBUG it costs nothing.

    Args:
        pool: the environments.
        advice: returns the advice that an environment follows, in words; empty without.
    """

    def __init__(self, pool: WorkerPool, advice: Callable[[int], str] = lambda index: "") -> None:
        self._pool = pool
        self._advice = advice
        self._before: _Before | None = None

    @property
    def is_on(self) -> bool:
        """True if :meth:`before_step` has noted the state of a step that is not logged yet."""
        return self._before is not None

    def before_step(self, choice: StepChoice) -> None:
        """Note the state in which the environments are about to step."""
        self._before = None
        if logger.isEnabledFor(logging.DEBUG):
            pool, mask = self._pool, self._pool.observations().get("action_mask")
            count = pool.flat_actions.count
            allowed = [f"{count} of {count}"] * pool.num_envs
            if mask is not None:
                allowed = [f"{int(one)} of {count}" for one in (mask != 0).sum(axis=1)]
            advice = [self._advice(index) for index in range(pool.num_envs)]
            self._before = _Before(choice, pool.pilot_actions(), pool.pilot_confidences(), allowed, advice)

    def after_step(self, records: NDArray[Any], trust: float, strategy: str) -> None:
        """Log the decisions of a step, if :meth:`before_step` noted its state.

        Args:
            records: of the step, (num_envs,).
            trust: weight of the advised side's confidence.
            strategy: in use; empty without.
        """
        if self._before is None:
            return
        names = self._pool.action_names.names
        for index, record in enumerate(records):
            before, choice = self._before, self._before.choice
            pilot = float(before.pilot_confidences[index])
            advised = int(before.pilot_actions[index])
            logger.debug(
                "environment %d, episode %d, step %d: %s by %s, confidence %.2f; learner %.2f, advised side %s, trust "
                "%.2f; %s actions allowed; advice: %s; strategy: %s; reward %g%s",
                index,
                record["episode"],
                record["step"],
                names[int(record["action"])],
                Source(int(record["source"])).name.lower(),
                record["confidence"],
                choice.confidences[index],
                f"{names[advised]} {pilot:.2f}" if advised >= 0 else "none",
                trust,
                before.allowed[index],
                before.advice[index] or "none",
                strategy or "none",
                record["reward"],
                _reason(record["reason"]),
            )


def _reason(text: bytes) -> str:
    return f"; reason: {text.decode('utf-8', 'replace')}" if text else ""
