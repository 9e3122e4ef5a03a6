"""The curriculum: trust in the advised side, lowered as the learner shows what it can do alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Any

from pkmncli.api import StrategyType
from pkmncli.config.curriculum_settings import CurriculumSettings, Stage


@dataclass(frozen=True, slots=True)
class Change:
    """Change after an episode: a stage passed, or trust lowered because patience ran out."""

    advanced: bool
    completed: bool
    """True if the last stage was passed: the curriculum has ended."""
    stage: int
    """The new stage, from 1."""
    trust: float
    preferred: StrategyType | None
    """Strategy to begin the stage with; None to keep the one in use."""
    reason: str
    """Reason in words, for people."""


class Curriculum:
    """State of the curriculum: the stage, and trust in the advised side.

    Passing a stage needs all of this at once: the latest measured episodes, all of this stage, reached its threshold
    on average; their rewards vary little; the stage has lasted its number of episodes; the strategy does not ask to
    stay. When patience runs out, trust falls by a stage's worth and the stage stays as it is. Patience counts measured
    episodes, so that it cannot run out before a learner had the chance to pass. Trust never rises.

    Args:
        settings: stages and criteria.
    """

    def __init__(self, settings: CurriculumSettings) -> None:
        self.settings = settings
        self.trust = settings.stages[0].llm_confidence
        """Weight of the advised side's confidence against the learner's, 0..1."""
        self.advancements = 0
        self.completed = False
        self._place = 0
        self._episodes = 0
        """Training episodes in this stage."""
        self._waited = 0
        """Measured episodes since the stage was reached or patience ran out."""
        self._measured: deque[float] = deque(maxlen=settings.window_episodes)

    @property
    def stage(self) -> int:
        """The current stage, from 1."""
        return self._place + 1

    @property
    def settings_of_stage(self) -> Stage:
        """Settings of the current stage."""
        return self.settings.stages[self._place]

    @property
    def measured(self) -> list[float]:
        """Rewards of the measured episodes that count, oldest first."""
        return list(self._measured)

    def add_measured(self, reward: float) -> None:
        """Add the reward of a measured episode. :meth:`end_episode` evaluates it."""
        self._measured.append(reward)
        self._waited += 1

    def end_episode(self, reward: float, *, asks_to_stay: bool = False) -> Change | None:
        """Note the end of a training episode, and change stage or trust if due.

        Args:
            reward: its reward; counts as measured if training episodes are measured.
            asks_to_stay: True if the strategy asks to stay in the stage.

        Returns:
            A change beyond the slow decay of trust; None if there is none.
        """
        self._episodes += 1
        if self.settings.measure == "training":
            self.add_measured(reward)
        if self.completed:
            return None
        if not asks_to_stay and self._passed():
            return self._advance()
        floor = self._next_trust(self.settings_of_stage.llm_confidence)
        self.trust = max(self.trust * (1 - self.settings.confidence_decay_rate), min(floor, self.trust))
        patience = self.settings.advancement_patience
        if patience is not None and self._waited >= patience:
            return self._lose_patience(patience)
        return None

    def _passed(self) -> bool:
        settings, stage = self.settings, self.settings_of_stage
        least = settings.min_episodes if stage.min_episodes is None else stage.min_episodes
        if self._episodes < least or len(self._measured) < settings.window_episodes:
            return False
        mean = fmean(self._measured)
        steady = pstdev(self._measured) <= settings.max_deviation * abs(mean)
        return mean >= stage.reward_threshold and steady

    def _advance(self) -> Change:
        left, mean = self.stage, fmean(self._measured)
        self.advancements += 1
        self.completed = self._place == len(self.settings.stages) - 1
        self._place += not self.completed
        self._episodes = self._waited = 0
        self._measured.clear()
        self.trust = min(self.trust, self.settings_of_stage.llm_confidence)
        then = "the curriculum is complete" if self.completed else f"stage {self.stage} begins"
        reason = (
            f"Stage {left} of the curriculum passed with a mean reward of {mean:.1f}: {then}, "
            f"trust in the advised side {self.trust:g}."
        )
        preferred = None if self.completed else self.settings_of_stage.preferred
        return Change(True, self.completed, self.stage, self.trust, preferred, reason)

    def _lose_patience(self, patience: int) -> Change | None:
        self._waited = 0
        lower = self._next_trust(self.trust)
        if lower >= self.trust:
            return None
        self.trust = lower
        reason = (
            f"{patience} measured episodes in stage {self.stage} of the curriculum without advancing: "
            f"trust in the advised side sinks to {self.trust:g} anyway."
        )
        return Change(False, False, self.stage, self.trust, None, reason)

    def _next_trust(self, trust: float) -> float:
        """Return the highest trust of a stage that is below a given one; the lowest of all if there is none."""
        trusts = [stage.llm_confidence for stage in self.settings.stages]
        return max((one for one in trusts if one < trust), default=trusts[-1])

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {
            "place": self._place,
            "trust": self.trust,
            "advancements": self.advancements,
            "completed": self.completed,
            "episodes": self._episodes,
            "waited": self._waited,
            "measured": list(self._measured),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self._place, self.trust = int(state["place"]), float(state["trust"])
        self.advancements, self.completed = int(state["advancements"]), bool(state["completed"])
        self._episodes, self._waited = int(state["episodes"]), int(state["waited"])
        self._measured = deque(state["measured"], maxlen=self.settings.window_episodes)
