"""The learner's own thread, which learns while the environments step, with a lag counted in steps and not in time.

The weights of update k act from window k + 1 on, however long the update took: that keeps a training reproducible.
A learner that waits for its updates has no such lag, and nothing steps while it learns.
"""

from __future__ import annotations

import sys
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from pkmncli.api import Algorithm

_HANDOVER_SECONDS = 1e-5
"""How long the learner's thread may keep the trainer's from going on; by default Python's threads have 5 ms. A step of
the game takes about 1 ms, and a worker waits for the trainer between any two."""


class LearnerThread:
    """Runs one update at a time beside the trainer's thread. Threads of the process take turns faster meanwhile."""

    def __init__(self, learner: Algorithm) -> None:
        self._learner = learner
        self._draws_ahead = bool(getattr(learner, "draws_ahead", False))
        self._waits = bool(getattr(learner, "waits_for_updates", False))
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pkmn-learner")
        self._running: Future[dict[str, float]] | None = None
        self._unpublished = False
        self._usual_handover = sys.getswitchinterval()
        sys.setswitchinterval(_HANDOVER_SECONDS)

    def next_window(self) -> dict[str, float]:
        """Ends a window: waits for the running update, lets it act, and starts the next one.

        Returns the metrics of the update that ended; nothing when there was none.
        """
        if self._draws_ahead:
            ended, self._running = self._running, self._start()
            return self._let_act(ended)
        metrics = self._let_act(self._running)
        self._running = self._start()
        if not self._waits:
            return metrics
        metrics = self._let_act(self._running)
        self._running = None
        return metrics

    def wait(self) -> dict[str, float]:
        """Waits for the running update without letting it act yet, so that the learner may be saved."""
        if self._running is None:
            return {}
        metrics = self._running.result()
        self._running = None
        self._unpublished = True
        return metrics

    def _start(self) -> Future[dict[str, float]] | None:
        """Begins an update, after the running one if there is one."""
        drawn = self._learner.draw()
        return None if drawn is None else self._executor.submit(self._learner.learn, drawn)

    def _let_act(self, running: Future[dict[str, float]] | None) -> dict[str, float]:
        """Waits for an update and lets it act, or that which was waited for before."""
        metrics = {} if running is None else running.result()
        if running is not None or self._unpublished:
            self._learner.publish()
        self._unpublished = False
        return metrics

    def state_dict(self) -> dict[str, Any]:
        """Whether an update is done that does not act yet. Call :meth:`wait` before."""
        return {"unpublished": self._unpublished}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from :meth:`state_dict`."""
        self._unpublished = bool(state["unpublished"])

    def close(self) -> None:
        """Ends the thread, after the update that it is at, and what the learner holds."""
        self._executor.shutdown(wait=True)
        end_learner = getattr(self._learner, "close", None)
        if end_learner is not None:
            end_learner()
        sys.setswitchinterval(self._usual_handover)
