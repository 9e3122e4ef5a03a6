"""What a training was told, where it stands, and who is shown that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.training.intervals import Interval
from pkmncli.training.statistics import TrainingStatistics


@dataclass(frozen=True, slots=True)
class TrainerOptions:
    """What the loop needs to know. At least one budget is set, and the first one used up ends the training."""

    mode: AgentMode
    seed: int
    total_steps: int | None
    """Counted over all environments, as every interval is."""
    total_episodes: int | None
    save_interval: Interval
    schedule_steps: int
    """What the learner's schedules end at; a run that goes on keeps its first."""
    eval_interval: Interval

    @property
    def budget(self) -> str:
        """The budget in words."""
        budgets = {"steps": self.total_steps, "episodes": self.total_episodes}
        return ", ".join(f"{name} = {most:,}" for name, most in budgets.items() if most is not None)

    def fraction_used(self, statistics: TrainingStatistics) -> float:
        """Share of the budget that is used: 1 and more ends the training."""
        return max(
            statistics.steps / self.total_steps if self.total_steps is not None else 0.0,
            statistics.episodes / self.total_episodes if self.total_episodes is not None else 0.0,
        )


@dataclass(frozen=True, slots=True)
class Status:
    """Where a training stands, for whoever shows it."""

    statistics: TrainingStatistics
    options: TrainerOptions
    steps_per_second: float
    seconds: Mapping[str, float]
    """Time spent since the last status, by what it was spent on."""
    metrics: Mapping[str, float]
    game: str = ""
    """Where the first environment's game stood lately, for people."""

    @property
    def fraction_done(self) -> float:
        """Share of the budget that is used, 0..1."""
        return min(self.options.fraction_used(self.statistics), 1.0)


class Observer(Protocol):
    """Told of what happens in a training. Called by the trainer's thread; must return soon."""

    def on_status(self, status: Status) -> None:
        """Some thousand steps have passed."""

    def on_episode(self, status: Status) -> None:
        """An episode has ended. Speed, times and metrics are those of the status before."""

    def on_evaluation(self, step: int, found: Mapping[str, Any]) -> None:
        """The learner was evaluated after so many steps."""
