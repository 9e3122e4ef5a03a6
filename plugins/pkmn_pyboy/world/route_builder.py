"""Builder of a route from the maps and gates found: every tile, every press, and the obstacles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from pkmn_pyboy.world.gates import Gate
from pkmn_pyboy.world.goals import Goal
from pkmn_pyboy.world.known_ways import KnownWays, RouteRequest
from pkmn_pyboy.world.map_search import NEVER, MapSearch
from pkmn_pyboy.world.records import ENTER, Place, Way
from pkmn_pyboy.world.route import Leg, Obstacle, Route
from pkmn_pyboy.world.steps import BLOCKED, ITEM, SIGHT, WALKER, Costs, MapSteps, Need

_SILENT = (SIGHT, WALKER)


@dataclass(frozen=True, slots=True)
class Node:
    """Place where a map is entered, and the node before it."""

    place: Place
    key: Place | int
    """Place, or number of the gate over an edge: its tiles are equivalent."""
    came_from: Node | None = None
    way: Way | None = None
    """Exit of the map before."""
    gate: Gate | None = None
    """Edge or warp that the exit belongs to."""


class RouteBuilder:
    """Builder of one route.

    Args:
        known: moves and searches.
        costs: extra costs.
        request: conditions of the route.
        last: node of the goal's map, linked to those before it.
    """

    def __init__(self, known: KnownWays, costs: Costs, request: RouteRequest, last: Node) -> None:
        self._known = known
        self._costs = costs
        self._request = request
        self._nodes = [last]
        while (before := self._nodes[-1].came_from) is not None:
            self._nodes.append(before)
        self._nodes.reverse()
        self._steps = [self._steps_of(node) for node in self._nodes]

    def _steps_of(self, node: Node) -> MapSteps:
        steps = self._known.steps_on(node.place.map_id)
        assert steps is not None
        return steps

    def build(self, end: Place, goal: Goal) -> Route:
        """Return the route to a goal's tile."""
        press = goal.press_at(end)
        cell, entering = self._steps[-1].grid.cell(end.x, end.y), press == ENTER and goal.enters
        searches = self._searches(cell)
        cost = searches[-1].cost(cell, entering=entering)
        legs: list[Leg] = []
        met: list[tuple[Obstacle, bool]] = []
        way: Way | None = None
        for index in range(len(self._nodes) - 1, -1, -1):
            steps = self._steps[index]
            cells = searches[index].path(cell, entering=entering)
            met[:0] = self._met(steps, cells)
            tiles = tuple(steps.grid.tile_of(one) for one in cells)
            leads_to, warp = (way.arrival, way.warp) if way is not None else (None, 0)
            legs.insert(0, Leg(steps.map.map_id, tiles, press, leads_to, warp))
            if index:
                way, needs = self._way_to(index, cells[0])
                met[:0] = self._obstacles(steps, needs)
                press, entering = way.press, way.press == ENTER
                cell = self._steps[index - 1].grid.cell(way.x, way.y)
        obstacles = tuple(obstacle for obstacle, _ in met)
        return Route(tuple(legs), cost, obstacles, tuple(obstacle for obstacle, open_now in met if not open_now))

    def _searches(self, last: int) -> list[MapSearch]:
        """Return the searches along the route; an edge may be crossed at any of its tiles.

        ``last`` is the goal's cell.
        """
        searches: list[MapSearch] = []
        for index, (node, steps) in enumerate(zip(self._nodes, self._steps, strict=True)):
            starts = {steps.grid.cell(node.place.x, node.place.y): 0}
            if node.gate is not None:
                starts = dict(self._arrivals(node.gate, steps, searches[-1]))
            elif node.way is not None:
                cell = self._steps[index - 1].grid.cell(node.way.x, node.way.y)
                spent = searches[-1].cost(cell, entering=node.way.press == ENTER) + 1 + self._costs.exit
                starts = dict.fromkeys(starts, spent)
            until = [last]
            if index + 1 < len(self._nodes):
                onward = self._nodes[index + 1].gate
                until = [cell for _, cell, _ in self._known.crossings(onward)] if onward is not None else []
            searches.append(self._known.new_search(steps, starts, self._request, until))
        return searches

    def _arrivals(self, gate: Gate, steps: MapSteps, before: MapSearch) -> Iterator[tuple[int, int]]:
        """Yield the arrival cells of a gate, with the cost of each."""
        for way, cell, extra in self._known.open_crossings(gate, self._request):
            spent = before.cost(cell, entering=way.press == ENTER)
            if spent < NEVER and way.arrival is not None:
                yield steps.grid.cell(way.arrival.x, way.arrival.y), spent + extra + gate.cost

    def _way_to(self, index: int, cell: int) -> tuple[Way, tuple[Need, ...]]:
        """Return the exit that arrives at a cell, and its needs there."""
        node, steps = self._nodes[index], self._steps[index]
        for way, _, need in self._known.crossings(node.gate) if node.gate is not None else ():
            if way.arrival is not None and steps.grid.cell(way.arrival.x, way.arrival.y) == cell:
                return way, steps.needs[need]
        assert node.way is not None
        return node.way, ()

    def _met(self, steps: MapSteps, cells: list[int]) -> Iterator[tuple[Obstacle, bool]]:
        """Yield the obstacles on a path, and True for each that can be passed now."""
        for before, after in pairwise(cells):
            number = next(need for away, _, _, need in steps.moves(before) if before + away == after)
            yield from self._obstacles(steps, steps.needs[number])

    def _obstacles(self, steps: MapSteps, needs: tuple[Need, ...]) -> Iterator[tuple[Obstacle, bool]]:
        for need in needs:
            if need.kind in _SILENT or not need.begins:
                continue
            strict = need.cost(self._request.abilities, self._costs, relaxed=False)
            if strict:
                place = Place(steps.map.map_id, *steps.grid.tile_of(need.cell))
                yield Obstacle(need.kind, place, need.flag, need.person), need.kind == ITEM or strict != BLOCKED
