"""Options of a training, and its status for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pkmncli.config.hand_over_settings import HandOverSettings
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.training.intervals import Interval
from pkmncli.training.recording.counters import TrainingStatistics
from pkmncli.training.recording.journey import Journey


@dataclass(frozen=True, slots=True)
class TrainerOptions:
    """Options of the training loop. At least one budget is set; the training ends when the first one is used up."""

    mode: AgentMode
    seed: int
    total_steps: int | None
    """Counted over all environments, as every interval is."""
    total_episodes: int | None
    save_interval: Interval
    schedule_steps: int
    """Steps at which the learner's schedules end; a resumed run keeps its first value."""
    eval_interval: Interval
    hand_over: HandOverSettings = field(default_factory=HandOverSettings)
    pretrain_steps: int = 0
    """Updates before the learner decides anything."""
    start: str = ""
    """Hash of the saved state in which every episode begins; empty for the game's own start."""

    @property
    def budget(self) -> str:
        """Budget in words."""
        budgets = {"steps": self.total_steps, "episodes": self.total_episodes}
        return ", ".join(f"{name} = {most:,}" for name, most in budgets.items() if most is not None)

    def fraction_used(self, statistics: TrainingStatistics) -> float:
        """Return the used share of the budget: 1 and more ends the training."""
        return max(
            statistics.steps / self.total_steps if self.total_steps is not None else 0.0,
            statistics.episodes / self.total_episodes if self.total_episodes is not None else 0.0,
        )


@dataclass(frozen=True, slots=True)
class Scene:
    """What goes on in the first environment, and who has how much say, for people."""

    game: str = ""
    """Where its game stands."""
    action: str = ""
    """What was pressed last,"""
    source: str = ""
    """who decided it,"""
    reason: str = ""
    """and why."""
    advice: str = ""
    """The language model's latest advice in words."""
    goal: str | None = None
    """The milestone that ends an episode."""
    trust: float | None = None
    """Weight of the advised side's confidence; nothing without a curriculum."""
    strategy: str = ""
    share: float = 0.0
    """The language model's share as the strategy wants it, 0..1."""


@dataclass(frozen=True, slots=True)
class Status:
    """Where a training stands, for whoever shows it."""

    statistics: TrainingStatistics
    options: TrainerOptions
    steps_per_second: float
    seconds: Mapping[str, float]
    """Time spent lately, by what it was spent on."""
    metrics: Mapping[str, float]
    scene: Scene = Scene()
    journey: Journey | None = None
    """The running episode that has got furthest."""

    @property
    def fraction_done(self) -> float:
        """Share of the budget that is used, 0..1."""
        return min(self.options.fraction_used(self.statistics), 1.0)
