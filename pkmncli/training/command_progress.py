"""Progress of a run of a plugin's command, as callbacks follow it: counters, speed, pauses and viewers' requests."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pkmncli.errors import RunError
from pkmncli.training.display.callbacks import Callback, Callbacks

if TYPE_CHECKING:
    from pkmncli.api import RunInfo
    from pkmncli.training.display.status import Status
    from pkmncli.training.recording.counters import TrainingStatistics


class CommandProgress:
    """Progress of a run; it is a :class:`~pkmncli.training.display.callbacks.Training`.

    Args:
        run: the run's folder and settings.
        statistics: its counters, which may come from a checkpoint.
        interrupted: returns true once the run is to end.
        flush: puts what was recorded on disk.
        notify: calls the callbacks.
    """

    def __init__(
        self,
        run: RunInfo,
        statistics: TrainingStatistics,
        interrupted: Callable[[], bool],
        flush: Callable[[], None],
        notify: Callbacks,
    ) -> None:
        self.run = run
        """The run's folder and settings."""
        self.fraction_done = 0.0
        """Used share of the budget, 0..1, as the command said last."""
        self.checkpoint_requested = False
        """True if the command should save a checkpoint."""
        self.interrupted = interrupted
        """Returns true once the run is to end."""
        self._statistics = statistics
        self._flush = flush
        self._notify = notify
        self._steps_before = statistics.steps
        self._elapsed_before_s = statistics.elapsed_s
        self._began = time.perf_counter()
        self._paused_s = 0.0

    @property
    def statistics(self) -> TrainingStatistics:
        """Counters of the run, with the time spent so far."""
        self._statistics.elapsed_s = self._elapsed_before_s + self._spent_s
        return self._statistics

    @property
    def steps_per_second(self) -> float:
        """Speed since the run began or was resumed."""
        return (self._statistics.steps - self._steps_before) / max(self._spent_s, 1e-9)

    @property
    def _spent_s(self) -> float:
        return time.perf_counter() - self._began - self._paused_s

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While entered, the time counts for no speed, and what was recorded is on disk."""
        self._flush()
        self._notify(Callback.on_pause)
        began = time.perf_counter()
        yield
        seconds = time.perf_counter() - began
        self._paused_s += seconds
        self._notify(Callback.on_resume, seconds)

    def save_checkpoint(self) -> str:
        """Ask the command for a checkpoint."""
        self.checkpoint_requested = True
        return "The command saves a checkpoint when it next can."

    def status(self) -> Status:
        """Raise RunError: such a run has no status line."""
        raise RunError("a run of a plugin's command has no status line")
