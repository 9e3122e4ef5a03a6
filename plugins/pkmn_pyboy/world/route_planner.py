"""Planner of routes over tiles, warps and map edges, within the player's abilities.

Maps are searched tile by tile (Dijkstra), and each search is kept until its map changes. Between maps it is A*: the
minimum cost from an exit follows from the positions of the exits.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator
from dataclasses import replace

from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.goals import RouteGoal, at_place, on_map
from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.links import Link
from pkmn_pyboy.world.map_moves import Costs
from pkmn_pyboy.world.map_search import NEVER, MapSearch
from pkmn_pyboy.world.records import ENTER, ExitTile, Place
from pkmn_pyboy.world.route import Obstacle, Route
from pkmn_pyboy.world.route_builder import Node, RouteBuilder
from pkmn_pyboy.world.search_cache import RouteRequest, SearchCache


class RoutePlanner:
    """Planner of the cheapest route. Results for a map are kept until it changes.

    Args:
        world: the maps.
        costs: extra costs.
    """

    def __init__(self, world: World, costs: Costs | None = None) -> None:
        self.world = world
        self.costs = costs or Costs()
        self._known = SearchCache(world, self.costs)

    # Requests -------------------------------------------------------------------------------------------------

    def route(
        self,
        start: Place,
        goal: Place | int | RouteGoal,
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
        self, start: Place, goal: Place | int | RouteGoal, abilities: Abilities, *, came_from: Place | None = None
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
        goal: RouteGoal,
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
        place, graph = node.place, self._known.links()
        for link in graph.on(place.map_id):
            if bounds[link.number] >= NEVER:
                continue
            reached, exit_ = search.exits.get(link.number) or self._reached(link, search, request)
            if exit_ is not None and exit_.arrival is not None:
                onward = Node(exit_.arrival, link.key, node, exit_, link)
                yield onward, reached + link.cost, bounds[link.number] - link.cost
        if node.exit_tile is not None and not node.exit_tile.back:
            return
        for exit_ in self.world.exits(place.map_id):
            if not exit_.back:
                continue
            cost = search.cost_at(exit_.x, exit_.y, entering=exit_.press == ENTER)
            if cost < NEVER:
                known = request.came_from is not None and node.exit_tile is None
                origins = (request.came_from,) if known else graph.origins(Place(place.map_id, exit_.x, exit_.y))
                for origin in origins:
                    if origin is not None:
                        onward = Node(origin, origin, node, replace(exit_, arrival=origin))
                        yield onward, cost + 1 + self.costs.exit, 0

    def _reached(self, link: Link, search: MapSearch, request: RouteRequest) -> tuple[int, ExitTile | None]:
        """Return the cost of reaching a link, and its nearest exit tile; NEVER and None if there is no path."""
        reached, exit_ = NEVER, None
        for one, cell, extra in self._known.open_crossings(link, request):
            cost = search.cost(cell, entering=one.press == ENTER) + extra
            if cost < reached:
                reached, exit_ = cost, one
        if all(need == 0 for _, _, need in self._known.crossings(link)):
            search.exits[link.number] = reached, exit_
        return reached, exit_
