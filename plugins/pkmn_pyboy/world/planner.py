"""Plans ways over tiles, warps and map edges, through what the player can do.

Maps are searched tile by tile (Dijkstra), and each such search is kept for as long as nothing on its map changes.
Between maps it is A*: the least that a way can cost from an exit is known from where the exits lie.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from pkmn_pyboy.navigation.grid import STEPS
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.gates import Box, GateGraph
from pkmn_pyboy.world.goals import Goal, at_place, of_kind, on_map
from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.map_search import NEVER, MapSearch
from pkmn_pyboy.world.records import ENTER, Place, Way
from pkmn_pyboy.world.route import Leg, Obstacle, Route
from pkmn_pyboy.world.steps import BLOCKED, ITEM, SIGHT, WALKER, Costs, MapSteps

_KEPT_SEARCHES = 4096
_SILENT = (SIGHT, WALKER)


@dataclass(frozen=True, slots=True)
class _Node:
    """A place where a map is entered, and how it was got to."""

    place: Place
    came_from: _Node | None
    way: Way | None
    """The way out of the map before."""


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked of the planner."""

    abilities: Abilities
    relaxed: bool
    avoid: Mapping[int, frozenset[int]]
    came_from: Place | None
    allowed: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """What is found out about maps while it is answered."""


