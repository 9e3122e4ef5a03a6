"""Penalty for time: each step costs a little, so that the shorter of two ways to the same end is worth more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pkmn_pyboy.state.game_state import GameState


class TimeSettings(BaseModel):
    """Cost of a step."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    step: float = Field(default=-0.1, le=0.0, description="For each step.")


class TimeReward:
    """Penalty that is the same in every step."""

    PARTS = ("step",)

    def __init__(self, settings: TimeSettings | None = None) -> None:
        self.settings = settings or TimeSettings()
        self._parts = {"step": self.settings.step} if self.settings.step else {}

    def reset(self, state: GameState) -> None:
        """Do nothing; there is no state."""

    def score(self, previous: GameState, action: int, state: GameState) -> Mapping[str, float]:
        """Return the cost of the step."""
        return self._parts

    def save_state(self) -> dict[str, Any]:
        """Return an empty state."""
        return {}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Do nothing; there is no state."""
