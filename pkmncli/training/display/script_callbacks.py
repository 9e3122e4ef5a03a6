"""Functions of a script that are called at events of a training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pkmncli.errors import ConfigurationError, did_you_mean
from pkmncli.training.display.callbacks import Callback, ProgressionEvent, Training

if TYPE_CHECKING:
    from pathlib import Path

    from pkmncli.api import EpisodeSummary

EVENTS = ("episode_start", "episode_end", "step_batch", "checkpoint", "stage_advanced", "strategy_switched")

Function = Callable[[Any, int, Mapping[str, Any]], object]
"""Takes the trainer, the number of episodes that have ended, and the event's metrics."""


class ScriptCallbacks(Callback):
    """Calls registered functions in the order of registration.

    An error that a function raises ends the training.

    Args:
        trainer: first argument of every function.
    """

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer
        self._functions: dict[str, list[Function]] = {event: [] for event in EVENTS}

    @property
    def follows_each_step(self) -> bool:  # type: ignore[override]
        """True if there are functions: each may save or end the training."""
        return any(self._functions.values())

    def register(self, event: str, function: Function) -> None:
        """Register a function for an event.

        Raises:
            ConfigurationError: there is no such event.
        """
        if event not in self._functions:
            hint = did_you_mean(event, EVENTS, f"there are {', '.join(EVENTS)}", shown="{}")
            raise ConfigurationError(f"no event is called {event!r}: {hint}")
        self._functions[event].append(function)

    def _call(self, event: str, training: Training, metrics: Mapping[str, Any]) -> None:
        for function in self._functions[event]:
            function(self._trainer, training.statistics.episodes, metrics)

    def on_episode_start(self, training: Training, environment: int, number: int, seed: int) -> None:
        """Call the functions of ``episode_start``."""
        self._call("episode_start", training, {"environment": environment, "number": number, "seed": seed})

    def on_episode(self, training: Training, summary: EpisodeSummary) -> None:
        """Call the functions of ``episode_end``. The environment's own metrics are ``environment/NAME``."""
        metrics = {"reward": summary.total_reward, **training.statistics.performance(summary)}
        metrics |= {f"environment/{name}": value for name, value in summary.metrics.items()}
        self._call("episode_end", training, metrics)

    def on_rows(self, training: Training, rows: Mapping[str, Any]) -> None:
        """Call the functions of ``step_batch``."""
        self._call("step_batch", training, rows)

    def on_checkpoint(self, training: Training, path: Path) -> None:
        """Call the functions of ``checkpoint``."""
        self._call("checkpoint", training, {"path": path, "step": training.statistics.steps})

    def on_progression(self, training: Training, event: ProgressionEvent, metrics: Mapping[str, Any]) -> None:
        """Call the functions of ``stage_advanced`` or ``strategy_switched``."""
        self._call(event, training, metrics)
