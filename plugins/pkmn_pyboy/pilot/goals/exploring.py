"""Exploring: nearest unseen exits and tiles, people not yet spoken to, signs. Failed tries raise the cost."""

from __future__ import annotations

from collections.abc import Callable

from pkmn_pyboy.pilot.goals.context import GoalContext
from pkmn_pyboy.pilot.memory import EXIT, LOOK, TALK, TILE, PilotMemory, WalkGoal
from pkmn_pyboy.pilot.walking.surroundings import Surroundings
from pkmn_pyboy.profile.milestones import Target
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.world.records import NOWHERE, Role

EXPLORING = 0.3
_ANY = 1 << 30


class Explorer:
    """Chooser of the next place to explore.

    Args:
        context: game, settings, routes and tasks.
        is_weak: returns whether to avoid fights.
    """

    def __init__(self, context: GoalContext, is_weak: Callable[[GameState], bool]) -> None:
        self._game, self._settings = context.game, context.settings
        self._objectives, self._roads = context.objectives, context.roads
        self._names = context.game.profile.names
        self._is_weak = is_weak

    def choose(self, state: GameState, memory: PilotMemory, around: Surroundings) -> WalkGoal | None:
        """Return a goal at the nearest new place; None if there is none."""
        unexplored = self._nearby(memory, around) or self._unexplored(state, memory, around)
        options = unexplored or self._exits(state, memory, around)
        below = min((option[0] for option in options), default=_ANY)
        if unexplored and self._is_missing(memory):
            below = 0  # the way on is unknown here, so people and signs are not worth a look
        options = [*options, *self._people(below, state, memory, around), *self._signs(below, memory, around)]
        return min(options, key=lambda option: (option[0], option[1].key))[1] if options else None

    def _nearby(self, memory: PilotMemory, around: Surroundings) -> list[tuple[int, WalkGoal]]:
        """Return the nearest exit of this map to an unseen map, or the nearest tile beside unseen ones."""
        here, grid = around.grid.map_id, around.grid
        goals: dict[int, WalkGoal] = {}
        for x, y in around.verge:
            goals[grid.cell(x, y)] = WalkGoal(LOOK, f"look/{here}/{x},{y}", here, "explore", EXPLORING, x, y)
        for exit_ in around.exits:
            taken = memory.taken.get(f"{here}/{exit_.key}", 0)
            if exit_.back or taken or str(exit_.destination) in memory.visits:
                continue
            why = f"explore: {self._words(exit_.destination)}"
            for cell, press in exit_.ends.items():
                x, y = grid.tile_of(cell)
                key = f"exit/{here}/{exit_.key}@{x},{y}"
                goals[cell] = WalkGoal(EXIT, key, here, why, EXPLORING, x, y, press, exit=exit_.key)
        tried = self._settings.goal_tries
        nearest = around.search.nearest({cell for cell, goal in goals.items() if memory.tries.get(goal.key, 0) < tried})
        return [(nearest[1], goals[nearest[0]])] if nearest is not None else []

    def _unexplored(self, state: GameState, memory: PilotMemory, around: Surroundings) -> list[tuple[int, WalkGoal]]:
        """Return the route to the nearest exit not taken or tile not seen, on any map."""
        ends = self._roads.unexplored(memory)
        route = self._roads.plan(("explore",), ends, state, memory)
        if route is None:
            return []
        goal = self._objectives.follow(("explore",), ends, "look", "explore", state, memory, around)
        if goal is None:
            return []
        if goal.kind == TILE:
            goal.kind, goal.facing, goal.key = LOOK, -1, f"look/{state.map_id}/{goal.x},{goal.y}"
        goal.confidence = EXPLORING
        cost = route.cost + self._settings.retry_cost * memory.tries.get(goal.key, 0)
        if goal.kind == EXIT and self._looks_here(state, memory):
            cost += self._settings.map_cost
        return [(cost, goal)]

    def _looks_here(self, state: GameState, memory: PilotMemory) -> bool:
        """Return whether the next milestone's target is on this map and may be in this part of it."""
        target = self._target()
        return target is not None and target.map_id == state.map_id and not self._is_missing(memory)

    def _is_missing(self, memory: PilotMemory) -> bool:
        """Return whether the next milestone's target was looked for on its map in vain."""
        target = self._target()
        return target is not None and self._objectives.is_missing(target, memory)

    def _target(self) -> Target | None:
        milestone = self._game.milestones.current(self._game.goal)
        return milestone.target if milestone is not None else None

    def _exits(self, state: GameState, memory: PilotMemory, around: Surroundings) -> list[tuple[int, WalkGoal]]:
        """Return all exits of this map; often taken ones cost more."""
        settings, here = self._settings, state.map_id
        options = []
        for exit_ in around.exits:
            nearest = around.search.nearest(exit_.ends)
            if nearest is None:
                continue
            key = f"exit/{here}/{exit_.key}"
            cost = nearest[1] + settings.retry_cost * memory.tries.get(key, 0)
            cost += settings.map_cost * memory.taken.get(f"{here}/{exit_.key}", 0)
            if exit_.back or str(exit_.destination) in memory.visits:
                cost += settings.map_cost
            if self._looks_here(state, memory):
                cost += 2 * settings.map_cost
            why = f"explore: {self._words(exit_.destination)}"
            options.append((cost, WalkGoal(EXIT, key, here, why, EXPLORING, exit=exit_.key)))
        return options

    def _words(self, map_id: int) -> str:
        return f"to {self._names.map_name(map_id)}" if map_id != NOWHERE else "unknown exit"

    def _people(
        self, below: int, state: GameState, memory: PilotMemory, around: Surroundings
    ) -> list[tuple[int, WalkGoal]]:
        settings, here = self._settings, around.grid.map_id
        weak = self._is_weak(state)
        options = []
        for person in around.people:
            key = f"talk/{here}/{person.number}"
            cost = settings.talk_cost + settings.retry_cost * memory.tries.get(key, 0)
            # Search no path for someone who already costs too much.
            if cost >= below or (weak and person.role is Role.TRAINER):
                continue
            nearest = around.search.nearest(around.talk_ends(person.x, person.y))
            if nearest is not None:
                goal = WalkGoal(TALK, key, here, "explore: talk", EXPLORING, person.x, person.y, person=person.number)
                options.append((nearest[1] + cost, goal))
        return options

    def _signs(self, below: int, memory: PilotMemory, around: Surroundings) -> list[tuple[int, WalkGoal]]:
        settings, here = self._settings, around.grid.map_id
        options = []
        for sign in around.map.signs:
            x, y = sign.x, sign.y
            key = f"sign/{here}/{x},{y}"
            cost = settings.sign_cost + settings.retry_cost * memory.tries.get(key, 0)
            nearest = around.search.nearest(around.talk_ends(x, y)) if cost < below else None
            if nearest is not None:
                options.append((nearest[1] + cost, WalkGoal(TALK, key, here, "explore: read", EXPLORING, x, y)))
        return options
