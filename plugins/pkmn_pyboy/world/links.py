"""Graph of the exits between maps, and the minimum distance from each of them to a goal."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.map_search import NEVER
from pkmn_pyboy.world.records import ENTER, ExitTile, Place

Box = tuple[int, int, int, int]
"""Left, top, right and bottom tile."""

Linked = Callable[[int, ExitTile, ExitTile], bool]
"""True if two neighbouring tiles of a map's edge connect freely, on both maps and in both directions."""


@dataclass(frozen=True, slots=True)
class Link:
    """Warp, or connected tiles of an edge. Crossing it costs ``cost``."""

    number: int
    map_id: int
    tiles: tuple[ExitTile, ...]
    cost: int
    here: Box
    there: Box
    target: int
    key: Place | int
    """Identity of its destination: the place, or for an edge its own number."""


class LinkGraph:
    """All links of a world.

    Args:
        world: its maps.
        exit_cost: cost of a warp beyond a step.
        linked: returns True for neighbouring edge tiles that are equivalent.
    """

    def __init__(self, world: World, exit_cost: int, linked: Linked) -> None:
        self.links: list[Link] = []
        self._on: dict[int, list[Link]] = {}
        self._into: dict[int, list[Link]] = {}
        for map_id in world.map_ids():
            for tiles in _groups(world.exits(map_id), partial(linked, map_id)):
                cost = 1 if tiles[0].warp == 0 else 1 + exit_cost
                arrivals = [exit_.arrival for exit_ in tiles if exit_.arrival is not None]
                link = Link(
                    len(self.links),
                    map_id,
                    tiles,
                    cost,
                    box_around([(exit_.x, exit_.y) for exit_ in tiles]),
                    box_around([(place.x, place.y) for place in arrivals]),
                    arrivals[0].map_id,
                    arrivals[0] if tiles[0].warp else len(self.links),
                )
                self.links.append(link)
                self._on.setdefault(map_id, []).append(link)
                self._into.setdefault(link.target, []).append(link)

    def on(self, map_id: int) -> Sequence[Link]:
        """Return the links of a map."""
        return self._on.get(map_id, ())

    def origins(self, place: Place) -> Iterator[Place]:
        """Yield the places of the warps that lead to a tile: where an exit that leads back may lead."""
        for link in self._into.get(place.map_id, ()):
            exit_ = link.tiles[0]
            if exit_.arrival == place and exit_.warp:
                yield Place(link.map_id, exit_.x, exit_.y)

    def at_least(self, goals: Mapping[int, Box]) -> list[int]:
        """Return for each link the minimum cost from it to the nearest goal, without walls and obstacles."""
        found = [NEVER] * len(self.links)
        heap: list[tuple[int, int]] = []

        def settle(target_map: int, box: Box, beyond: int) -> None:
            for link in self._into.get(target_map, ()):
                total = link.cost + _apart(link.there, box) + beyond
                if total < found[link.number]:
                    found[link.number] = total
                    heapq.heappush(heap, (total, link.number))

        for map_id, box in goals.items():
            settle(map_id, box, 0)
        while heap:
            total, number = heapq.heappop(heap)
            if total == found[number]:
                link = self.links[number]
                settle(link.map_id, link.here, total)
        return found


def _groups(tiles: Sequence[ExitTile], linked: Callable[[ExitTile, ExitTile], bool]) -> Iterator[tuple[ExitTile, ...]]:
    """Yield exits with a known destination: each warp alone, edges in pieces that are connected on both sides."""
    piece: list[ExitTile] = []
    for exit_ in tiles:
        if exit_.arrival is None:
            continue
        last = piece[-1] if piece else None
        beside = (
            last is not None
            and last.warp == exit_.warp == 0
            and last.press == exit_.press != ENTER
            and abs(last.x - exit_.x) + abs(last.y - exit_.y) == 1
            and last.arrival is not None
            and last.arrival.map_id == exit_.arrival.map_id
            and linked(last, exit_)
        )
        if piece and not beside:
            yield tuple(piece)
            piece = []
        piece.append(exit_)
    if piece:
        yield tuple(piece)


def box_around(tiles: Collection[tuple[int, int]]) -> Box:
    """Return the smallest box with some tiles."""
    columns, rows = [x for x, _ in tiles], [y for _, y in tiles]
    return min(columns), min(rows), max(columns), max(rows)


def _apart(one: Box, other: Box) -> int:
    """Return the steps between two boxes."""
    return max(0, one[0] - other[2], other[0] - one[2]) + max(0, one[1] - other[3], other[1] - one[3])
