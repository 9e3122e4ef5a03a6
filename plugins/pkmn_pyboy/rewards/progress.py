"""Reward for progress in the game: Pokemon, levels, milestones, badges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pkmn_pyboy.rewards.party_changes import HighestLevels, able
from pkmn_pyboy.state.game_state import GameState


class ProgressSettings(BaseModel):
    """Settings of the reward for progress."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    first_pokemon: float = Field(
        default=100.0, description="For the first Pokemon of an episode that began without one."
    )
    pokemon: float = Field(
        default=25.0,
        description="For each later Pokemon: more in the party, or more species caught, than before in the episode.",
    )
    milestone: float = Field(default=25.0, description="For each milestone reached.")
    level: float = Field(
        default=50.0,
        description="For a level gained, divided by the number of Pokemon in the party.",
    )
    badge: float = Field(default=500.0, description="For each badge.")


class ProgressReward:
    """Reward that pays once: what is lost and regained, or deposited and withdrawn, pays nothing.

    Levels pay when they are gained. Levels of Pokemon that are caught, withdrawn or swapped in pay nothing.
    """

    PARTS = ("first_pokemon", "pokemon", "level", "milestone", "badge")

    def __init__(self, settings: ProgressSettings | None = None) -> None:
        self.settings = settings or ProgressSettings()
        self._pokemon = 0
        self._levels = HighestLevels()
        self._badges = 0
        self._milestones = 0

    def reset(self, state: GameState) -> None:
        """Start an episode; what exists at its start is not paid for."""
        self._pokemon = _pokemon(state)
        self._levels.reset(state.party)
        self._badges = state.badges
        self._milestones = state.milestones

    def score(self, previous: GameState, action: int, state: GameState) -> Mapping[str, float]:
        """Return the parts that this step earned."""
        if (
            state.party is previous.party
            and state.milestones == self._milestones
            and state.johto_badges == previous.johto_badges
            and state.kanto_badges == previous.kanto_badges
            and state.caught == previous.caught
        ):
            return {}
        parts: dict[str, float] = {}
        settings = self.settings
        pokemon = _pokemon(state)
        if pokemon > self._pokemon:
            later = pokemon - self._pokemon
            if self._pokemon == 0:
                later -= 1
                parts["first_pokemon"] = settings.first_pokemon
            if later:
                parts["pokemon"] = settings.pokemon * later
            self._pokemon = pokemon
        if state.party is not previous.party:
            gained = self._levels.gained(previous.party, state.party)
            if gained:
                parts["level"] = settings.level * gained / able(state.party)
        if state.milestones > self._milestones:
            parts["milestone"] = settings.milestone * (state.milestones - self._milestones)
            self._milestones = state.milestones
        badges = state.badges
        if badges > self._badges:
            parts["badge"] = settings.badge * (badges - self._badges)
            self._badges = badges
        return parts

    def save_state(self) -> dict[str, Any]:
        """Return what was paid for so far."""
        return {
            "pokemon": self._pokemon,
            "levels": self._levels.save_state(),
            "badges": self._badges,
            "milestones": self._milestones,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`save_state` returned."""
        self._pokemon = int(state["pokemon"])
        self._levels.load_state(state["levels"])
        self._badges = int(state["badges"])
        self._milestones = int(state["milestones"])


def _pokemon(state: GameState) -> int:
    """Return the number of Pokemon: members of the party or, if more were caught, species caught."""
    return max(state.party.count, state.caught)
