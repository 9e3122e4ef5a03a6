"""Reward for getting on in the game: Pokemon, levels, milestones, badges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pkmn_pyboy.rewards.party_changes import HighestLevels, able
from pkmn_pyboy.state.game_state import GameState


class ProgressSettings(BaseModel):
    """What progress is worth."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    first_pokemon: float = Field(
        default=100.0, description="For the first Pokemon of an episode that began without one."
    )
    pokemon: float = Field(
        default=25.0,
        description="For each later Pokemon: more in the party, or more species caught, than ever in the episode.",
    )
    milestone: float = Field(default=25.0, description="For each milestone reached.")
    level: float = Field(
        default=50.0,
        description="For a level gained, shared over the party: divided by how many Pokemon are in it.",
    )
    badge: float = Field(default=500.0, description="For each badge.")


class ProgressReward:
    """Pays once for each thing: what is lost and won again, or put away and fetched, pays nothing.

    Levels count where they are gained. Who is caught, fetched or swapped in brings levels along; those pay nothing.
    """

    PARTS = ("first_pokemon", "pokemon", "level", "milestone", "badge")

    def __init__(self, settings: ProgressSettings | None = None) -> None:
        self.settings = settings or ProgressSettings()
        self._pokemon = 0
        self._levels = HighestLevels()
        self._badges = 0
        self._milestones = 0

    def reset(self, state: GameState) -> None:
        """What is there at the start of an episode is not paid for."""
        self._pokemon = _pokemon(state)
        self._levels.reset(state.party)
        self._badges = state.badges
        self._milestones = state.milestones

    def score(self, previous: GameState, action: int, state: GameState) -> Mapping[str, float]:
        """The parts that this step earned."""
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
        """What was paid for so far."""
        return {
            "pokemon": self._pokemon,
            "levels": self._levels.save_state(),
            "badges": self._badges,
            "milestones": self._milestones,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from a saved state."""
        self._pokemon = int(state["pokemon"])
        self._levels.load_state(state["levels"])
        self._badges = int(state["badges"])
        self._milestones = int(state["milestones"])


def _pokemon(state: GameState) -> int:
    """How many there are: in the party or, where more were caught than fit in, species caught."""
    return max(state.party.count, state.caught)
