"""Goals to fight wild Pokemon: on a ground, in the nearest grass, in other grass."""

from __future__ import annotations

from collections.abc import Collection

from pkmn_pyboy.pilot.goals import plans
from pkmn_pyboy.pilot.goals.context import GoalContext
from pkmn_pyboy.pilot.memory import GRASS, PACE, PilotMemory, WalkGoal
from pkmn_pyboy.pilot.walking.legs import PLANNED
from pkmn_pyboy.pilot.walking.surroundings import Surroundings
from pkmn_pyboy.profile.milestones import Target
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.world.goals import RouteGoal


class FightGoals:
    """Chooser of goals to fight wild Pokemon.

    Args:
        context: game, settings, routes and tasks.
    """

    def __init__(self, context: GoalContext) -> None:
        self._game, self._settings = context.game, context.settings
        self._objectives, self._roads = context.objectives, context.roads

    def on_ground(
        self, ground: int, on: str, key: str, why: str, state: GameState, memory: PilotMemory, around: Surroundings
    ) -> WalkGoal | None:
        """Fight on one ground, or go there. An unusable ground is excluded for a while."""
        here = state.map_id
        if ground != here:
            goal = self._objectives.towards(Target(ground), f"{why}: to the ground", state, memory, around)
        else:
            name = f"{key}/{here}/{on}"
            tried = memory.tries.get(name, 0) >= self._settings.goal_tries
            there = not tried and around.nearest_ground(on) is not None
            goal = WalkGoal(PACE, name, here, why, PLANNED, on=on) if there else None
        if goal is None:
            memory.strength.poor_grounds[f"{ground}/{on}"] = self._game.steps + self._settings.poor_ground_steps
            plans.drop_ground(memory.strength.plans, f"{ground}/{on}")
        return goal

    def in_grass(
        self, key: str, why: str, state: GameState, memory: PilotMemory, around: Surroundings
    ) -> WalkGoal | None:
        """Fight in this map's grass, or go to the nearest grass."""
        here = around.grid.map_id
        name = f"{key}/{here}"
        if around.nearest_ground(GRASS) is not None and memory.tries.get(name, 0) < self._settings.goal_tries:
            return WalkGoal(PACE, name, here, why, PLANNED)
        route = self._roads.route(self._roads.of_kind("grass", memory), state, memory)
        if route is None or route.goal.map_id == here:
            return None
        return self._objectives.towards(Target(route.goal.map_id), f"{why}: to the grass", state, memory, around)

    def in_other_grass(
        self, barren: Collection[int], why: str, state: GameState, memory: PilotMemory, around: Surroundings
    ) -> WalkGoal | None:
        """Return a goal on the route to the nearest known grass outside some maps; None if there is none."""
        grass = self._roads.of_kind("grass", memory).ends
        left = {map_id: ends for map_id, ends in grass.items() if map_id not in barren}
        route = self._roads.route(RouteGoal(left), state, memory) if left else None
        if route is None or route.goal.map_id == state.map_id:
            return None
        return self._objectives.towards(Target(route.goal.map_id), f"{why}: to other grass", state, memory, around)
