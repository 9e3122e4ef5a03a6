"""Reward for money: what comes in beyond the most of the episode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pkmn_pyboy.state.game_state import GameState


class MoneySettings(BaseModel):
    """What money is worth."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    earned: float = Field(default=1.0, ge=0.0, description="For a thousand beyond the most of the episode.")
    spent: float = Field(
        default=0.0,
        le=0.0,
        description="For a thousand that is spent or lost; not above 0, and by default nothing.",
    )


class MoneyReward:
    """Pays once: what is spent and earned again, or put away and fetched, pays nothing."""

    PARTS = ("earned", "spent")

    def __init__(self, settings: MoneySettings | None = None) -> None:
        self.settings = settings or MoneySettings()
        self._most = 0

    def reset(self, state: GameState) -> None:
        """What is there at the start of an episode is not paid for."""
        self._most = state.money

    def score(self, previous: GameState, action: int, state: GameState) -> Mapping[str, float]:
        """The parts that this step earned."""
        change = state.money - previous.money
        if change == 0:
            return {}
        parts: dict[str, float] = {}
        if state.money > self._most:
            parts["earned"] = self.settings.earned * (state.money - self._most) / 1000
            self._most = state.money
        if change < 0 and self.settings.spent:
            parts["spent"] = self.settings.spent * -change / 1000
        return parts

    def save_state(self) -> dict[str, Any]:
        """The most that there was."""
        return {"most": self._most}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from a saved state."""
        self._most = int(state["most"])
