"""The learner's own thread, which learns while the environments step, with a lag counted in steps and not in time.

The weights of update k act from window k + 1 on, however long the update took: that keeps a training reproducible.
A learner that waits for its updates has no such lag, and nothing steps while it learns. One that only launches its
updates, on a GPU, needs no thread: what is due is launched while the next steps are under way, and acts from
the windows on that end with them.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ClassVar

from pkmncli.api import Algorithm

_HANDOVER_SECONDS = 1e-5
"""Maximum time in which a thread keeps another one waiting; by default 5 ms. An update waits for its turn
some hundred times, a step some ten times, and a step takes about 1 ms: with turns of 0.2 ms it took a fifth longer."""


class _QuickTurns:
    """Threads take turns after :data:`_HANDOVER_SECONDS` until the last one that asked for it has ended."""

    _open: ClassVar[set[_QuickTurns]] = set()
    _usual = 0.0

    @classmethod
    def begin(cls) -> _QuickTurns:
        """Begin to take turns quickly. Returns what is to be ended."""
        if not cls._open:
            cls._usual = sys.getswitchinterval()
            sys.setswitchinterval(_HANDOVER_SECONDS)
        begun = cls()
        cls._open.add(begun)
        return begun

    def end(self) -> None:
        """Take turns as before, once none is left. Does nothing when called again."""
        if self in self._open:
            self._open.remove(self)
            if not self._open:
                sys.setswitchinterval(self._usual)


class LearnerThread:
    """Runner of single updates beside the trainer's thread. Threads of the process take turns faster meanwhile."""

    def __init__(self, learner: Algorithm) -> None:
        self._learner = learner
        self._samples_ahead = bool(getattr(learner, "samples_ahead", False))
        self._waits = bool(getattr(learner, "waits_for_updates", False))
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pkmn-learner")
        self._running: Future[dict[str, float]] | None = None
        self._unpublished = False
        learn_beside = getattr(learner, "learn_beside", None)
        if learn_beside is not None and not self._waits:
            learn_beside()
        self._quick_turns = _QuickTurns.begin()

    def next_window(self) -> dict[str, float]:
        """End a window: wait for the running update, publish its weights, and start the next one.

        Returns the metrics of the update that ended; nothing when there was none.
        """
        if self._samples_ahead:
            ended, self._running = self._running, self._start()
            return self._let_act(ended, begun=self._running is not None)
        metrics = self._let_act(self._running)
        self._running = self._start()
        if not self._waits:
            return metrics
        metrics = self._let_act(self._running)
        self._running = None
        return metrics

    def meanwhile(self) -> None:
        """Do nothing: the thread learns anyway while the environments step."""

    def wait(self) -> list[dict[str, float]]:
        """Wait for the running update without publishing it, so that the learner can be saved."""
        if self._running is None:
            return []
        metrics = self._running.result()
        self._running = None
        self._unpublished = True
        return [metrics]

    def _start(self) -> Future[dict[str, float]] | None:
        """Start an update, after the running one if there is one."""
        sampled = self._learner.sample()
        return None if sampled is None else self._executor.submit(self._learner.learn, sampled)

    def _let_act(self, running: Future[dict[str, float]] | None, *, begun: bool = False) -> dict[str, float]:
        """Wait for an update and publish its weights, or those awaited before; ``begun``: the next one has started."""
        metrics = {} if running is None else running.result()
        if running is not None or self._unpublished:
            if begun:
                self._learner.publish(begun=True)  # type: ignore[call-arg]
            else:
                self._learner.publish()
        self._unpublished = False
        return metrics

    def state_dict(self) -> dict[str, Any]:
        """Return whether an update is done but not published. Call :meth:`wait` before."""
        return {"unpublished": self._unpublished}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore from :meth:`state_dict`."""
        self._unpublished = bool(state["unpublished"])

    def close(self) -> None:
        """End the thread and close the learner. An update that runs in another process is not awaited."""
        end_learner = getattr(self._learner, "close", lambda: None)
        try:
            end_learner()
        finally:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._quick_turns.end()
            end_learner()  # what an update that was waited for has begun


class LaunchedUpdates:
    """The same for a learner whose ``learn`` only launches an update: it is called while the environments step."""

    def __init__(self, learner: Algorithm) -> None:
        self._learner = learner
        self._due = 0  # windows whose updates are to be launched
        self._unpublished = False
        self._metrics: deque[dict[str, float]] = deque()  # of launches, not returned yet

    def next_window(self) -> dict[str, float]:
        """End a window: publish what was launched before it; its own update is launched later.

        Returns the metrics of a launch, in their order; nothing where there is none.
        """
        if self._unpublished:
            self._learner.publish()
            self._unpublished = False
        self._due += 1
        return self._metrics.popleft() if self._metrics else {}

    def meanwhile(self) -> None:
        """Launch the updates that are due, while the environments step."""
        for _ in range(self._due):
            sampled = self._learner.sample()
            if sampled is not None:
                self._metrics.append(self._learner.learn(sampled))
                self._unpublished = True
        self._due = 0

    def wait(self) -> list[dict[str, float]]:
        """Launch the updates that are due without publishing them, so that the learner can be saved."""
        self.meanwhile()
        metrics = list(self._metrics)
        self._metrics.clear()
        return metrics

    def state_dict(self) -> dict[str, Any]:
        """Return whether an update was launched that does not act yet. Call :meth:`wait` before."""
        return {"unpublished": self._unpublished}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore from :meth:`state_dict`."""
        self._unpublished = bool(state["unpublished"])

    def close(self) -> None:
        """Close the learner."""
        getattr(self._learner, "close", lambda: None)()


def updates_of(learner: Algorithm) -> LearnerThread | LaunchedUpdates:
    """Return what runs a learner's updates: a thread, unless it only launches them."""
    return LaunchedUpdates(learner) if getattr(learner, "learns_at_once", False) else LearnerThread(learner)
