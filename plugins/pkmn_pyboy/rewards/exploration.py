"""Reward for exploring: each tile and map once an episode, less the more were seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pkmn_pyboy.state.game_state import GameState


class ExplorationSettings(BaseModel):
    """Settings of the reward for exploring."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    new_tile: float = Field(default=0.5, description="For the first step on a tile.")
    new_map: float = Field(default=5.0, description="For the first visit of a map.")
    tile_half_life: int = Field(
        default=1000, ge=0, description="New tiles of an episode after which one is worth half; 0 for no decay."
    )
    map_half_life: int = Field(
        default=20, ge=0, description="New maps of an episode after which one is worth half; 0 for no decay."
    )


class ExplorationReward:
    """Reward for first visits. Each episode starts afresh."""

    PARTS = ("new_tile", "new_map")

    def __init__(self, settings: ExplorationSettings | None = None) -> None:
        self.settings = settings or ExplorationSettings()
        self._tiles: set[int] = set()
        self._maps: set[int] = set()
        self._last = -1

    def reset(self, state: GameState) -> None:
        """Start an episode; its first tile and map count as known."""
        self._last = tile_id(state)
        self._tiles = {self._last}
        self._maps = {state.map_id}

    def score(self, previous: GameState, action: int, state: GameState) -> Mapping[str, float]:
        """Return the parts that this step earned."""
        tile = tile_id(state)
        if tile == self._last:
            return {}
        self._last = tile
        if tile in self._tiles:
            return {}
        settings = self.settings
        parts = {"new_tile": settings.new_tile * _decay(len(self._tiles) - 1, settings.tile_half_life)}
        self._tiles.add(tile)
        if state.map_id not in self._maps:
            parts["new_map"] = settings.new_map * _decay(len(self._maps) - 1, settings.map_half_life)
            self._maps.add(state.map_id)
        return parts

    def save_state(self) -> dict[str, Any]:
        """Return the tiles and maps seen so far."""
        return {"tiles": sorted(self._tiles), "maps": sorted(self._maps), "last": self._last}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`save_state` returned."""
        self._tiles = {int(tile) for tile in state["tiles"]}
        self._maps = {int(map_id) for map_id in state["maps"]}
        self._last = int(state["last"])


def tile_id(state: GameState) -> int:
    """Return map and tile as one number."""
    return (state.map_id << 16) | (state.x << 8) | state.y


def _decay(seen: int, half_life: int) -> float:
    return float(0.5 ** (seen / half_life)) if half_life else 1.0
