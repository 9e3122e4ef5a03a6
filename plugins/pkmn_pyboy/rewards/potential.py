"""Reward as the difference of a potential, which changes how fast something is learned and never what is best.

Ng, Harada and Russell 1999, "Policy invariance under reward transformations": with F = gamma * potential(next state)
- potential(state) and the learner's own discount gamma, the best policy stays the best. Whoever comes back to a state
has gained nothing, whatever happened in between. At the end of an episode the potential is 0 (Grzes 2017, "Reward
shaping in episodic reinforcement learning").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pkmn_pyboy.state.game_state import GameState

DEFAULT_GAMMA = 0.99
"""Where neither the user nor a learner says one."""


class PotentialSettings(BaseModel):
    """What a state is worth, by part. The potential is their sum."""

    model_config = ConfigDict(extra="forbid")

    gamma: float | None = Field(
        default=None,
        gt=0.0,
        le=1.0,
        description="Discount of a step; must be the learner's, which it is if left out.",
    )
    milestone: float = Field(default=10.0, ge=0.0, allow_inf_nan=False, description="For each milestone reached.")
    badge: float = Field(default=50.0, ge=0.0, allow_inf_nan=False, description="For each badge.")
    level: float = Field(default=1.0, ge=0.0, allow_inf_nan=False, description="For each level, summed over the party.")
    health: float = Field(
        default=5.0, ge=0.0, allow_inf_nan=False, description="For all of the party's hit points, in shares."
    )


class PotentialReward:
    """Pays gamma * potential(next state) - potential(state) at every step, by part."""

    PARTS = ("milestone", "badge", "level", "health")

    def __init__(self, settings: PotentialSettings | None = None) -> None:
        self.settings = settings or PotentialSettings()
        self.gamma = DEFAULT_GAMMA if self.settings.gamma is None else self.settings.gamma
        self._state: GameState | None = None
        self._values: dict[str, float] = {}

    def reset(self, state: GameState) -> None:
        """Begins an episode. There is nothing to remember: all is in the two states of a step."""
        self._state = None

    def potential(self, state: GameState) -> dict[str, float]:
        """What a state is worth, by part."""
        settings, party = self.settings, state.party
        return {
            "milestone": settings.milestone * state.milestones,
            "badge": settings.badge * state.badges,
            "level": settings.level * party.level_sum,
            "health": settings.health * party.hp_share,
        }

    def score(self, previous: GameState, action: int, state: GameState) -> Mapping[str, float]:
        """The parts that this step earned. While nothing changes, each costs (1 - gamma) of its potential."""
        before = self._values if self._state is previous else self.potential(previous)
        if (
            state.party is previous.party
            and state.milestones == previous.milestones
            and state.johto_badges == previous.johto_badges
            and state.kanto_badges == previous.kanto_badges
        ):
            now = before
        else:
            now = self.potential(state)
        self._state, self._values = state, now
        gamma = self.gamma
        return {part: gamma * value - before[part] for part, value in now.items() if value or before[part]}

    def finish(self, state: GameState) -> Mapping[str, float]:
        """What is added where ``state`` ends an episode: the potential of an end is 0."""
        return {part: -self.gamma * value for part, value in self.potential(state).items() if value}

    def save_state(self) -> dict[str, Any]:
        """Nothing is remembered that the next step could not work out again."""
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from a saved state."""
        self._state = None
