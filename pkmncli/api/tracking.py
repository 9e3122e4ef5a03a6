"""Trackers: programs beside the run's own tables that metrics are handed to while a training goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Tracker(Protocol):
    """Takes a training's metrics to another program. Built with three arguments.

    They are ``run``, a :class:`pkmncli.api.RunInfo`; ``step``, 0 for a new run or the step after which it goes on; and
    ``settings``, an instance of its settings' model, or None where it has none. A class method ``check(settings)``,
    where there is one, is called before anything of the run is made, and raises ConfigurationError where something is
    missing.

    A run that was killed goes on from its last checkpoint: what was logged of later steps is then logged again, and
    a tracker sees to it that nothing of it counts twice. It is called in the trainer's process and must return
    quickly. One that raises is told once, and left out for the rest of the run.
    """

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Takes in metrics by name, measured after ``step`` environment steps. Steps never sink."""
        ...

    def flush(self) -> None:
        """Hands over what was held back. Called before each checkpoint, which a killed run goes on from."""
        ...

    def close(self, summary: Mapping[str, Any] | None) -> None:
        """Lets go of everything. ``summary`` is the training's; None where it was broken off without one."""
        ...
