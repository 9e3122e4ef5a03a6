"""Reward for money: gains beyond the episode's maximum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pkmn_pyboy.state.game_state import GameState


class MoneySettings(BaseModel):
    """Settings of the reward for money."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    earned: float = Field(default=1.0, ge=0.0, description="For a thousand beyond the maximum of the episode.")
    spent: float = Field(
        default=0.0,
        le=0.0,
        description="For a thousand that is spent or lost; not above 0.",
    )


class MoneyReward:
    """Reward that pays once: money spent and earned again, or deposited and withdrawn, pays nothing."""

    PARTS = ("earned", "spent")

    def __init__(self, settings: MoneySettings | None = None) -> None:
        self.settings = settings or MoneySettings()
        self._most = 0

    def reset(self, state: GameState) -> None:
        """Start an episode; the money at its start is not paid for."""
        self._most = state.money

    def score(self, previous: GameState, action: int, state: GameState) -> Mapping[str, float]:
        """Return the parts that this step earned."""
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
        """Return the maximum so far."""
        return {"most": self._most}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`save_state` returned."""
        self._most = int(state["most"])
