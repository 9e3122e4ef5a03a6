"""Contract of trackers: other programs that receive the metrics of a running training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Tracker(Protocol):
    """Receiver of a training's metrics. Built with three arguments.

    They are ``run``, a :class:`pkmncli.api.RunInfo`; ``step``, 0 for a new run or the step after which it resumes; and
    ``settings``, an instance of its settings model, or None if it has none. Optional members are in
    :class:`pkmncli.api.OptionalTracker`.

    A killed run resumes from its last checkpoint: metrics of later steps are then logged again, and a tracker must not
    count them twice. It is called in the trainer's process and must return quickly. If it raises, that is reported
    once, and the tracker is left out for the rest of the run.
    """

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Take in metrics by name, measured after ``step`` environment steps. Steps never decrease.

        Where hundreds of episodes end in a second, a call has the latest value of each metric since the one before.
        """
        ...

    def flush(self) -> None:
        """Send what was held back. Called before each checkpoint, from which a killed run resumes."""
        ...

    def close(self, summary: Mapping[str, Any] | None) -> None:
        """Release everything. ``summary`` is the training's; None if the training ended without one."""
        ...
