"""Reward for health: weakness costs what healing pays back, and each Pokemon that faints costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pkmn_pyboy.rewards.party_changes import fainted, same_pokemon
from pkmn_pyboy.state.game_state import GameState, Party


class HealthSettings(BaseModel):
    """Settings of the reward for health."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    healed: float = Field(
        default=10.0,
        ge=0.0,
        description="For healing a party without HP up to weak_share; the way down costs the same.",
    )
    weak_share: float = Field(
        default=0.5, gt=0.0, le=1.0, description="Share of the party's HP below which it is weak."
    )
    fainted: float = Field(default=-2.0, le=0.0, description="For each own Pokemon that faints; not above 0.")


class HealthReward:
    """Reward that pays for healing exactly what getting weak had cost, so being hurt and healed gains nothing."""

    PARTS = ("healed", "fainted")

    def __init__(self, settings: HealthSettings | None = None) -> None:
        self.settings = settings or HealthSettings()

    def reset(self, state: GameState) -> None:
        """Start an episode. There is no state: a step's two game states suffice."""

    def score(self, previous: GameState, action: int, state: GameState) -> Mapping[str, float]:
        """Return the parts that this step earned."""
        before, now = previous.party, state.party
        if before is now:
            return {}
        parts: dict[str, float] = {}
        change = self._strength(now) - self._strength(before)
        if change:
            parts["healed"] = self.settings.healed * change
        down = fainted(now) - fainted(before)
        if down > 0 and same_pokemon(before, now):
            parts["fainted"] = self.settings.fainted * down
        return parts

    def save_state(self) -> dict[str, Any]:
        """Return an empty state."""
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`save_state` returned."""

    def _strength(self, party: Party) -> float:
        """Return 0 for a party without HP, 1 for one that is not weak, or is empty."""
        return min(party.hp_share / self.settings.weak_share, 1.0) if party.level_sum else 1.0
