"""Goals on this map for a target: the target itself, or the next leg of the route to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.memory import EXIT, LOOK, PACE, TALK, TILE, PilotMemory, WalkGoal
from pkmn_pyboy.pilot.notes import NoRoute
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.walking.pushing import push_goal
from pkmn_pyboy.pilot.walking.routes import Key, Roads
from pkmn_pyboy.pilot.walking.surroundings import Surroundings
from pkmn_pyboy.profile.milestones import Target
from pkmn_pyboy.state.game_state import Facing, GameState
from pkmn_pyboy.world import goals
from pkmn_pyboy.world.records import NOWHERE, Place

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

PLANNED = 0.6
_PLANS = 4
_LOOK_AGAIN_STEPS = 20
_UNSET = -1
_PART = 8
"""Columns and rows in view from about their middle."""


class Objectives:
    """Translator of targets into goals on this map.

    Args:
        game: the running game.
        settings: limits and costs.
        roads: routes over maps.
    """

    def __init__(self, game: Game, settings: PilotSettings, roads: Roads) -> None:
        self._game = game
        self._settings = settings
        self._roads = roads

    def goal_for(
        self,
        target: Target,
        key: str,
        why: str,
        state: GameState,
        memory: PilotMemory,
        around: Surroundings,
        confidence: float = PLANNED,
    ) -> WalkGoal | None:
        """Return a goal on this map that serves a target; None if nothing can be done here, or it failed."""
        if target.map_id == state.map_id:
            goal = (
                self._here(target, key, why, memory, around)
                or self._closer_look(target, why, memory, around)
                or self._search_for(target, why, memory, around)
            )
            if goal is None and target.is_a_place and memory.tries.get(key, 0) < self._settings.goal_tries:
                self._note_missing(target, memory)
                # It may be in another part of this map, which is entered from elsewhere.
                goal = self.towards(target, why, state, memory, around)
        else:
            goal = self.towards(target, why, state, memory, around)
        if goal is not None:
            goal.confidence = confidence
        return goal

    def towards(
        self, target: Target, why: str, state: GameState, memory: PilotMemory, around: Surroundings
    ) -> WalkGoal | None:
        """Return the exit that leads nearer to a target on another map; None if that map is unknown."""
        if self._roads.world.map(target.map_id) is None:
            return None
        steps = self._game.steps
        x, y = (_UNSET if place is None else place for place in (target.x, target.y))
        key: Key = (
            "to", target.map_id, x, y, target.facing or "", target.person, target.scene, *(target.push_to or ())
        )  # fmt: skip
        missed = [*key, state.map_id]
        before = memory.route.missing
        if before is not None and before.purpose == missed and steps < before.until:
            return None
        if self.is_missing(target, memory):
            return self._search_elsewhere(key, target, why, state, memory, around)
        near = self._door_on_the_way(target, why, state, memory, around)
        if near is not None:
            return near
        found = self.follow(key, self._roads.of_target(target), "", why, state, memory, around)
        arrivals = memory.tries.get(f"arrive/{target.map_id}", 0)
        if found is None and target.map_id != state.map_id and arrivals < self._settings.goal_tries:
            # The story may have opened a route on its map, which shows only there.
            found = self.follow((*key, "map"), goals.on_map(target.map_id), "", why, state, memory, around)
        if found is None and self._roads.seen is not None:
            # A failed search costs most, and each newly seen tile may be the one that opens the route.
            memory.route.missing = NoRoute(missed, steps + _LOOK_AGAIN_STEPS)
        return found

    # Targets not found yet ---------------------------------------------------------------------------------------

    def is_missing(self, target: Target, memory: PilotMemory) -> bool:
        """Return whether a target was looked for on its map in vain, if only seen tiles are known.

        A new item or milestone may have opened the route since.
        """
        return memory.route.looked.get(_name(target)) == self._standing(memory)

    def _note_missing(self, target: Target, memory: PilotMemory) -> None:
        if self._roads.seen is not None:
            memory.route.looked[_name(target)] = self._standing(memory)

    def _standing(self, memory: PilotMemory) -> list[int]:
        return [self._game.milestones.count, memory.walk.kinds]

    def _search_elsewhere(
        self, key: Key, target: Target, why: str, state: GameState, memory: PilotMemory, around: Surroundings
    ) -> WalkGoal | None:
        """Return the route to a target on a partly known map: its tile, else unseen tiles there, else exits nearby.

        None if none of them can be reached: unexplored places elsewhere then come before the map's known part.
        """
        world = self._roads.seen
        known = goals.of_target(world, target) if world is not None else goals.RouteGoal({})
        verge, doors = self._roads.verge_of(target.map_id), self._roads.untaken_around(target.map_id)
        for name, ends in (("seen", known), ("verge", verge), ("doors", doors)):
            if ends.ends and self._roads.route(ends, state, memory) is not None:
                found = self.follow((*key, name), ends, "look", why, state, memory, around)
                if found is not None:
                    return found
        return None

    def _door_on_the_way(
        self, target: Target, why: str, state: GameState, memory: PilotMemory, around: Surroundings
    ) -> WalkGoal | None:
        """Return an exit not taken yet that is nearer than a map where the target's place is unknown."""
        world = self._roads.seen
        if world is None or not target.is_a_place or goals.of_target(world, target).ends:
            return None
        route = self._roads.route(target.map_id, state, memory)
        here, grid = state.map_id, around.grid
        best: tuple[int, WalkGoal] | None = None
        for exit_ in around.exits:
            if exit_.back or exit_.destination != NOWHERE or memory.taken.get(f"{here}/{exit_.key}"):
                continue
            nearest = around.walk.nearest(exit_.ends)
            if nearest is None or (route is not None and nearest[1] >= route.cost):
                continue
            x, y = grid.tile_of(nearest[0])
            key = f"exit/{here}/{exit_.key}@{x},{y}"
            if not memory.tries.get(key) and (best is None or nearest[1] < best[0]):
                best = nearest[1], WalkGoal(EXIT, key, here, why, PLANNED, x, y, exit_.ends[nearest[0]], exit=exit_.key)
        return best[1] if best is not None else None

    def follow(
        self,
        key: Key,
        goal: goals.RouteGoal,
        end: str,
        why: str,
        state: GameState,
        memory: PilotMemory,
        around: Surroundings,
    ) -> WalkGoal | None:
        """Return the next leg of the route to a planner's goal; None without a route, or if it ends here already.

        Args:
            key: purpose of the route.
            goal: where it may end.
            end: what to do where the route ends on this map; empty for nothing.
            why: reason to show with the decision.
            state: the current state.
            memory: keeps the route and failures.
            around: what can be reached here.
        """
        for _ in range(_PLANS):
            leg = self._roads.next_leg(key, goal, state, memory)
            if leg is None or (leg[3] < 0 and not end):
                return None
            x, y, press, onward = leg
            found = self._leg(x, y, press, end if onward < 0 else "", why, state, around)
            if found is not None and memory.tries.get(found.key, 0) < self._settings.goal_tries:
                return found
            memory.route.drop()
            if Place(state.map_id, x, y) in memory.route.avoid:
                return None
            memory.route.avoid.append(Place(state.map_id, x, y))
        return None

    def _leg(
        self, x: int, y: int, press: int, end: str, why: str, state: GameState, around: Surroundings
    ) -> WalkGoal | None:
        """Return the goal for a leg: leave by its last tile, or reach it; None if impossible."""
        here, grid = state.map_id, around.grid
        if not grid.inside(x, y) or not around.search.reaches(grid.cell(x, y)):
            return None
        cell = grid.cell(x, y)
        for exit_ in around.exits:
            if exit_.ends.get(cell, _UNSET - 1) == press:
                return WalkGoal(
                    EXIT, f"exit/{here}/{exit_.key}@{x},{y}", here, why, PLANNED, x, y, press, exit=exit_.key
                )
        return WalkGoal(TILE, end, here, why, PLANNED, x, y, press) if end else None

    # Targets on this map -----------------------------------------------------------------------------------------

    def _here(self, target: Target, key: str, why: str, memory: PilotMemory, around: Surroundings) -> WalkGoal | None:
        map_id = target.map_id
        if target.push_to is not None:
            return push_goal(target, key, why, PLANNED, memory, around, self._settings.goal_tries)
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
            return WalkGoal(PACE, key, map_id, f"{why}: look for a fight", PLANNED, x, y)
        if tries >= self._settings.goal_tries:
            return None
        for exit_ in around.exits:
            if cell in exit_.ends and around.search.reaches(cell):
                return WalkGoal(EXIT, key, map_id, why, PLANNED, exit=exit_.key)
        if around.search.reaches(cell):
            facing = Facing[target.facing.upper()] if target.facing is not None else -1
            return WalkGoal(TILE, key, map_id, why, PLANNED, x, y, int(facing))
        if target.facing is None and around.search.nearest(around.talk_ends(x, y)) is not None:
            person = next((one.number for one in around.people if (one.x, one.y) == (x, y)), 0)
            return WalkGoal(TALK, key, map_id, why, PLANNED, x, y, person=person)
        return None

    def _scene(self, target: Target, key: str, why: str, memory: PilotMemory, around: Surroundings) -> WalkGoal | None:
        """Return a goal at the nearest tile that starts the scene."""
        if memory.tries.get(key, 0) >= self._settings.goal_tries:
            return None
        cells = {around.grid.cell(one.x, one.y) for one in around.map.triggers if one.scene == target.scene}
        nearest = around.search.nearest(cells - {around.start})
        if nearest is None:
            return None
        return WalkGoal(TILE, key, target.map_id, why, PLANNED, *around.grid.tile_of(nearest[0]))

    def _person(self, target: Target, key: str, why: str, memory: PilotMemory, around: Surroundings) -> WalkGoal | None:
        if memory.tries.get(key, 0) >= self._settings.goal_tries:
            return None
        side = -1 if target.facing is None else int(Facing[target.facing.upper()])
        for person in around.people:
            if person.number == target.person:
                x, y = person.x, person.y
                if around.search.nearest(around.talk_ends(x, y, side)) is None:
                    return None
                return WalkGoal(TALK, key, target.map_id, why, PLANNED, x, y, side, person=person.number)
        return None

    def _search_for(self, target: Target, why: str, memory: PilotMemory, around: Surroundings) -> WalkGoal | None:
        """Return a goal at the nearest part of this map not searched again for a person who has moved."""
        if self._roads.seen is None or not target.person or any(one.number == target.person for one in around.people):
            return None
        grid, best = around.grid, None
        for left in range(0, grid.width, _PART):
            for top in range(0, grid.height, _PART):
                key = f"part/{target.map_id}/{left},{top}"
                if memory.tries.get(key):
                    continue
                right, bottom = min(left + _PART, grid.width), min(top + _PART, grid.height)
                tiles = [(x, y) for x in range(left, right) for y in range(top, bottom) if around.walkable(x, y)]
                reached = [one for one in tiles if around.walk.reaches(grid.cell(*one))]
                if not reached:
                    continue
                x, y = min(reached, key=lambda one: abs(2 * one[0] - left - right) + abs(2 * one[1] - top - bottom))
                nearest = around.walk.nearest((grid.cell(x, y),))
                if nearest is not None and (best is None or nearest[1] < best[0]):
                    best = nearest[1], WalkGoal(TILE, key, target.map_id, f"{why}: look for them", PLANNED, x, y)
        return best[1] if best is not None else None

    def _closer_look(self, target: Target, why: str, memory: PilotMemory, around: Surroundings) -> WalkGoal | None:
        """Return a goal at the edge of the seen part of this map, on the way to a target not seen."""
        best: tuple[int, WalkGoal] | None = None
        for x, y in sorted(around.verge):
            key = f"look/{target.map_id}/{x},{y}"
            nearest = around.search.nearest((around.grid.cell(x, y),))
            if nearest is None or memory.tries.get(key, 0) >= self._settings.goal_tries:
                continue
            cost = nearest[1]
            if target.x is not None and target.y is not None:
                cost += abs(target.x - x) + abs(target.y - y)
            if best is None or cost < best[0]:
                best = cost, WalkGoal(LOOK, key, target.map_id, f"{why}: look for it", PLANNED, x, y)
        return best[1] if best is not None else None


def _name(target: Target) -> str:
    """Return a name for the target's place."""
    place = (target.map_id, target.x, target.y, target.facing, target.person, target.scene, target.push_to)
    return "/".join(str(part) for part in place)
