"""Distance of the player to the next milestone's target, by the maps of the cartridge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.cartridge_world import CartridgeWorld
from pkmn_pyboy.world.goals import RouteGoal, of_target, on_map
from pkmn_pyboy.world.records import Place
from pkmn_pyboy.world.route_planner import RoutePlanner

if TYPE_CHECKING:
    from pkmn_pyboy.profile.milestones import Target
    from pkmn_pyboy.profile.model import GameProfile
    from pkmn_pyboy.story.tracker import MilestoneTracker

_MOST_KEPT = 100_000


class GoalDistance:
    """Distance in tiles from a place to the next milestone's place, person or scene, with a cache.

    The distance ignores trees, water and people that block the way at present, so that it depends on nothing but the
    place and the milestone.

    Args:
        rom: the cartridge image, for its maps.
        profile: the game.
        milestones: which milestones were reached.
        goal: index of the milestone that an episode aims at, -1 for the last one: its requirements come before it.
    """

    def __init__(self, rom: bytes, profile: GameProfile, milestones: MilestoneTracker, goal: int = -1) -> None:
        self._milestones = milestones
        self._goal = goal
        self._planner = RoutePlanner(CartridgeWorld(rom, profile))
        self._abilities = Abilities.everything()
        self._goals: dict[str, RouteGoal] = {}
        self._kept: dict[tuple[str, int, int, int], int | None] = {}

    def tiles(self, state: GameState) -> int | None:
        """Return the current distance; None if the milestone has no place, or no route leads there."""
        milestone = self._milestones.current(self._goal)
        if milestone is None or milestone.target is None or not state.map_id:
            return None
        key = (milestone.key, state.map_id, state.x, state.y)
        if key not in self._kept:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[key] = self._find(state, milestone.key, milestone.target)
        return self._kept[key]

    def _find(self, state: GameState, key: str, target: Target) -> int | None:
        goal = self._goals.get(key)
        if goal is None:
            goal = of_target(self._planner.world, target)
            goal = self._goals[key] = goal if goal.ends else on_map(target.map_id)
        here = Place(state.map_id, state.x, state.y)
        route = self._planner.route(here, goal, self._abilities, through_obstacles=True)
        return None if route is None else route.tiles
