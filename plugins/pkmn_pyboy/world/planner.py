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
from pkmn_pyboy.world.gates import Box, Gate, GateGraph
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
    key: Place | int
    """Place, or number of the gate over an edge: one of its tiles is as good as the others."""
    came_from: _Node | None = None
    way: Way | None = None
    """The way out of the map before."""
    gate: Gate | None = None
    """The edge or warp that the way is a part of."""


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked of the planner."""

    abilities: Abilities
    relaxed: bool
    avoid: Mapping[int, frozenset[int]]
    came_from: Place | None
    situations: dict[int, tuple[object, ...]] = field(default_factory=dict)
    """What makes a difference on each map."""


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
        self._crossings: dict[int, tuple[tuple[Way, int, int], ...]] = {}
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
        best: dict[Place | int, int] = {start: 0}
        count = 0
        heap: list[tuple[int, int, int, int, _Node, Place | None]] = [(0, 0, 0, 0, _Node(start, start), None)]
        while heap:
            _, _, _, spent, node, end = heapq.heappop(heap)
            if end is not None:
                return self._route(node, end, goal, question)
            place = node.place
            if spent > best[node.key]:
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
                    heapq.heappush(heap, (spent + cost, 0, count, spent + cost, node, Place(place.map_id, *tile)))
            for onward, cost, beyond in self._onward(node, search, graph, bounds, question):
                if spent + cost < best.get(onward.key, NEVER):
                    best[onward.key] = spent + cost
                    count += 1
                    heapq.heappush(heap, (spent + cost + beyond, beyond, count, spent + cost, onward, None))
        return None

    def _onward(
        self, node: _Node, search: MapSearch, graph: GateGraph, bounds: list[int], question: _Question
    ) -> Iterator[tuple[_Node, int, int]]:
        """Where one gets from a map, with what that costs, and the least that it costs from there on.

        Exits that lead back are for those who begin behind them: others came in by them and know where that was.
        """
        place = node.place
        steps = self._steps[place.map_id]
        grid = steps.grid
        for gate in graph.on(place.map_id):
            if bounds[gate.number] >= NEVER:
                continue
            reached, way = search.exits.get(gate.number) or self._reached(gate, search, question)
            if way is not None and way.arrival is not None:
                onward = _Node(way.arrival, gate.key, node, way, gate)
                yield onward, reached + gate.cost, bounds[gate.number] - gate.cost
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
                    if origin is not None:
                        onward = _Node(origin, origin, node, replace(way, arrival=origin))
                        yield onward, cost + 1 + self.costs.exit, 0

    def _reached(self, gate: Gate, search: MapSearch, question: _Question) -> tuple[int, Way | None]:
        """What getting to a gate costs, and the tile of it to leave by; NEVER and None where there is no way."""
        reached, way = NEVER, None
        for one, cell, extra in self._crossing(gate, question):
            cost = search.cost(cell, entering=one.press == ENTER) + extra
            if cost < reached:
                reached, way = cost, one
        if all(need == 0 for _, _, need in self._crossings[gate.number]):
            search.exits[gate.number] = reached, way
        return reached, way

    def _crossing(self, gate: Gate, question: _Question) -> Iterator[tuple[Way, int, int]]:
        """The tiles of a gate with their cells, and what arriving by each costs: water to enter, someone there."""
        entries = self._crossings.get(gate.number)
        if entries is None:
            entries = self._crossings[gate.number] = tuple(self._entries(gate))
        for way, cell, need in entries:
            if not need:
                yield way, cell, 0
                continue
            extra = self._extra(self._steps[gate.target], need, question)
            if extra != BLOCKED:
                yield way, cell, extra

    def _entries(self, gate: Gate) -> Iterator[tuple[Way, int, int]]:
        here, there = self._steps_on(gate.map_id), self._steps_on(gate.target)
        if here is None or there is None:
            return
        for way in gate.ways:
            cell, need = here.grid.cell(way.x, way.y), 0
            if not way.warp and way.arrival is not None:
                arrival = there.grid.cell(way.arrival.x, way.arrival.y)
                number = there.into(arrival, way.press, from_water=here.is_water(cell))
                if number is None:
                    continue
                need = number
            yield way, cell, need

    @staticmethod
    def _extra(steps: MapSteps, need: int, question: _Question) -> int:
        return steps.cost_of(need, question.abilities, relaxed=question.relaxed)

    def _search(self, place: Place, question: _Question) -> MapSearch | None:
        steps = self._steps_on(place.map_id)
        if steps is None:
            return None
        avoid = question.avoid.get(place.map_id, frozenset())
        situation = question.situations.get(place.map_id)
        if situation is None:
            situation = steps.situation(question.abilities, relaxed=question.relaxed)
            question.situations[place.map_id] = situation
        key = (place, situation, avoid)
        search = self._searches.get(key)
        if search is None:
            search = self._new_search(steps, {steps.grid.cell(place.x, place.y): 0}, question)
            self._searches[key] = search
            if len(self._searches) > _KEPT_SEARCHES:
                self._searches.popitem(last=False)
        else:
            self._searches.move_to_end(key)
        return search

    def _new_search(
        self, steps: MapSteps, starts: Mapping[int, int], question: _Question, until: Collection[int] = ()
    ) -> MapSearch:
        avoid = question.avoid.get(steps.map.map_id, frozenset())
        return MapSearch(steps, starts, lambda need: self._extra(steps, need, question), avoid, until)

    # The way in words ---------------------------------------------------------------------------------------

    def _route(self, node: _Node, end: Place, goal: Goal, question: _Question) -> Route:
        nodes = [node]
        while (before := nodes[-1].came_from) is not None:
            nodes.append(before)
        nodes.reverse()
        legs: list[Leg] = []
        obstacles: list[Obstacle] = []
        missing: list[Obstacle] = []
        steps = self._steps[end.map_id]
        press = goal.press_at(end)
        cell, entering = steps.grid.cell(end.x, end.y), press == ENTER and goal.enters
        searches = self._refined(nodes, cell, question)
        cost = searches[-1].cost(cell, entering=entering)
        way: Way | None = None
        for index in range(len(nodes) - 1, -1, -1):
            steps = self._steps[nodes[index].place.map_id]
            cells = searches[index].path(cell, entering=entering)
            met = list(self._met(steps, cells, question.abilities))
            obstacles[:0] = [obstacle for obstacle, _ in met]
            missing[:0] = [obstacle for obstacle, open_now in met if not open_now]
            leads_to, warp = (way.arrival, way.warp) if way is not None else (None, 0)
            legs.insert(
                0, Leg(steps.map.map_id, tuple(steps.grid.tile_of(one) for one in cells), press, leads_to, warp)
            )
            if index == 0:
                break
            way = self._way_to(nodes[index], cells[0])
            press, entering = way.press, way.press == ENTER
            cell = self._steps[nodes[index - 1].place.map_id].grid.cell(way.x, way.y)
        return Route(tuple(legs), cost, tuple(obstacles), tuple(missing))

    def _refined(self, nodes: list[_Node], last: int, question: _Question) -> list[MapSearch]:
        """The searches along a way, where an edge may be crossed at any of its tiles. ``last`` is the goal's cell."""
        searches: list[MapSearch] = []
        for index, node in enumerate(nodes):
            steps = self._steps[node.place.map_id]
            onward = nodes[index + 1].gate if index + 1 < len(nodes) else None
            starts = {steps.grid.cell(node.place.x, node.place.y): 0}
            if node.gate is not None:
                starts = {}
                for way, cell, extra in self._crossing(node.gate, question):
                    spent = searches[-1].cost(cell, entering=way.press == ENTER)
                    if spent < NEVER and way.arrival is not None:
                        starts[steps.grid.cell(way.arrival.x, way.arrival.y)] = spent + extra + node.gate.cost
            elif node.way is not None and index:
                before = self._steps[nodes[index - 1].place.map_id].grid
                cell = before.cell(node.way.x, node.way.y)
                starts = dict.fromkeys(
                    starts, searches[-1].cost(cell, entering=node.way.press == ENTER) + 1 + self.costs.exit
                )
            if index + 1 == len(nodes):
                until = [last]
            elif onward is not None:
                until = [cell for _, cell, _ in self._crossing(onward, question)]
            else:
                until = []
            searches.append(self._new_search(steps, starts, question, until))
        return searches

    def _way_to(self, node: _Node, cell: int) -> Way:
        """Of the ways that a node may have been entered by, the one that arrives at a cell."""
        grid = self._steps[node.place.map_id].grid
        for way in node.gate.ways if node.gate is not None else ():
            if way.arrival is not None and grid.cell(way.arrival.x, way.arrival.y) == cell:
                return way
        assert node.way is not None
        return node.way

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
        self._crossings.clear()
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
