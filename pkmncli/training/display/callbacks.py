"""Functions of a script that are called while a training goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from pkmncli.errors import ConfigurationError
from pkmncli.suggestions import did_you_mean

Event = Literal["episode_start", "episode_end", "step_batch", "checkpoint", "stage_advanced", "strategy_switched"]
EVENTS: tuple[str, ...] = get_args(Event)

Callback = Callable[[Any, int, Mapping[str, Any]], object]
"""Called with the trainer, the number of episodes that have ended, and what there is to say about the event."""


class Callbacks:
    """Calls what was registered, in that order. What a function raises ends the training, which is saved first."""

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer
        self._functions: dict[str, list[Callback]] = {event: [] for event in EVENTS}

    def register(self, event: str, function: Callback) -> None:
        """Has a function called at an event.

        Raises:
            ConfigurationError: there is no such event.
        """
        if event not in self._functions:
            hint = did_you_mean(event, EVENTS, f"there are {', '.join(EVENTS)}", shown="{}")
            raise ConfigurationError(f"no event is called {event!r}: {hint}")
        self._functions[event].append(function)

    def fire(self, event: Event, episode: int, metrics: Mapping[str, Any]) -> None:
        """Calls the functions of an event."""
        for function in self._functions[event]:
            function(self._trainer, episode, metrics)
