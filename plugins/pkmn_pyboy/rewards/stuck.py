"""Penalties for being stuck: no progress for a while, walking into walls, hearing the same talk again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pkmn_pyboy.rewards.exploration import tile_id
from pkmn_pyboy.state.game_state import Facing, GameState, Phase
from pkmncli.api import Action

_DIRECTIONS: Mapping[int, Facing] = {
    Action.DOWN: Facing.DOWN,
    Action.UP: Facing.UP,
    Action.LEFT: Facing.LEFT,
    Action.RIGHT: Facing.RIGHT,
}
_TALK = (Phase.DIALOGUE, Phase.CHOICE)


class StuckSettings(BaseModel):
    """Settings of the penalties for being stuck. No value is above 0, so that standing still never pays."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    idle: float = Field(
        default=-0.02,
        le=0.0,
        description="For each step beyond patience_steps without anything new.",
    )
    patience_steps: int = Field(
        default=200,
        ge=1,
        description="Steps without a new tile and without progress that cost nothing. Battles do not count.",
    )
    wall: float = Field(default=-0.01, le=0.0, description="For each step against an obstacle.")
    repeated_talk: float = Field(
        default=-0.1,
        le=0.0,
        description="For starting a talk on a tile where one was started since the latest progress.",
    )


class StuckReward:
    """Penalties for being stuck. Progress is a milestone, a level, a badge, a species caught or seen."""

    PARTS = ("idle", "wall", "repeated_talk")

    def __init__(self, settings: StuckSettings | None = None) -> None:
        self.settings = settings or StuckSettings()
        self._tiles: set[int] = set()
        self._talks: set[int] = set()
        self._mark = (0, 0, 0, 0, 0)
        self._last = -1
        self._idle = 0

    def reset(self, state: GameState) -> None:
        """Start an episode."""
        self._last = tile_id(state)
        self._tiles = {self._last}
        self._talks = set()
        self._mark = _mark(state)
        self._idle = 0

    def score(self, previous: GameState, action: int, state: GameState) -> Mapping[str, float]:
        """Return the penalties of this step."""
        parts: dict[str, float] = {}
        settings = self.settings
        if state.battle is None:
            self._idle += 1
        tile = tile_id(state)
        if tile != self._last:
            self._last = tile
            if tile not in self._tiles:
                self._tiles.add(tile)
                self._idle = 0
        elif (
            previous.phase is Phase.FREE
            and state.phase is Phase.FREE
            and _DIRECTIONS.get(action) is previous.facing is state.facing
        ):
            parts["wall"] = settings.wall
        if (
            state.party is not previous.party
            or state.milestones != previous.milestones
            or state.seen != previous.seen
            or state.caught != previous.caught
            or state.badges != previous.badges
        ):
            self._look_for_progress(state)
        if previous.phase is Phase.FREE and action == Action.A and state.phase in _TALK:
            place = tile << 2 | state.facing
            if place in self._talks:
                parts["repeated_talk"] = settings.repeated_talk
            self._talks.add(place)
        if self._idle > settings.patience_steps and state.battle is None:
            parts["idle"] = settings.idle
        return parts

    def save_state(self) -> dict[str, Any]:
        """Return the tiles and talks so far."""
        return {
            "tiles": sorted(self._tiles),
            "talks": sorted(self._talks),
            "mark": list(self._mark),
            "last": self._last,
            "idle": self._idle,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`save_state` returned."""
        self._tiles = {int(tile) for tile in state["tiles"]}
        self._talks = {int(talk) for talk in state["talks"]}
        milestones, levels, badges, caught, seen = state["mark"]
        self._mark = (int(milestones), int(levels), int(badges), int(caught), int(seen))
        self._last = int(state["last"])
        self._idle = int(state["idle"])

    def _look_for_progress(self, state: GameState) -> None:
        mark = _mark(state)
        if any(now > most for now, most in zip(mark, self._mark, strict=True)):
            a, b, c, d, e = map(max, mark, self._mark)
            self._mark = (a, b, c, d, e)
            self._talks = set()
            self._idle = 0


def _mark(state: GameState) -> tuple[int, int, int, int, int]:
    return (state.milestones, state.party.level_sum, state.badges, state.caught, state.seen)
