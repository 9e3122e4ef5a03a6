"""Strategy and curriculum of a training: shares of learner, language model and rules, from episode to episode.

Measured episodes are played between two steps; a training that is interrupted there plays them when it resumes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pkmncli.api import Algorithm, Strategy
from pkmncli.hybrid.curriculum import Curriculum
from pkmncli.training.evaluation.while_training import Measured

if TYPE_CHECKING:
    from pkmncli.training.display.callbacks import ProgressionEvent
    from pkmncli.training.recording.counters import TrainingStatistics

_EARLY_EPISODES = (1, 3, 6)
"""Episodes of the training after which the learner alone is measured early."""

_SELDOM = 5
"""Intervals of measuring between two times, once the curriculum is complete."""

Play = Callable[[Algorithm, Sequence[int], Callable[[], bool]], list[Measured] | None]
"""Function that plays measured episodes by their numbers. Returns their results; None if interrupted."""


class Change(NamedTuple):
    """A change of strategy or curriculum."""

    reason: str
    """Reason in words."""
    event: ProgressionEvent | None = None
    """Event for callbacks; None if only trust was lowered."""
    metrics: Mapping[str, Any] = {}


class Progression:
    """Strategy and curriculum of a training; either may be missing.

    Args:
        strategy: shares advised steps between language model and rules.
        curriculum: keeps trust in the advised side.
        play: plays an episode of the learner alone, where those are measured.
        early: measures also before the first step and after the first few episodes, which the curriculum leaves out:
            the curve of the learner alone then begins where it knows nothing.
    """

    def __init__(
        self,
        strategy: Strategy | None = None,
        curriculum: Curriculum | None = None,
        *,
        play: Play | None = None,
        early: bool = False,
    ) -> None:
        self.strategy = strategy
        self.curriculum = curriculum
        self._play = play
        self._early = early
        self._counts = True
        """True if the curriculum counts the episodes that are due."""
        self._due: list[int] = []
        """Numbers of the measured episodes that are to be played next."""

    @property
    def follows(self) -> bool:
        """True if a strategy or a curriculum takes in episodes."""
        return self.strategy is not None or self.curriculum is not None

    @property
    def share(self) -> float | None:
        """The language model's share of the steps with advice; None where no strategy decides it."""
        return None if self.strategy is None else self.strategy.share

    @property
    def trust(self) -> float | None:
        """Weight of the advised side's confidence; None where no curriculum decides it."""
        return None if self.curriculum is None else self.curriculum.trust

    @property
    def due(self) -> int:
        """Number of episodes that :meth:`measure` has to play."""
        return 0 if self._play is None or self.curriculum is None else len(self._due)

    def begin(self) -> None:
        """Begin a new training: the first stage's strategy holds, and the learner that knows nothing is measured."""
        self._call_early()
        if self.curriculum is not None and self.strategy is not None:
            self.strategy.begin_stage(self.curriculum.settings_of_stage.preferred)

    def measure(self, learner: Algorithm, interrupted: Callable[[], bool]) -> list[Measured]:
        """Play what is due, before the next step. Returns what came of it; nothing where it was interrupted."""
        if not self._due or self._play is None or self.curriculum is None:
            return []
        measured = self._play(learner, self._due, interrupted)
        if measured is None:
            return []
        self._due = []
        for one in measured if self._counts else ():
            self.curriculum.add_measured(one.reward)
        return measured

    def _call_early(self) -> None:
        """Have the starts of the first measuring played, for people to see."""
        if self._early and self.curriculum is not None and self.curriculum.settings.measure == "greedy":
            self._due, self._counts = list(range(self.curriculum.settings.measure_starts)), False

    def end_episode(self, performance: Mapping[str, Any], statistics: TrainingStatistics) -> list[Change]:
        """Take in an episode that has ended and is counted; enter changes into ``statistics``. Returns the changes."""
        changes = []
        before = self.strategy.name if self.strategy is not None else ""
        if self.strategy is not None:
            self.strategy.select(performance)
        if self.curriculum is not None:
            settings = self.curriculum.settings
            # Once all stages are passed, measuring decides nothing any more and only shows the curve.
            interval = settings.measure_interval * (_SELDOM if self.curriculum.completed else 1)
            if settings.measure == "greedy" and statistics.episodes % interval == 0:
                first = (statistics.episodes // settings.measure_interval - 1) * settings.measure_starts
                self._due, self._counts = list(range(first, first + settings.measure_starts)), True
            elif statistics.episodes in _EARLY_EPISODES and not self._due:
                self._call_early()
            stays = self.strategy is not None and self.strategy.asks_to_stay
            change = self.curriculum.end_episode(float(performance["episode_reward"]), asks_to_stay=stays)
            if change is not None and change.advanced:
                if self.strategy is not None:
                    self.strategy.begin_stage(change.preferred)
                metrics: dict[str, Any] = {"stage": change.stage, "trust": change.trust, "completed": change.completed}
                changes.append(Change(change.reason, "stage_advanced", metrics))
            elif change is not None:
                changes.append(Change(change.reason))
            statistics.curriculum_stage = self.curriculum.stage
            statistics.curriculum_advancements = self.curriculum.advancements
        if self.strategy is not None and self.strategy.name != before:
            statistics.strategy_switches += 1
            metrics = {"previous": before, "strategy": self.strategy.name, "share": self.strategy.share}
            text = f"Strategy {self.strategy.name} instead of {before}: {self.strategy.share:.0%} language model."
            changes.append(Change(text, "strategy_switched", metrics))
        return changes

    def take_metrics(self) -> dict[str, float]:
        """Return stage, trust and share after an episode, for the table of metrics."""
        found: dict[str, float] = {}
        if self.curriculum is not None:
            found["curriculum/stage"], found["curriculum/trust"] = self.curriculum.stage, self.curriculum.trust
        if self.strategy is not None:
            found["strategy/llm_share"] = self.strategy.share
        return found

    def summary(self) -> dict[str, Any]:
        """Return the state of curriculum and strategy for the run's summary."""
        found: dict[str, Any] = {}
        if self.curriculum is not None:
            found["curriculum"] = {
                "stage": self.curriculum.stage,
                "completed": self.curriculum.completed,
                "trust": self.curriculum.trust,
                "measured": self.curriculum.measured,
            }
        if self.strategy is not None:
            found["strategy"] = self.strategy.get_strategy_stats()
        return found

    def state_dict(self) -> dict[str, Any]:
        """Return plain values to resume from."""
        return {
            "strategy": None if self.strategy is None else self.strategy.state_dict(),
            "curriculum": None if self.curriculum is None else self.curriculum.state_dict(),
            "due": list(self._due),
            "counts": self._counts,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore from :meth:`state_dict`."""
        if self.strategy is not None and state["strategy"] is not None:
            self.strategy.load_state_dict(state["strategy"])
        if self.curriculum is not None and state["curriculum"] is not None:
            self.curriculum.load_state_dict(state["curriculum"])
        due = state["due"]
        # an earlier version measured one episode at a time
        self._due = [int(number) for number in due] if isinstance(due, list) else []
        self._counts = bool(state.get("counts", True))
