"""Reward as the difference of a potential, which changes how fast something is learned and never what is best.

Ng, Harada and Russell 1999, "Policy invariance under reward transformations": with F = gamma * potential(next state)
- potential(state) and the learner's own discount gamma, the best policy stays the best. Whoever comes back to a state
has gained nothing, whatever happened in between. At the end of an episode the potential is 0 (Grzes 2017, "Reward
shaping in episodic reinforcement learning").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from pkmn_pyboy.state.game_state import GameState

if TYPE_CHECKING:
    from pkmn_pyboy.environment import PokemonEnvironment
    from pkmn_pyboy.rewards.goal_distance import GoalDistance

DEFAULT_GAMMA = 0.99
"""Where neither the user nor a learner says one."""


class PotentialSettings(BaseModel):
    """What a state is worth, by part. The potential is their sum."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    gamma: float | None = Field(
        default=None,
        gt=0.0,
        le=1.0,
        description="Discount of a step; must be the learner's, which it is if left out.",
    )
    milestone: float = Field(default=10.0, ge=0.0, description="For each milestone reached.")
    badge: float = Field(default=50.0, ge=0.0, description="For each badge.")
    level: float = Field(default=1.0, ge=0.0, description="For each level, summed over the party.")
    health: float = Field(default=5.0, ge=0.0, description="For all of the party's hit points, in shares.")
    distance: float = Field(
        default=0.0,
        ge=0.0,
        description="For standing where the next milestone is, less with every tile of the way there; 0 to do without.",
    )
    far_tiles: int = Field(default=100, ge=1, description="Tiles from which on distance is worth nothing.")


class PotentialReward:
    """Pays gamma * potential(next state) - potential(state) at every step, by part."""

    PARTS = ("milestone", "badge", "level", "health", "distance")

    def __init__(self, settings: PotentialSettings | None = None) -> None:
        self.settings = settings or PotentialSettings()
        self.gamma = DEFAULT_GAMMA if self.settings.gamma is None else self.settings.gamma
        self._distance: GoalDistance | None = None
        self._values: dict[str, float] = {}

    def bind(self, environment: PokemonEnvironment) -> None:
        """Takes the maps and milestones that the distance is measured by, where it counts."""
        if self.settings.distance:
            from pkmn_pyboy.rewards.goal_distance import GoalDistance  # noqa: PLC0415 - few need the maps

            self._distance = GoalDistance(
                environment.rom.data, environment.profile, environment.milestones, environment.goal
            )

    def reset(self, state: GameState) -> None:
        """Begins an episode."""
        self._values = self.potential(state)

    def potential(self, state: GameState) -> dict[str, float]:
        """What a state is worth, by part."""
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
        """The parts that this step earned. While nothing changes, each costs (1 - gamma) of its potential."""
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
        """What is added where ``state``, the latest, ends an episode: the potential of an end is 0."""
        return {part: -self.gamma * value for part, value in self._values.items() if value}

    def save_state(self) -> dict[str, Any]:
        """What the latest state was worth."""
        return {"values": dict(self._values)}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from a saved state."""
        self._values = {str(part): float(value) for part, value in state["values"].items()}
