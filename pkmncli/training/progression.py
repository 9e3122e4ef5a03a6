"""How much say learner, language model and rules have, from episode to episode: strategy and curriculum.

What is measured is played between two steps, so a training that is broken off there plays it when it goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pkmncli.api import Algorithm, Strategy
from pkmncli.hybrid.curriculum import Curriculum

if TYPE_CHECKING:
    from pkmncli.training.callbacks import Event
    from pkmncli.training.statistics import TrainingStatistics

logger = logging.getLogger(__name__)

Play = Callable[[Algorithm, int, Callable[[], bool]], float | None]
"""Plays a measured episode by its number, and returns its reward, or nothing if it was interrupted."""


class Happening(NamedTuple):
    """Something that functions of a script are told."""

    event: Event
    metrics: dict[str, Any]


class Progression:
    """Strategy and curriculum of a training; either may be missing.

    Args:
        strategy: shares advised steps between language model and rules.
        curriculum: keeps trust in the advised side.
        play: plays an episode of the learner alone, where those are measured.
        tell: shows a line to people.
    """

    def __init__(
        self,
        strategy: Strategy | None = None,
        curriculum: Curriculum | None = None,
        *,
        play: Play | None = None,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.strategy = strategy
        self.curriculum = curriculum
        self._play = play
        self._tell = tell
        self._due: int | None = None
        """Number of the measured episode that is to be played next."""
        self._latest: float | None = None
        """Reward of a measured episode that is not told yet."""

    @property
    def share(self) -> float | None:
        """The language model's share of the steps with advice; None where no strategy decides it."""
        return None if self.strategy is None else self.strategy.share

    @property
    def trust(self) -> float | None:
        """Weight of the advised side's confidence; None where no curriculum decides it."""
        return None if self.curriculum is None else self.curriculum.trust

    @property
    def due(self) -> bool:
        """Whether :meth:`measure` has an episode to play."""
        return self._due is not None and self._play is not None and self.curriculum is not None

    def begin(self) -> None:
        """A new training: the first stage's strategy holds."""
        if self.curriculum is not None and self.strategy is not None:
            self.strategy.begin_stage(self.curriculum.settings_of_stage.preferred)

    def measure(self, learner: Algorithm, interrupted: Callable[[], bool]) -> float | None:
        """Plays what is due, before the next step. Returns its reward, if any was played to its end."""
        if self._due is None or self._play is None or self.curriculum is None:
            return None
        reward = self._play(learner, self._due, interrupted)
        if reward is not None:
            self._due, self._latest = None, reward
            self.curriculum.add_measured(reward)
        return reward

    def end_episode(self, performance: Mapping[str, Any], statistics: TrainingStatistics) -> list[Happening]:
        """Takes in an episode that has ended and been counted, and enters what changes into ``statistics``."""
        happened = []
        before = self.strategy.name if self.strategy is not None else ""
        if self.strategy is not None:
            self.strategy.select(performance)
        if self.curriculum is not None:
            settings = self.curriculum.settings
            if settings.measure == "greedy" and statistics.episodes % settings.measure_interval == 0:
                self._due = statistics.episodes // settings.measure_interval - 1
            stays = self.strategy is not None and self.strategy.asks_to_stay
            change = self.curriculum.end_episode(float(performance["episode_reward"]), asks_to_stay=stays)
            if change is not None:
                logger.info("%s", change.reason)
                self._tell(change.reason)
            if change is not None and change.advanced:
                if self.strategy is not None:
                    self.strategy.begin_stage(change.preferred)
                metrics: dict[str, Any] = {"stage": change.stage, "trust": change.trust, "completed": change.completed}
                happened.append(Happening("stage_advanced", metrics))
            statistics.curriculum_stage = self.curriculum.stage
            statistics.curriculum_advancements = self.curriculum.advancements
        if self.strategy is not None and self.strategy.name != before:
            statistics.strategy_switches += 1
            metrics = {"previous": before, "strategy": self.strategy.name, "share": self.strategy.share}
            text = f"Strategy {self.strategy.name} instead of {before}: {self.strategy.share:.0%} language model."
            logger.info("%s", text)
            self._tell(text)
            happened.append(Happening("strategy_switched", metrics))
        return happened

    def take_metrics(self) -> dict[str, float]:
        """What stands after an episode, for the table of metrics; a measured reward is told once."""
        found: dict[str, float] = {}
        if self.curriculum is not None:
            found["curriculum/stage"], found["curriculum/trust"] = self.curriculum.stage, self.curriculum.trust
        if self._latest is not None:
            found["curriculum/measured_reward"], self._latest = self._latest, None
        if self.strategy is not None:
            found["strategy/llm_share"] = self.strategy.share
        return found

    def summary(self) -> dict[str, Any]:
        """For the run's summary."""
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
        """Plain values to go on from."""
        return {
            "strategy": None if self.strategy is None else self.strategy.state_dict(),
            "curriculum": None if self.curriculum is None else self.curriculum.state_dict(),
            "due": self._due,
            "latest": self._latest,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from :meth:`state_dict`."""
        if self.strategy is not None and state["strategy"] is not None:
            self.strategy.load_state_dict(state["strategy"])
        if self.curriculum is not None and state["curriculum"] is not None:
            self.curriculum.load_state_dict(state["curriculum"])
        self._due, self._latest = state["due"], state["latest"]
