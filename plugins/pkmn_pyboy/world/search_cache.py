"""Caches of map searches and links between maps, invalidated when a map changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.goals import RouteGoal, of_kind
from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.links import Box, Link, LinkGraph
from pkmn_pyboy.world.map_moves import BLOCKED, Costs, MapMoves
from pkmn_pyboy.world.map_search import MapSearch
from pkmn_pyboy.world.records import ExitTile, Place

_KEPT_SEARCHES, _KEPT_BOUNDS = 2048, 64
_KEPT_KINDS = ("grass", "water")
"""Goals that never move."""

Crossing = tuple[ExitTile, int, int]
"""Exit of a link, the cell that it leaves from, and a number."""


@dataclass(frozen=True, slots=True)
class RouteRequest:
    """Conditions of a request to a planner."""

    abilities: Abilities
    relaxed: bool
    avoid: Mapping[int, frozenset[int]]
    """Cells not to step on, by map."""
    came_from: Place | None
    situations: dict[int, tuple[object, ...]] = field(default_factory=dict)
    """Conditions that make a difference on each map."""


class SearchCache:
    """Searches, links and bounds of a world.

    Args:
        world: the maps.
        costs: extra costs.
    """

    def __init__(self, world: World, costs: Costs) -> None:
        self._world = world
        self._costs = costs
        self._steps: dict[int, MapMoves] = {}
        self._searches: OrderedDict[object, MapSearch] = OrderedDict()
        self._bounds: OrderedDict[tuple[tuple[int, Box], ...], list[int]] = OrderedDict()
        self._goals: dict[str, RouteGoal] = {}
        self._graph: LinkGraph | None = None
        self._crossings: dict[int, tuple[Crossing, ...]] = {}
        self._version = world.version

    def forget_changes(self) -> None:
        """Drop what may have changed since the last call; maps that are still the same object are unchanged."""
        if self._world.version == self._version:
            return
        self._version = self._world.version
        self._graph = None
        self._crossings.clear()
        self._bounds.clear()
        self._goals.clear()
        self._searches.clear()
        for map_id, steps in list(self._steps.items()):
            if self._world.map(map_id) is not steps.map:
                del self._steps[map_id]

    def steps_on(self, map_id: int) -> MapMoves | None:
        """Return the moves of a map, None if it is unknown."""
        steps = self._steps.get(map_id)
        if steps is None:
            here = self._world.map(map_id)
            if here is None:
                return None
            world = self._world
            steps = self._steps[map_id] = MapMoves(here, world.rules, world.openers, self._costs)
        return steps

    def links(self) -> LinkGraph:
        """Return all links."""
        if self._graph is None:
            self._graph = LinkGraph(self._world, self._costs.exit, self._linked)
        return self._graph

    def _linked(self, map_id: int, one: ExitTile, other: ExitTile) -> bool:
        here = self.steps_on(map_id)
        if one.arrival is None or other.arrival is None:
            return False
        there = self.steps_on(one.arrival.map_id)
        return (
            here is not None
            and there is not None
            and here.free_between((one.x, one.y), (other.x, other.y))
            and there.free_between((one.arrival.x, one.arrival.y), (other.arrival.x, other.arrival.y))
        )

    def bounds(self, goal: RouteGoal) -> list[int]:
        """Return for each link the minimum cost from it to a goal."""
        key = tuple(sorted(goal.boxes.items()))
        bounds = self._bounds.get(key)
        if bounds is None:
            bounds = self._bounds[key] = self.links().at_least(goal.boxes)
            if len(self._bounds) > _KEPT_BOUNDS:
                self._bounds.popitem(last=False)
        return bounds

    def goal_of(self, kind: str, abilities: Abilities, visited: Collection[int]) -> RouteGoal:
        """Return the goal of everything of a kind. Raises ValueError for an unknown kind."""
        if kind not in _KEPT_KINDS:
            return of_kind(self._world, kind, abilities, visited)
        if kind not in self._goals:
            self._goals[kind] = of_kind(self._world, kind, abilities, visited)
        return self._goals[kind]

    def crossings(self, link: Link) -> tuple[Crossing, ...]:
        """Return the tiles of a link with their cells, and the number of the needs of arriving on the other map."""
        entries = self._crossings.get(link.number)
        if entries is None:
            entries = self._crossings[link.number] = tuple(self._entries(link))
        return entries

    def open_crossings(self, link: Link, request: RouteRequest) -> Iterator[Crossing]:
        """Yield the passable crossings, with the extra cost of arriving: water to enter, a person there."""
        for exit_, cell, need in self.crossings(link):
            extra = self.cost_of(self._steps[link.target], need, request) if need else 0
            if extra != BLOCKED:
                yield exit_, cell, extra

    def _entries(self, link: Link) -> Iterator[Crossing]:
        here, there = self.steps_on(link.map_id), self.steps_on(link.target)
        if here is None or there is None:
            return
        for exit_ in link.tiles:
            cell, need = here.grid.cell(exit_.x, exit_.y), 0
            if not exit_.warp and exit_.arrival is not None:
                arrival = there.grid.cell(exit_.arrival.x, exit_.arrival.y)
                number = there.into(arrival, exit_.press, from_water=here.is_water(cell))
                if number is None:
                    continue
                need = number
            yield exit_, cell, need

    @staticmethod
    def cost_of(steps: MapMoves, need: int, request: RouteRequest) -> int:
        """Return the cost of a need under a request's conditions, BLOCKED if it cannot be met."""
        return steps.cost_of(need, request.abilities, relaxed=request.relaxed)

    def search(self, place: Place, request: RouteRequest) -> MapSearch | None:
        """Return the search from a place over its map, None if the map is unknown."""
        steps = self.steps_on(place.map_id)
        if steps is None:
            return None
        situation = request.situations.get(place.map_id)
        if situation is None:
            situation = steps.situation(request.abilities, relaxed=request.relaxed)
            request.situations[place.map_id] = situation
        key = (place, situation, request.avoid.get(place.map_id))
        search = self._searches.get(key)
        if search is None:
            search = self.new_search(steps, {steps.grid.cell(place.x, place.y): 0}, request)
            self._searches[key] = search
            if len(self._searches) > _KEPT_SEARCHES:
                self._searches.popitem(last=False)
        else:
            self._searches.move_to_end(key)
        return search

    @staticmethod
    def new_search(steps: MapMoves, starts: Mapping[int, int], request: RouteRequest) -> MapSearch:
        """Return a search that is not cached."""
        blocked = request.avoid.get(steps.map.map_id, frozenset())
        return MapSearch(steps, starts, request.abilities, relaxed=request.relaxed, blocked=blocked)

    def cells_of(self, places: Collection[Place]) -> dict[int, frozenset[int]]:
        """Return the cells of places, by map."""
        found: dict[int, set[int]] = {}
        for place in places:
            steps = self.steps_on(place.map_id)
            if steps is not None and steps.grid.inside(place.x, place.y):
                found.setdefault(place.map_id, set()).add(steps.grid.cell(place.x, place.y))
        return {map_id: frozenset(cells) for map_id, cells in found.items()}
