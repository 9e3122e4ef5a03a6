"""Options of the training loop: budgets, and intervals in steps or episodes of all environments."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pkmncli.config import DEFAULT_STEPS, ResolvedSettings
from pkmncli.config.hand_over_settings import HandOverSettings
from pkmncli.config.resolved import DEFAULT
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
    save_interval_s: float = math.inf
    """Seconds since the latest checkpoint after which another one is due."""
    start: str = ""
    """Hash of the saved state in which every episode begins; empty for the game's own start."""

    @property
    def budget(self) -> str:
        """Budget in words."""
        budgets = {"steps": self.total_steps, "episodes": self.total_episodes}
        return ", ".join(f"{name} = {most:,}" for name, most in budgets.items() if most is not None)

    def steps_ahead(self, progress: Progress, num_envs: int, interval: int) -> int:
        """Return the steps of every environment that can be taken until one may end a budget or an interval.

        Args:
            progress: of the training, whose budget is not used up.
            num_envs: environments, each of which may end an episode with every step.
            interval: a further one, in steps.
        """
        save, evaluate = self.save_interval, self.eval_interval
        of_steps = self.total_steps, save.steps, evaluate.steps, interval
        of_episodes = self.total_episodes, save.episodes, evaluate.episodes
        left = [every - progress.steps % every for every in of_steps if every is not None]
        left += [every - progress.episodes % every for every in of_episodes if every is not None]
        return -(-min(left) // num_envs)

    def fraction_used(self, progress: Progress) -> float:
        """Return the used share of the budget: 1 and more ends the training."""
        return max(
            progress.steps / self.total_steps if self.total_steps is not None else 0.0,
            progress.episodes / self.total_episodes if self.total_episodes is not None else 0.0,
        )


def has_finished(steps: Any, episodes: Any, summary: Mapping[str, Any]) -> bool:
    """Return whether a training has used up one of its budgets.

    Args:
        steps: its setting; None if it is not set.
        episodes: the same.
        summary: of the run; may be empty.
    """
    steps = DEFAULT_STEPS if steps is None and episodes is None else steps
    used = (steps, summary.get("total_steps", 0)), (episodes, summary.get("total_episodes", 0))
    return any(isinstance(budget, int) and done >= budget for budget, done in used)


def trainer_options(
    settings: ResolvedSettings, episode_steps: int, schedule_steps: int | None = None
) -> TrainerOptions:
    """Return the options that settings choose.

    Args:
        settings: of the training.
        episode_steps: maximum steps of an episode.
        schedule_steps: those of a resumed run: a larger budget must not restart a schedule; None for a new run.
    """
    train = settings.train
    steps = train.steps
    if steps is None and train.episodes is None:
        steps = DEFAULT_STEPS
    budget = steps if steps is not None else (train.episodes or 1) * episode_steps
    by_default = settings.origins["save_interval"] == DEFAULT
    return TrainerOptions(
        mode=AgentMode(train.mode),
        seed=train.seed,
        total_steps=steps,
        total_episodes=train.episodes,
        save_interval=Interval(
            # an interval in episodes replaces the default one in steps
            None if train.save_interval_episodes and by_default else train.save_interval,
            train.save_interval_episodes,
        ),
        save_interval_s=60 * train.save_interval_minutes,
        eval_interval=Interval(train.eval_interval, train.eval_interval_episodes),
        hand_over=settings.hand_over,
        pretrain_steps=train.pretrain_steps,
        schedule_steps=budget if schedule_steps is None else schedule_steps,
    )
