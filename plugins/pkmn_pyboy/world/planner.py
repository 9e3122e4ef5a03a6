"""Plans ways over tiles, warps and map edges, through what the player can do.

Maps are searched tile by tile (Dijkstra), and each such search is kept for as long as nothing on its map changes.
Between maps it is A*: the least that a way can cost from an exit is known from where the exits lie.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator
from dataclasses import replace

from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.gates import Gate
from pkmn_pyboy.world.goals import Goal, at_place, on_map
from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.known_ways import KnownWays, Question
from pkmn_pyboy.world.map_search import NEVER, MapSearch
from pkmn_pyboy.world.records import ENTER, Place, Way
from pkmn_pyboy.world.route import Obstacle, Route
from pkmn_pyboy.world.route_builder import Node, RouteBuilder
from pkmn_pyboy.world.steps import Costs


class RoutePlanner:
    """Finds the cheapest way. Keeps what it found out about a map for as long as nothing there changes.

    Args:
        world: the maps.
        costs: what counts how much.
    """

    def __init__(self, world: World, costs: Costs | None = None) -> None:
        self.world = world
        self.costs = costs or Costs()
        self._known = KnownWays(world, self.costs)

    # What can be asked --------------------------------------------------------------------------------------

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
        """The way to a place, to the nearest tile of a map (its id), or to a goal's nearest end; None without one.

        Args:
            start: where the player stands.
            goal: where to. A tile that nobody can stand on (a person, a sign, a wall) is reached at a tile beside it,
                over a counter too; the last leg's ``press`` then faces it. A milestone's target becomes a goal by
                :func:`~pkmn_pyboy.world.goals.of_target`.
            abilities: what the player can do.
            came_from: where exits that lead back lead; without it, anywhere that leads here.
            avoid: tiles and exits that did not work lately.
            through_obstacles: also ways that can't be walked yet; ``blocked_by`` then says what is missing.
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
        self._known.forget_changes()
        target = self._known.goal_of(kind, abilities, {*visited, start.map_id})
        return self._plan(start, target, abilities, came_from, avoid, False)

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
        here = self._known.steps_on(start.map_id)
        if here is None or not here.grid.inside(start.x, start.y) or not goal.ends:
            return None
        if here.is_water(here.grid.cell(start.x, start.y)):
            abilities = replace(abilities, moves=abilities.moves | {"surf"})
        question = Question(abilities, relaxed, self._known.cells_of(avoid), came_from)
        bounds = self._known.bounds(goal)
        best: dict[Place | int, int] = {start: 0}
        count = 0
        heap: list[tuple[int, int, int, int, Node, Place | None]] = [(0, 0, 0, 0, Node(start, start), None)]
        while heap:
            _, _, _, spent, node, end = heapq.heappop(heap)
            if end is not None:
                return RouteBuilder(self._known, self.costs, question, node).build(end, goal)
            place = node.place
            if spent > best[node.key]:
                continue
            search = self._known.search(place, question)
            if search is None:
                continue
            for tile, press in goal.tiles_on(place):
                # an exit that acts by itself is a goal only by stepping on it
                cost = search.cost_at(*tile, entering=press == ENTER and goal.enters)
                if cost < NEVER:
                    count += 1
                    heapq.heappush(heap, (spent + cost, 0, count, spent + cost, node, Place(place.map_id, *tile)))
            for onward, cost, beyond in self._onward(node, search, bounds, question):
                if spent + cost < best.get(onward.key, NEVER):
                    best[onward.key] = spent + cost
                    count += 1
                    heapq.heappush(heap, (spent + cost + beyond, beyond, count, spent + cost, onward, None))
        return None

    def _onward(
        self, node: Node, search: MapSearch, bounds: list[int], question: Question
    ) -> Iterator[tuple[Node, int, int]]:
        """Where one gets from a map, with what that costs, and the least that it costs from there on.

        Exits that lead back are for those who begin behind them: others came in by them and know where that was.
        """
        place, graph = node.place, self._known.gates()
        for gate in graph.on(place.map_id):
            if bounds[gate.number] >= NEVER:
                continue
            reached, way = search.exits.get(gate.number) or self._reached(gate, search, question)
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
                known = question.came_from is not None and node.way is None
                origins = (question.came_from,) if known else graph.origins(Place(place.map_id, way.x, way.y))
                for origin in origins:
                    if origin is not None:
                        onward = Node(origin, origin, node, replace(way, arrival=origin))
                        yield onward, cost + 1 + self.costs.exit, 0

    def _reached(self, gate: Gate, search: MapSearch, question: Question) -> tuple[int, Way | None]:
        """What getting to a gate costs, and the tile of it to leave by; NEVER and None where there is no way."""
        reached, way = NEVER, None
        for one, cell, extra in self._known.open_crossings(gate, question):
            cost = search.cost(cell, entering=one.press == ENTER) + extra
            if cost < reached:
                reached, way = cost, one
        if all(need == 0 for _, _, need in self._known.crossings(gate)):
            search.exits[gate.number] = reached, way
        return reached, way
