"""Graph of the exits between maps, and the minimum distance from each of them to a goal."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.map_search import NEVER
from pkmn_pyboy.world.records import ENTER, Place, Way

Box = tuple[int, int, int, int]
"""Left, top, right and bottom tile."""

Linked = Callable[[int, Way, Way], bool]
"""True if two neighbouring tiles of a map's edge connect freely, on both maps and in both directions."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Warp, or connected tiles of an edge. Crossing it costs ``cost``."""

    number: int
    map_id: int
    ways: tuple[Way, ...]
    cost: int
    here: Box
    there: Box
    target: int
    key: Place | int
    """Identity of its destination: the place, or for an edge its own number."""


class GateGraph:
    """All gates of a world.

    Args:
        world: its maps.
        exit_cost: cost of a warp beyond a step.
        linked: returns True for neighbouring edge tiles that are equivalent.
    """

    def __init__(self, world: World, exit_cost: int, linked: Linked) -> None:
        self.gates: list[Gate] = []
        self._on: dict[int, list[Gate]] = {}
        self._into: dict[int, list[Gate]] = {}
        for map_id in world.map_ids():
            for ways in _groups(world.ways(map_id), partial(linked, map_id)):
                cost = 1 if ways[0].warp == 0 else 1 + exit_cost
                arrivals = [way.arrival for way in ways if way.arrival is not None]
                gate = Gate(
                    len(self.gates),
                    map_id,
                    ways,
                    cost,
                    _box([(way.x, way.y) for way in ways]),
                    _box([(place.x, place.y) for place in arrivals]),
                    arrivals[0].map_id,
                    arrivals[0] if ways[0].warp else len(self.gates),
                )
                self.gates.append(gate)
                self._on.setdefault(map_id, []).append(gate)
                self._into.setdefault(gate.target, []).append(gate)

    def on(self, map_id: int) -> Sequence[Gate]:
        """Return the gates of a map."""
        return self._on.get(map_id, ())

    def origins(self, place: Place) -> Iterator[Place]:
        """Yield the places of the warps that lead to a tile: where an exit that leads back may lead."""
        for gate in self._into.get(place.map_id, ()):
            way = gate.ways[0]
            if way.arrival == place and way.warp:
                yield Place(gate.map_id, way.x, way.y)

    def at_least(self, goals: Mapping[int, Box]) -> list[int]:
        """Return for each gate the minimum cost from it to the nearest goal, without walls and obstacles."""
        found = [NEVER] * len(self.gates)
        heap: list[tuple[int, int]] = []

        def settle(target_map: int, box: Box, beyond: int) -> None:
            for gate in self._into.get(target_map, ()):
                total = gate.cost + _apart(gate.there, box) + beyond
                if total < found[gate.number]:
                    found[gate.number] = total
                    heapq.heappush(heap, (total, gate.number))

        for map_id, box in goals.items():
            settle(map_id, box, 0)
        while heap:
            total, number = heapq.heappop(heap)
            if total == found[number]:
                gate = self.gates[number]
                settle(gate.map_id, gate.here, total)
        return found


def _groups(ways: Sequence[Way], linked: Callable[[Way, Way], bool]) -> Iterator[tuple[Way, ...]]:
    """Yield exits with a known destination: each warp alone, edges in pieces that are connected on both sides."""
    piece: list[Way] = []
    for way in ways:
        if way.arrival is None:
            continue
        last = piece[-1] if piece else None
        beside = (
            last is not None
            and last.warp == way.warp == 0
            and last.press == way.press != ENTER
            and abs(last.x - way.x) + abs(last.y - way.y) == 1
            and last.arrival is not None
            and last.arrival.map_id == way.arrival.map_id
            and linked(last, way)
        )
        if piece and not beside:
            yield tuple(piece)
            piece = []
        piece.append(way)
    if piece:
        yield tuple(piece)


def _box(tiles: Sequence[tuple[int, int]]) -> Box:
    columns, rows = [x for x, _ in tiles], [y for _, y in tiles]
    return min(columns), min(rows), max(columns), max(rows)


def _apart(one: Box, other: Box) -> int:
    """Return the steps between two boxes."""
    return max(0, one[0] - other[2], other[0] - one[2]) + max(0, one[1] - other[3], other[1] - one[3])
