"""Planner of routes over tiles, warps and map edges, within the player's abilities.

Maps are searched tile by tile (Dijkstra), and each search is kept until its map changes. Between maps it is A*: the
minimum cost from an exit follows from the positions of the exits.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator
from dataclasses import replace

from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.gates import Gate
from pkmn_pyboy.world.goals import Goal, at_place, on_map
from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.known_ways import KnownWays, RouteRequest
from pkmn_pyboy.world.map_search import NEVER, MapSearch
from pkmn_pyboy.world.records import ENTER, Place, Way
from pkmn_pyboy.world.route import Obstacle, Route
from pkmn_pyboy.world.route_builder import Node, RouteBuilder
from pkmn_pyboy.world.steps import Costs


class RoutePlanner:
    """Planner of the cheapest route. Results for a map are kept until it changes.

    Args:
        world: the maps.
        costs: extra costs.
    """

    def __init__(self, world: World, costs: Costs | None = None) -> None:
        self.world = world
        self.costs = costs or Costs()
        self._known = KnownWays(world, self.costs)

    # Requests -------------------------------------------------------------------------------------------------

    def route(
        self,
        start: Place,
        goal: Place | int | Goal,
        abilities: Abilities,
        *,
        came_from: Place | None = None,
        avoid: Collection[Place] = (),
        through_obstacles: bool = False,
    ) -> Route | None:
        """Return the route to a place, to the nearest tile of a map (its id), or to a goal's nearest tile, or None.

        Args:
            start: the player's place.
            goal: the destination. A blocked tile (a person, a sign, a wall) is reached at a tile beside it, also over a
                counter; the last leg's ``press`` then faces it. A milestone's target becomes a goal by
                :func:`~pkmn_pyboy.world.goals.of_target`.
            abilities: the player's abilities.
            came_from: destination of exits that lead back; without it, any place that leads here.
            avoid: tiles and exits that failed recently.
            through_obstacles: also routes that cannot be walked yet; ``blocked_by`` then lists the obstacles.
        """
        self._known.forget_changes()
        if isinstance(goal, int):
            goal = on_map(goal)
        elif isinstance(goal, Place):
            goal = at_place(self.world, goal)
        return self._plan(start, goal, abilities, came_from, avoid, through_obstacles)

    def blocked_by(
        self, start: Place, goal: Place | int | Goal, abilities: Abilities, *, came_from: Place | None = None
    ) -> tuple[Obstacle, ...] | None:
        """Return the obstacles to open on the way: empty if it can be walked, None if there is no route at all."""
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
        """Return the route to the nearest ``grass``, ``water``, ``healer``, ``shop``, ``item`` or ``unseen``.

        ``unseen`` is an exit to a map that is not in ``visited``, reached over maps that are. Healers, clerks and items
        are reached at the tile from which they are spoken to; the last leg's ``press`` faces them, or takes the exit.

        Raises:
            ValueError: the kind is unknown.
        """
        self._known.forget_changes()
        target = self._known.goal_of(kind, abilities, {*visited, start.map_id})
        return self._plan(start, target, abilities, came_from, avoid, False)

    # Search ---------------------------------------------------------------------------------------------------

    def _plan(
        self,
        start: Place,
        goal: Goal,
        abilities: Abilities,
        came_from: Place | None,
        avoid: Collection[Place],
        relaxed: bool,
    ) -> Route | None:
        here = self._known.steps_on(start.map_id)
        if here is None or not here.grid.inside(start.x, start.y) or not goal.ends:
            return None
        if here.is_water(here.grid.cell(start.x, start.y)):
            abilities = replace(abilities, moves=abilities.moves | {"surf"})
        request = RouteRequest(abilities, relaxed, self._known.cells_of(avoid), came_from)
        bounds = self._known.bounds(goal)
        best: dict[Place | int, int] = {start: 0}
        count = 0
        heap: list[tuple[int, int, int, int, Node, Place | None]] = [(0, 0, 0, 0, Node(start, start), None)]
        while heap:
            _, _, _, spent, node, end = heapq.heappop(heap)
            if end is not None:
                return RouteBuilder(self._known, self.costs, request, node).build(end, goal)
            place = node.place
            if spent > best[node.key]:
                continue
            search = self._known.search(place, request)
            if search is None:
                continue
            for tile, press in goal.tiles_on(place):
                # an exit that acts by itself counts as reached only when stepped on
                cost = search.cost_at(*tile, entering=press == ENTER and goal.enters)
                if cost < NEVER:
                    count += 1
                    heapq.heappush(heap, (spent + cost, 0, count, spent + cost, node, Place(place.map_id, *tile)))
            for onward, cost, beyond in self._onward(node, search, bounds, request):
                if spent + cost < best.get(onward.key, NEVER):
                    best[onward.key] = spent + cost
                    count += 1
                    heapq.heappush(heap, (spent + cost + beyond, beyond, count, spent + cost, onward, None))
        return None

    def _onward(
        self, node: Node, search: MapSearch, bounds: list[int], request: RouteRequest
    ) -> Iterator[tuple[Node, int, int]]:
        """Yield the maps reached from a map, with the cost so far, and the minimum cost from there.

        Exits that lead back are only for a route that begins on this map: a later map was entered by a known exit.
        """
        place, graph = node.place, self._known.gates()
        for gate in graph.on(place.map_id):
            if bounds[gate.number] >= NEVER:
                continue
            reached, way = search.exits.get(gate.number) or self._reached(gate, search, request)
            if way is not None and way.arrival is not None:
                onward = Node(way.arrival, gate.key, node, way, gate)
                yield onward, reached + gate.cost, bounds[gate.number] - gate.cost
        if node.way is not None and not node.way.back:
            return
        for way in self.world.ways(place.map_id):
            if not way.back:
                continue
            cost = search.cost_at(way.x, way.y, entering=way.press == ENTER)
            if cost < NEVER:
                known = request.came_from is not None and node.way is None
                origins = (request.came_from,) if known else graph.origins(Place(place.map_id, way.x, way.y))
                for origin in origins:
                    if origin is not None:
                        onward = Node(origin, origin, node, replace(way, arrival=origin))
                        yield onward, cost + 1 + self.costs.exit, 0

    def _reached(self, gate: Gate, search: MapSearch, request: RouteRequest) -> tuple[int, Way | None]:
        """Return the cost of reaching a gate, and its nearest exit tile; NEVER and None if there is no path."""
        reached, way = NEVER, None
        for one, cell, extra in self._known.open_crossings(gate, request):
            cost = search.cost(cell, entering=one.press == ENTER) + extra
            if cost < reached:
                reached, way = cost, one
        if all(need == 0 for _, _, need in self._known.crossings(gate)):
            search.exits[gate.number] = reached, way
        return reached, way
