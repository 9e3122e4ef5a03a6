"""Reward as the difference of a potential, which changes the speed of learning but not the best policy.

Ng, Harada and Russell 1999, "Policy invariance under reward transformations": with F = gamma * potential(next state)
- potential(state) and the learner's discount gamma, the best policy stays the best. Returning to a state gains
nothing, whatever happened in between. At the end of an episode the potential is 0 (Grzes 2017, "Reward
shaping in episodic reinforcement learning").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from pkmn_pyboy.state.game_state import GameState

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game
    from pkmn_pyboy.rewards.goal_distance import GoalDistance

DEFAULT_GAMMA = 0.99
"""Discount if neither the user nor a learner sets one."""


class PotentialSettings(BaseModel):
    """Settings of the potential, by part. The potential is their sum."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    gamma: float | None = Field(
        default=None,
        gt=0.0,
        le=1.0,
        description="Discount of a step; must equal the learner's, which is the default.",
    )
    milestone: float = Field(default=10.0, ge=0.0, description="For each milestone reached.")
    badge: float = Field(default=50.0, ge=0.0, description="For each badge.")
    level: float = Field(default=1.0, ge=0.0, description="For each level, summed over the party.")
    health: float = Field(default=5.0, ge=0.0, description="For all of the party's HP, in shares.")
    distance: float = Field(
        default=0.0,
        ge=0.0,
        description="For being at the next milestone's place, less with every tile of distance; 0 for no such part.",
    )
    far_tiles: int = Field(default=100, ge=1, description="Distance in tiles from which on this part is 0.")


class PotentialReward:
    """Reward of gamma * potential(next state) - potential(state) at every step, by part."""

    PARTS = ("milestone", "badge", "level", "health", "distance")

    def __init__(self, settings: PotentialSettings | None = None) -> None:
        self.settings = settings or PotentialSettings()
        self.gamma = DEFAULT_GAMMA if self.settings.gamma is None else self.settings.gamma
        self._distance: GoalDistance | None = None
        self._values: dict[str, float] = {}

    def bind(self, game: Game) -> None:
        """Take the maps and milestones to measure the distance by, if it counts."""
        if self.settings.distance:
            from pkmn_pyboy.rewards.goal_distance import GoalDistance  # noqa: PLC0415 - few need the maps

            self._distance = GoalDistance(game.rom.data, game.profile, game.milestones, game.goal)

    def reset(self, state: GameState) -> None:
        """Start an episode."""
        self._values = self.potential(state)

    def potential(self, state: GameState) -> dict[str, float]:
        """Return the potential of a state, by part."""
        settings, party = self.settings, state.party
        values = {
            "milestone": settings.milestone * state.milestones,
            "badge": settings.badge * state.badges,
            "level": settings.level * party.level_sum,
            "health": settings.health * party.hp_share,
        }
        if self._distance is not None:
            tiles = self._distance.tiles(state)
            near = 0.0 if tiles is None else 1.0 - min(tiles / settings.far_tiles, 1.0)
            values["distance"] = settings.distance * near
        return values

    def score(self, previous: GameState, action: int, state: GameState) -> Mapping[str, float]:
        """Return the parts that this step earned. While nothing changes, each costs (1 - gamma) of its potential."""
        before = self._values
        if (
            state.party is not previous.party
            or state.milestones != previous.milestones
            or state.johto_badges != previous.johto_badges
            or state.kanto_badges != previous.kanto_badges
            or (self._distance is not None and state.position != previous.position)
        ):
            self._values = self.potential(state)
        gamma = self.gamma
        return {part: gamma * value - before[part] for part, value in self._values.items() if value or before[part]}

    def finish(self, state: GameState) -> Mapping[str, float]:
        """Return the addition if ``state``, the latest, ends an episode: the potential of an end is 0."""
        return {part: -self.gamma * value for part, value in self._values.items() if value}

    def save_state(self) -> dict[str, Any]:
        """Return the potential of the latest state."""
        return {"values": dict(self._values)}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`save_state` returned."""
        self._values = {str(part): float(value) for part, value in state["values"].items()}
