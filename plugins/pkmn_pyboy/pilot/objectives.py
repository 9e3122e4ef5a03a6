"""From what is wanted to a goal on this map: the place itself, or the exit that leads nearer to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmn_pyboy.milestones import Target
from pkmn_pyboy.navigation.exits import Exit
from pkmn_pyboy.navigation.world import World
from pkmn_pyboy.pilot.memory import EXIT, PACE, TALK, TILE, Goal, PilotMemory
from pkmn_pyboy.pilot.roads import Roads
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.surroundings import Surroundings
from pkmn_pyboy.state.game_state import Facing, GameState

if TYPE_CHECKING:
    from pkmn_pyboy.environment import PokemonEnvironment

PLANNED = 0.6


class Objectives:
    """Turns targets into goals.

    Args:
        environment: the game.
        settings: what counts for how much.
        roads: ways over maps, from the cartridge's world.
    """

    def __init__(self, environment: PokemonEnvironment, settings: PilotSettings, roads: Roads) -> None:
        self._environment = environment
        self._settings = settings
        self._roads = roads
        self.world = World()
        """The maps and how they hang together, as far as headers and exits taken tell."""

    def goal_for(
        self,
        target: Target,
        key: str,
        why: str,
        state: GameState,
        memory: PilotMemory,
        around: Surroundings,
        confidence: float = PLANNED,
    ) -> Goal | None:
        """A goal on this map that serves a target; None where nothing can be done for it here, or it failed."""
        if target.map_id == state.map_id:
            goal = self._here(target, key, why, memory, around)
            if goal is None and target.x is not None and memory.tries.get(key, 0) < self._settings.goal_tries:
                # It may lie in another part of this map, to be entered from elsewhere.
                goal = self._by_road(target, why, state, memory, around)
        else:
            goal = self.towards(target, why, state, memory, around)
            if goal is not None and memory.tries.get(goal.key, 0) >= self._settings.goal_tries:
                goal = None
        if goal is not None:
            goal.confidence = confidence
        return goal

    def towards(
        self, target: Target, why: str, state: GameState, memory: PilotMemory, around: Surroundings
    ) -> Goal | None:
        """The exit that leads nearer to another map."""
        return self._by_road(target, why, state, memory, around) or self._by_maps(target.map_id, memory, around, why)

    # A place on this map ---------------------------------------------------------------------------------------

    def _here(self, target: Target, key: str, why: str, memory: PilotMemory, around: Surroundings) -> Goal | None:
        map_id = target.map_id
        if target.person:
            return self._person(target, key, why, memory, around)
        if target.scene >= 0:
            return self._scene(target, key, why, memory, around)
        if target.x is None or target.y is None or not around.grid.inside(target.x, target.y):
            return None
        tries = memory.tries.get(key, 0)
        x, y = target.x, target.y
        cell = around.grid.cell(x, y)
        if tries and target.facing is None and around.tile_value(x, y) in around.rules.grass:
            return Goal(PACE, key, map_id, f"{why}: look for a fight", PLANNED, x, y)
        if tries >= self._settings.goal_tries:
            return None
        for way in around.exits:
            if cell in way.ends and around.search.reaches(cell):
                return Goal(EXIT, key, map_id, why, PLANNED, exit=way.key)
        if around.search.reaches(cell):
            facing = Facing[target.facing.upper()] if target.facing is not None else -1
            return Goal(TILE, key, map_id, why, PLANNED, x, y, int(facing))
        if around.search.nearest(around.talk_ends(x, y)) is not None:
            person = next((one.number for one in around.people if (one.x, one.y) == (x, y)), 0)
            return Goal(TALK, key, map_id, why, PLANNED, x, y, person=person)
        return None

    def _scene(self, target: Target, key: str, why: str, memory: PilotMemory, around: Surroundings) -> Goal | None:
        """The nearest tile that starts a scene."""
        if memory.tries.get(key, 0) >= self._settings.goal_tries:
            return None
        cells = {around.grid.cell(x, y) for scene, x, y in around.triggers if scene == target.scene}
        nearest = around.search.nearest(cells - {around.search.start})
        if nearest is None:
            return None
        return Goal(TILE, key, target.map_id, why, PLANNED, *around.grid.tile_of(nearest[0]))

    def _person(self, target: Target, key: str, why: str, memory: PilotMemory, around: Surroundings) -> Goal | None:
        if memory.tries.get(key, 0) >= self._settings.goal_tries:
            return None
        for person in around.people:
            if person.number == target.person:
                if around.search.nearest(around.talk_ends(person.x, person.y)) is None:
                    return None
                return Goal(TALK, key, target.map_id, why, PLANNED, person.x, person.y, person=person.number)
        return None

    # The way to another map --------------------------------------------------------------------------------------

    def _by_road(
        self, target: Target, why: str, state: GameState, memory: PilotMemory, around: Surroundings
    ) -> Goal | None:
        """The next exit of the planned route, if it can be reached from here."""
        leg = self._roads.next_exit(target, state, memory)
        if leg is None:
            return None
        x, y, press, _ = leg
        if not around.grid.inside(x, y):
            return None
        cell = around.grid.cell(x, y)
        way = next((way for way in around.exits if cell in way.ends), None)
        if way is None:
            return None
        key = f"exit/{state.map_id}/{way.key}"
        if not around.search.reaches(cell) or memory.tries.get(f"{key}@{x},{y}", 0) >= self._settings.goal_tries:
            if [state.map_id, x, y] not in memory.avoid:
                memory.avoid.append([state.map_id, x, y])
            self._roads.drop(memory)
            return None
        return Goal(EXIT, f"{key}@{x},{y}", state.map_id, why, PLANNED, x, y, facing=press, exit=way.key)

    def _by_maps(self, map_id: int, memory: PilotMemory, around: Surroundings, why: str) -> Goal | None:
        """The exit that leads nearer, counted in maps; another one where those can't be reached or failed."""
        distances = self.world.distances(map_id)
        here = around.grid.map_id
        best: tuple[bool, int, str] | None = None
        for way in around.exits:
            option = self._option(way, distances.get(way.destination), distances.get(here), memory, around)
            if option is not None and (best is None or option < best):
                best = option
        if best is None:
            return None
        return Goal(EXIT, f"exit/{here}/{best[2]}", here, why, PLANNED, exit=best[2], away=best[0])

    def _option(
        self, way: Exit, distance: int | None, own: int | None, memory: PilotMemory, around: Surroundings
    ) -> tuple[bool, int, str] | None:
        settings = self._settings
        nearest = around.search.nearest(way.ends) if distance is not None else None
        if distance is None or nearest is None:
            return None
        tries = memory.tries.get(f"exit/{around.grid.map_id}/{way.key}", 0)
        away = (own is not None and distance >= own) or tries >= settings.goal_tries
        return away, nearest[1] + settings.map_cost * distance + settings.retry_cost * tries, way.key
