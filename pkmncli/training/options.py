"""Options of the training loop: budgets, and intervals in steps or episodes of all environments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from pkmncli.config.hand_over_settings import HandOverSettings
from pkmncli.hybrid.arbiter import AgentMode


class Progress(NamedTuple):
    """Steps and episodes of a training so far, over all environments."""

    steps: int
    episodes: int


@dataclass(frozen=True, slots=True)
class Interval:
    """Interval in steps, in episodes, both, or never (both None)."""

    steps: int | None = None
    episodes: int | None = None

    def passed(self, before: Progress, now: Progress) -> bool:
        """Return whether a multiple of it is in (before, now]."""
        return (self.steps is not None and crossings(before.steps, now.steps, self.steps) > 0) or (
            self.episodes is not None and crossings(before.episodes, now.episodes, self.episodes) > 0
        )

    @property
    def ever(self) -> bool:
        """True unless it never comes."""
        return self.steps is not None or self.episodes is not None


def crossings(before: int, now: int, interval: int) -> int:
    """Return the number of multiples of ``interval`` in (before, now]."""
    return now // interval - before // interval


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

    def fraction_used(self, progress: Progress) -> float:
        """Return the used share of the budget: 1 and more ends the training."""
        return max(
            progress.steps / self.total_steps if self.total_steps is not None else 0.0,
            progress.episodes / self.total_episodes if self.total_episodes is not None else 0.0,
        )