class RoutePlanner:
    """Finds the cheapest way. Keeps what it found out about a map for as long as nothing there changes.

    Args:
        world: the maps.
        costs: what counts how much.
    """

    def __init__(self, world: World, costs: Costs | None = None) -> None:
        self.world = world
        self.costs = costs or Costs()
        self._steps: dict[int, MapSteps] = {}
        self._searches: OrderedDict[object, MapSearch] = OrderedDict()
        self._bounds: OrderedDict[tuple[tuple[int, Box], ...], list[int]] = OrderedDict()
        self._graph: GateGraph | None = None
        self._version = world.version

    # What can be asked --------------------------------------------------------------------------------------

    def route(
        self,
        start: Place,
        goal: Place | int,
        abilities: Abilities,
        *,
        came_from: Place | None = None,
        avoid: Collection[Place] = (),
        through_obstacles: bool = False,
    ) -> Route | None:
        """The way to a place, or to the nearest tile of a map (its id); None where there is none.

        Args:
            start: where the player stands.
            goal: where to. A tile that nobody can stand on (a person, a sign, a wall) is reached at a tile beside it,
                over a counter too; the last leg's ``press`` then faces it.
            abilities: what the player can do.
            came_from: where exits that lead back lead; without it, anywhere that leads here.
            avoid: tiles and exits that did not work lately.
            through_obstacles: also ways that can't be walked yet; ``blocked_by`` then says what is missing.
        """
        self._forget_changes()
        target = on_map(goal) if isinstance(goal, int) else at_place(self.world, goal)
        return self._plan(start, target, abilities, came_from, avoid, through_obstacles)

    def blocked_by(
        self, start: Place, goal: Place | int, abilities: Abilities, *, came_from: Place | None = None
    ) -> tuple[Obstacle, ...] | None:
        """What would have to be opened to get there: nothing when it can be walked, None when nothing would help."""
        found = self.route(start, goal, abilities, came_from=came_from)
        if found is not None:
            return ()
        found = self.route(start, goal, abilities, came_from=came_from, through_obstacles=True)
        return None if found is None else found.blocked_by

    def nearest(
        self,
        start: Place,
        kind: str,
        abilities: Abilities,
        *,
        visited: Collection[int] = (),
        came_from: Place | None = None,
        avoid: Collection[Place] = (),
    ) -> Route | None:
        """The way to the nearest of a kind: ``grass``, ``water``, ``healer``, ``shop``, ``item`` or ``unseen``.

        ``unseen`` is an exit to a map that is not in ``visited``, reached over maps that are. Healers, clerks and
        things are reached at the tile from which they are spoken to; the last leg's ``press`` faces them, or takes the
        exit.

        Raises:
            ValueError: there is no such kind.
        """
        self._forget_changes()
        target = of_kind(self.world, kind, abilities, {*visited, start.map_id})
        return self._plan(start, target, abilities, came_from, avoid, False)

    def warm_up(self) -> None:
        """Reads all maps and how they hang together, which the first question does otherwise."""
        self._forget_changes()
        self._gates()

    # The search ---------------------------------------------------------------------------------------------

    def _plan(
        self,
        start: Place,
        goal: Goal,
        abilities: Abilities,
        came_from: Place | None,
        avoid: Collection[Place],
        relaxed: bool,
    ) -> Route | None:
        here = self._steps_on(start.map_id)
        if here is None or not here.grid.inside(start.x, start.y) or not goal.ends:
            return None
        if here.is_water(here.grid.cell(start.x, start.y)):
            abilities = replace(abilities, moves=abilities.moves | {"surf"})
        question = _Question(abilities, relaxed, self._cells_of(avoid), came_from)
        graph, bounds = self._gates(), self._bounds_of(goal)
        best: dict[Place, int] = {start: 0}
        count = 0
        heap: list[tuple[int, int, int, _Node, Place | None]] = [(0, 0, 0, _Node(start, None, None), None)]
        while heap:
            _, _, spent, node, end = heapq.heappop(heap)
            if end is not None:
                return self._route(node, end, goal, spent, question)
            place = node.place
            if spent > best[place]:
                continue
            search = self._search(place, question)
            if search is None:
                continue
            grid = self._steps[place.map_id].grid
            for tile, press in goal.tiles_on(place):
                # an exit that acts by itself is a goal only by stepping on it
                cost = search.cost(grid.cell(*tile), entering=press == ENTER and goal.enters)
                if cost < NEVER:
                    count += 1
                    heapq.heappush(heap, (spent + cost, count, spent + cost, node, Place(place.map_id, *tile)))
            for way, cost, beyond in self._onward(node, search, graph, bounds, question):
                arrival = way.arrival
                if arrival is not None and spent + cost < best.get(arrival, NEVER):
                    best[arrival] = spent + cost
                    count += 1
                    heapq.heappush(heap, (spent + cost + beyond, count, spent + cost, _Node(arrival, node, way), None))
        return None

    def _onward(
        self, node: _Node, search: MapSearch, graph: GateGraph, bounds: list[int], question: _Question
    ) -> Iterator[tuple[Way, int, int]]:
        """Ways out of a map with what taking them costs, and the least that it costs from there on.

        Exits that lead back are for those who begin behind them: others came in by them and know where that was.
        """
        place = node.place
        steps = self._steps[place.map_id]
        grid = steps.grid
        for gate in graph.on(place.map_id):
            if bounds[gate.number] >= NEVER:
                continue
            reached = min(
                (search.cost(grid.cell(way.x, way.y), entering=way.press == ENTER), way.x, way.y) for way in gate.ways
            )
            if reached[0] >= NEVER:
                continue
            way = next(way for way in gate.ways if (way.x, way.y) == reached[1:])
            extra = self._crossing(steps, way, question)
            if extra != BLOCKED:
                yield way, reached[0] + gate.cost + extra, bounds[gate.number] - gate.cost
        if node.way is not None and not node.way.back:
            return
        for way in self.world.ways(place.map_id):
            if not way.back:
                continue
            cost = search.cost(grid.cell(way.x, way.y), entering=way.press == ENTER)
            if cost < NEVER:
                known = question.came_from is not None and node.way is None
                origins = (question.came_from,) if known else graph.origins(Place(place.map_id, way.x, way.y))
                for origin in origins:
                    yield replace(way, arrival=origin), cost + 1 + self.costs.exit, 0

    def _crossing(self, steps: MapSteps, way: Way, question: _Question) -> int:
        """What arriving over an edge costs beyond the step: water to enter, someone who stands there."""
        if way.warp or way.arrival is None:
            return 0
        other = self._steps_on(way.arrival.map_id)
        if other is None:
            return BLOCKED
        from_water = steps.is_water(steps.grid.cell(way.x, way.y))
        number = other.into(other.grid.cell(way.arrival.x, way.arrival.y), way.press, from_water=from_water)
        return BLOCKED if number is None else self._allowed(other, question)[number]

    def _search(self, place: Place, question: _Question) -> MapSearch | None:
        steps = self._steps_on(place.map_id)
        if steps is None:
            return None
        allowed = self._allowed(steps, question)
        avoid = question.avoid.get(place.map_id, frozenset())
        key = (place, allowed, avoid)
        search = self._searches.get(key)
        if search is None:
            search = self._searches[key] = MapSearch(steps, steps.grid.cell(place.x, place.y), allowed, avoid)
            if len(self._searches) > _KEPT_SEARCHES:
                self._searches.popitem(last=False)
        else:
            self._searches.move_to_end(key)
        return search

    @staticmethod
    def _allowed(steps: MapSteps, question: _Question) -> tuple[int, ...]:
        found = question.allowed.get(steps.map.map_id)
        if found is None:
            found = steps.allowed(question.abilities, relaxed=question.relaxed)
            question.allowed[steps.map.map_id] = found
        return found

    # The way in words ---------------------------------------------------------------------------------------

    def _route(self, node: _Node, end: Place, goal: Goal, cost: int, question: _Question) -> Route:
        nodes = [node]
        while (before := nodes[-1].came_from) is not None:
            nodes.append(before)
        nodes.reverse()
        legs, obstacles, missing = [], [], []
        for index, here in enumerate(nodes):
            onward = nodes[index + 1] if index + 1 < len(nodes) else None
            way = onward.way if onward is not None else None
            tile = (way.x, way.y) if way is not None else (end.x, end.y)
            press = way.press if way is not None else goal.press_at(end)
            entering = press == ENTER and (way is not None or goal.enters)
            steps = self._steps[here.place.map_id]
            search = self._search(here.place, question)
            assert search is not None
            cells = search.path(steps.grid.cell(*tile), entering=entering)
            for obstacle, open_now in self._met(steps, cells, question.abilities):
                obstacles.append(obstacle)
                if not open_now:
                    missing.append(obstacle)
            legs.append(
                Leg(
                    here.place.map_id,
                    tuple(steps.grid.tile_of(cell) for cell in cells),
                    press,
                    way.arrival if way is not None else None,
                    way.warp if way is not None else 0,
                )
            )
        return Route(tuple(legs), cost, tuple(obstacles), tuple(missing))

    def _met(self, steps: MapSteps, cells: list[int], abilities: Abilities) -> Iterator[tuple[Obstacle, bool]]:
        """Obstacles on a path, and whether each can be dealt with now."""
        for before, after in pairwise(cells):
            number = next(need for target, _, _, need in steps[before] if target == after)
            for need in steps.needs[number]:
                if need.kind in _SILENT or not need.begins:
                    continue
                strict = need.cost(abilities, self.costs, relaxed=False)
                if strict == 0:
                    continue
                place = Place(steps.map.map_id, *steps.grid.tile_of(need.cell))
                yield Obstacle(need.kind, place, need.flag, need.person), need.kind == ITEM or strict != BLOCKED

    # What is kept -------------------------------------------------------------------------------------------

    def _steps_on(self, map_id: int) -> MapSteps | None:
        steps = self._steps.get(map_id)
        if steps is None:
            here = self.world.map(map_id)
            if here is None:
                return None
            world = self.world
            steps = self._steps[map_id] = MapSteps(here, world.rules, world.openers, world.ways(map_id), self.costs)
            steps.complete()
        return steps

    def _gates(self) -> GateGraph:
        if self._graph is None:
            self._graph = GateGraph(self.world, self.costs.exit)
        return self._graph

    def _bounds_of(self, goal: Goal) -> list[int]:
        key = tuple(sorted(goal.boxes().items()))
        bounds = self._bounds.get(key)
        if bounds is None:
            bounds = self._bounds[key] = self._gates().at_least(dict(key))
            if len(self._bounds) > len(STEPS) ** 3:
                self._bounds.popitem(last=False)
        return bounds

    def _forget_changes(self) -> None:
        """After something was learnt: maps that are still the same object are as they were."""
        if self.world.version == self._version:
            return
        self._version = self.world.version
        self._graph = None
        self._bounds.clear()
        for map_id, steps in list(self._steps.items()):
            if self.world.map(map_id) is not steps.map:
                del self._steps[map_id]
        self._searches.clear()

    def _cells_of(self, places: Collection[Place]) -> dict[int, frozenset[int]]:
        found: dict[int, set[int]] = {}
        for place in places:
            steps = self._steps_on(place.map_id)
            if steps is not None and steps.grid.inside(place.x, place.y):
                found.setdefault(place.map_id, set()).add(steps.grid.cell(place.x, place.y))
        return {map_id: frozenset(cells) for map_id, cells in found.items()}
