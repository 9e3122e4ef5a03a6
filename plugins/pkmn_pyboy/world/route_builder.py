"""Builder of a route from the maps and links found: every tile, every press, and the obstacles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from pkmn_pyboy.world.goals import RouteGoal
from pkmn_pyboy.world.links import Link
from pkmn_pyboy.world.map_moves import BLOCKED, ITEM, SIGHT, WALKER, Costs, MapMoves, Need
from pkmn_pyboy.world.map_search import NEVER, MapSearch
from pkmn_pyboy.world.records import ENTER, ExitTile, Place
from pkmn_pyboy.world.route import Leg, Obstacle, Route
from pkmn_pyboy.world.search_cache import RouteRequest, SearchCache

_SILENT = (SIGHT, WALKER)


@dataclass(frozen=True, slots=True)
class Node:
    """Place where a map is entered, and the node before it."""

    place: Place
    key: Place | int
    """Place, or number of the link over an edge: its tiles are equivalent."""
    came_from: Node | None = None
    exit_tile: ExitTile | None = None
    """Exit of the map before."""
    link: Link | None = None
    """Edge or warp that the exit belongs to."""


class RouteBuilder:
    """Builder of one route.

    Args:
        known: moves and searches.
        costs: extra costs.
        request: conditions of the route.
        last: node of the goal's map, linked to those before it.
    """

    def __init__(self, known: SearchCache, costs: Costs, request: RouteRequest, last: Node) -> None:
        self._known = known
        self._costs = costs
        self._request = request
        self._nodes = [last]
        while (before := self._nodes[-1].came_from) is not None:
            self._nodes.append(before)
        self._nodes.reverse()
        self._steps = [self._steps_of(node) for node in self._nodes]

    def _steps_of(self, node: Node) -> MapMoves:
        steps = self._known.steps_on(node.place.map_id)
        assert steps is not None
        return steps

    def build(self, end: Place, goal: RouteGoal) -> Route:
        """Return the route to a goal's tile."""
        press = goal.press_at(end)
        cell, entering = self._steps[-1].grid.cell(end.x, end.y), press == ENTER and goal.enters
        searches = self._searches()
        cost = searches[-1].cost(cell, entering=entering)
        legs: list[Leg] = []
        met: list[tuple[Obstacle, bool]] = []
        exit_: ExitTile | None = None
        for index in range(len(self._nodes) - 1, -1, -1):
            steps = self._steps[index]
            cells = searches[index].path(cell, entering=entering)
            met[:0] = self._met(steps, cells)
            tiles = tuple(steps.grid.tile_of(one) for one in cells)
            leads_to, warp = (exit_.arrival, exit_.warp) if exit_ is not None else (None, 0)
            legs.insert(0, Leg(steps.map.map_id, tiles, press, leads_to, warp))
            if index:
                exit_, needs = self._exit_to(index, cells[0])
                met[:0] = self._obstacles(steps, needs)
                press, entering = exit_.press, exit_.press == ENTER
                cell = self._steps[index - 1].grid.cell(exit_.x, exit_.y)
        obstacles = tuple(obstacle for obstacle, _ in met)
        return Route(tuple(legs), cost, obstacles, tuple(obstacle for obstacle, open_now in met if not open_now))

    def _searches(self) -> list[MapSearch]:
        """Return the searches along the route; an edge may be crossed at any of its tiles."""
        searches: list[MapSearch] = []
        for index, (node, steps) in enumerate(zip(self._nodes, self._steps, strict=True)):
            starts = {steps.grid.cell(node.place.x, node.place.y): 0}
            if node.link is not None:
                starts = dict(self._arrivals(node.link, steps, searches[-1]))
            elif node.exit_tile is not None:
                cell = self._steps[index - 1].grid.cell(node.exit_tile.x, node.exit_tile.y)
                spent = searches[-1].cost(cell, entering=node.exit_tile.press == ENTER) + 1 + self._costs.exit
                starts = dict.fromkeys(starts, spent)
            searches.append(self._known.new_search(steps, starts, self._request))
        return searches

    def _arrivals(self, link: Link, steps: MapMoves, before: MapSearch) -> Iterator[tuple[int, int]]:
        """Yield the arrival cells of a link, with the cost of each."""
        for exit_, cell, extra in self._known.open_crossings(link, self._request):
            spent = before.cost(cell, entering=exit_.press == ENTER)
            if spent < NEVER and exit_.arrival is not None:
                yield steps.grid.cell(exit_.arrival.x, exit_.arrival.y), spent + extra + link.cost

    def _exit_to(self, index: int, cell: int) -> tuple[ExitTile, tuple[Need, ...]]:
        """Return the exit that arrives at a cell, and its needs there."""
        node, steps = self._nodes[index], self._steps[index]
        for exit_, _, need in self._known.crossings(node.link) if node.link is not None else ():
            if exit_.arrival is not None and steps.grid.cell(exit_.arrival.x, exit_.arrival.y) == cell:
                return exit_, steps.needs[need]
        assert node.exit_tile is not None
        return node.exit_tile, ()

    def _met(self, steps: MapMoves, cells: list[int]) -> Iterator[tuple[Obstacle, bool]]:
        """Yield the obstacles on a path, and True for each that can be passed now."""
        for before, after in pairwise(cells):
            number = next(need for away, _, _, need in steps.moves(before) if before + away == after)
            yield from self._obstacles(steps, steps.needs[number])

    def _obstacles(self, steps: MapMoves, needs: tuple[Need, ...]) -> Iterator[tuple[Obstacle, bool]]:
        for need in needs:
            if need.kind in _SILENT or not need.begins:
                continue
            strict = need.cost(self._request.abilities, self._costs, relaxed=False)
            if strict:
                place = Place(steps.map.map_id, *steps.grid.tile_of(need.cell))
                yield Obstacle(need.kind, place, need.flag, need.person), need.kind == ITEM or strict != BLOCKED
