"""Reward for getting on in the game: the first Pokemon, levels, milestones, badges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pkmn_pyboy.state.game_state import GameState


class ProgressSettings(BaseModel):
    """What progress is worth."""

    model_config = ConfigDict(extra="forbid")

    first_pokemon: float = Field(
        default=100.0, description="For the first Pokemon of an episode that began without one."
    )
    milestone: float = Field(default=25.0, description="For each milestone reached.")
    level: float = Field(default=5.0, description="For each level gained, summed over the party.")
    badge: float = Field(default=500.0, description="For each badge.")


class ProgressReward:
    """Pays once for each thing: what is lost and won again, or put away and fetched, pays nothing."""

    def __init__(self, settings: ProgressSettings | None = None) -> None:
        self.settings = settings or ProgressSettings()
        self._had_pokemon = False
        self._levels = 0
        self._badges = 0
        self._milestones = 0

    def reset(self, state: GameState) -> None:
        """What is there at the start of an episode is not paid for."""
        self._had_pokemon = state.party.count > 0
        self._levels = state.party.level_sum
        self._badges = state.badges
        self._milestones = state.milestones

    def score(self, previous: GameState, action: int, state: GameState) -> Mapping[str, float]:
        """The parts that this step earned."""
        if (
            state.party is previous.party
            and state.milestones == self._milestones
            and state.johto_badges == previous.johto_badges
            and state.kanto_badges == previous.kanto_badges
        ):
            return {}
        parts: dict[str, float] = {}
        settings = self.settings
        levels = state.party.level_sum
        if not self._had_pokemon and state.party.count > 0:
            # The level that it comes with belongs to it.
            self._had_pokemon = True
            self._levels = max(self._levels, levels)
            parts["first_pokemon"] = settings.first_pokemon
        if levels > self._levels:
            parts["level"] = settings.level * (levels - self._levels)
            self._levels = levels
        if state.milestones > self._milestones:
            parts["milestone"] = settings.milestone * (state.milestones - self._milestones)
            self._milestones = state.milestones
        badges = state.badges
        if badges > self._badges:
            parts["badge"] = settings.badge * (badges - self._badges)
            self._badges = badges
        return parts

    def save_state(self) -> dict[str, Any]:
        """What was paid for so far."""
        return {
            "had_pokemon": self._had_pokemon,
            "levels": self._levels,
            "badges": self._badges,
            "milestones": self._milestones,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from a saved state."""
        self._had_pokemon = bool(state["had_pokemon"])
        self._levels = int(state["levels"])
        self._badges = int(state["badges"])
        self._milestones = int(state["milestones"])
