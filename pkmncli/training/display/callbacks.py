"""Callbacks: one contract for everything that follows a training, and the list in which a trainer calls them.

The console, the live board, plugins' hooks, trackers and a script's functions are callbacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Protocol

if TYPE_CHECKING:
    from pkmncli.api import EpisodeSummary, RunInfo
    from pkmncli.training.display.status import Status
    from pkmncli.training.recording.counters import TrainingStatistics

ProgressionEvent = Literal["stage_advanced", "strategy_switched"]

P = ParamSpec("P")


class Training(Protocol):
    """The training that callbacks follow."""

    @property
    def statistics(self) -> TrainingStatistics:
        """Counters of the training."""

    @property
    def run(self) -> RunInfo:
        """The run's folder and settings."""

    @property
    def fraction_done(self) -> float:
        """Used share of the budget, 0..1."""

    @property
    def steps_per_second(self) -> float:
        """Recent speed; 0 if not known yet."""

    def interrupted(self) -> bool:
        """Return whether the training is to end, which also ends a pause."""

    def status(self) -> Status:
        """Return the current status. This asks a worker, which takes a fraction of a millisecond."""

    def save_checkpoint(self) -> str | None:
        """Write a checkpoint; return a message if it is written later instead. Raises PkmnError or OSError."""

    def paused(self) -> AbstractContextManager[None]:
        """While entered, the time counts for no speed, and all recorded rows are on disk."""


class Callback:
    """Base class of callbacks: every method does nothing.

    Methods are called by the trainer's thread and must return soon. An error that one raises ends the training.
    """

    follows_each_step = False
    """True if it may save or end the training after any step; otherwise several may be taken at once."""

    def on_start(self, training: Training) -> None:
        """Training starts, or resumes after ``training.statistics.steps`` steps."""

    def before_step(self, training: Training) -> None:
        """Handle the time before a step. The callback may save or pause."""

    def on_step(self, training: Training) -> None:
        """Handle a completed step of all environments, or several."""

    def on_episode_start(self, training: Training, environment: int, number: int, seed: int) -> None:
        """Episode ``number`` of an environment starts."""

    def on_episode(self, training: Training, summary: EpisodeSummary) -> None:
        """Handle the end of an episode, which is counted already."""

    def on_rows(self, training: Training, rows: Mapping[str, Any]) -> None:
        """Rows of the table of decisions were recorded: columns by name."""

    def on_metrics(self, training: Training, metrics: Mapping[str, float]) -> None:
        """Metrics were recorded: values by name."""

    def on_progression(self, training: Training, event: ProgressionEvent, metrics: Mapping[str, Any]) -> None:
        """Handle another stage of the curriculum, or a switch of the strategy."""

    def on_evaluation(self, training: Training, found: Mapping[str, Any]) -> None:
        """Handle an evaluation; ``found`` as :func:`pkmncli.training.evaluation.evaluation.report` returns it."""

    def before_checkpoint(self) -> None:
        """Flush: a checkpoint is written next, and a run resumed from it does not repeat earlier events."""

    def on_checkpoint(self, training: Training, path: Path) -> None:
        """Handle a checkpoint that is complete on disk."""

    def on_new_folder(self) -> None:
        """Handle that the run's folder was deleted and is made again."""

    def on_activity(self, doing: str) -> None:
        """Show what the training does instead of stepping."""

    def on_message(self, text: str) -> None:
        """Show a line to people."""

    def on_pause(self) -> None:
        """Handle a pause of the training."""

    def on_resume(self, seconds: float) -> None:
        """Handle the end of a pause of so many seconds."""

    def on_finish(self, training: Training, summary: Mapping[str, Any]) -> None:
        """Training ended normally or was interrupted, and is saved."""

    def on_end(self, training: Training) -> None:
        """Training is over, also after an error. This is the last call."""


class Callbacks:
    """Several callbacks, called in their order."""

    def __init__(self, callbacks: Iterable[Callback] = ()) -> None:
        self._callbacks = tuple(callbacks)
        self._methods: dict[str, list[Callable[..., None]]] = {}
        """Methods to call by the name of their event."""

    @property
    def follows_each_step(self) -> bool:
        """True if one of them does."""
        return any(one.follows_each_step for one in self._callbacks)

    def __call__(self, event: Callable[Concatenate[Callback, P], None], *arguments: P.args, **named: P.kwargs) -> None:
        """Call the method of every callback that overrides ``event``, a method of :class:`Callback`."""
        name = event.__name__
        if name not in self._methods:  # looked up once: most callbacks override few, and a step has two events
            overriding = [one for one in self._callbacks if getattr(type(one), name, None) is not event]
            self._methods[name] = [getattr(one, name) for one in overriding]
        for method in self._methods[name]:
            method(*arguments, **named)

    def end(self, training: Training) -> None:
        """Call ``on_end`` of every callback, even if another one raises."""
        with ExitStack() as ending:
            for callback in reversed(self._callbacks):
                ending.callback(callback.on_end, training)
