"""Status of a training, for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pkmncli.api import ActionNames, Source
from pkmncli.training.loop_options import TrainerOptions
from pkmncli.training.recording.counters import TrainingStatistics
from pkmncli.training.recording.journey import Journey

if TYPE_CHECKING:
    import numpy as np


DECIDED_BY = {Source.RL: "the learner", Source.EXPLORE: "exploration", Source.RULE: "the rules", Source.LLM: "the LLM"}
"""Sources of actions in words."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Latest step of the first environment, and the shares of those who decide, for people."""

    game: str = ""
    """State of its game in words."""
    action: str = ""
    """Latest action."""
    source: str = ""
    """Source of the latest action in words."""
    reason: str = ""
    """Reason for the latest action."""
    advice: str = ""
    """The language model's latest advice in words."""
    goal: str | None = None
    """Milestone that ends an episode."""
    trust: float | None = None
    """Weight of the advised side's confidence; None without a curriculum."""
    strategy: str = ""
    share: float = 0.0
    """Language model's share of the steps with advice that the strategy wants, 0..1."""

    @classmethod
    def of(cls, record: np.void, names: ActionNames, **others: Any) -> Scene:
        """Return the scene after a step with this record; ``names`` are those of actions, ``others`` other fields."""
        return cls(
            action=names.names[int(record["action"])],
            source=DECIDED_BY[Source(int(record["source"]))],
            reason=record["reason"].decode(errors="ignore"),
            **others,
        )


@dataclass(frozen=True, slots=True)
class Status:
    """Progress of a training, for whoever shows it."""

    statistics: TrainingStatistics
    options: TrainerOptions
    steps_per_second: float
    seconds: Mapping[str, float]
    """Recent time by what it was spent on."""
    metrics: Mapping[str, float]
    scene: Scene = Scene()
    journey: Journey | None = None
    """Running episode that has got furthest."""

    @property
    def fraction_done(self) -> float:
        """Used share of the budget, 0..1."""
        return min(self.options.fraction_used(self.statistics.progress), 1.0)
