"""Cheapest paths from some tiles of a map to all others, including the cost of needs."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable, Collection, Mapping

from pkmn_pyboy.world.records import Way
from pkmn_pyboy.world.steps import MapSteps

NEVER = 1 << 28
"""Cost of an unreachable cell."""

_AGAIN = 2


class MapSearch:
    """Search over a whole map (Dijkstra, with one list of cells for each cost).

    Args:
        steps: moves of the map.
        starts: cells to begin at, with the initial cost of each.
        extra: cost of a need, by its number; below 0 it cannot be met.
        avoid: cells not to step on.
        until: the search may end when all of these are reached; if empty it covers the whole map.
    """

    def __init__(
        self,
        steps: MapSteps,
        starts: Mapping[int, int],
        extra: Callable[[int], int],
        avoid: Collection[int] = frozenset(),
        until: Collection[int] = (),
    ) -> None:
        size = len(steps.grid.tiles)
        costs = array("i", [NEVER]) * size
        came_from = array("i", [-1]) * size
        cells: dict[int, list[int]] = {}
        for cell, cost in starts.items():
            costs[cell] = cost
            cells.setdefault(cost, []).append(cell)
        queue = list(cells)
        heapq.heapify(queue)
        enter, moves, extras, waiting = steps.enter, steps.moves, {0: 0}, set(until)
        while queue:
            spent = heapq.heappop(queue)
            for cell in cells.pop(spent):
                if costs[cell] != spent or (cell in enter and cell not in starts):
                    continue
                for away, _, cost, need in moves(cell):
                    target = cell + away
                    total = spent + cost
                    if need:
                        if need not in extras:
                            extras[need] = extra(need)
                        if extras[need] < 0:
                            continue
                        total += extras[need]
                    if total < costs[target] and target not in avoid:
                        costs[target] = total
                        came_from[target] = cell
                        if total in cells:
                            cells[total].append(target)
                        else:
                            cells[total] = [target]
                            heapq.heappush(queue, total)
            if waiting:
                waiting = {cell for cell in waiting if costs[cell] > spent}
                if not waiting:
                    break
        self._starts = starts
        self._costs = costs
        self._came_from = came_from
        self._steps = steps
        self.exits: dict[int, tuple[int, Way | None]] = {}
        """Cost of reaching each gate without needs, and its nearest exit tile."""

    def cost(self, cell: int, *, entering: bool = False) -> int:
        """Return the cost of reaching a cell, NEVER if it is unreachable.

        ``entering``: the cell must be stepped on, even if the player is there already.
        """
        if entering and cell in self._starts:
            return self._starts[cell] + _AGAIN if self._beside(cell) >= 0 else NEVER
        return self._costs[cell]

    def cost_at(self, x: int, y: int, *, entering: bool = False) -> int:
        """Return the cost of reaching a tile, as :meth:`cost`."""
        return self.cost(self._steps.grid.cell(x, y), entering=entering)

    def path(self, cell: int, *, entering: bool = False) -> list[int]:
        """Return the cells on the path from a start to a reachable cell."""
        if entering and cell in self._starts:
            return [cell, self._beside(cell), cell]
        cells = [cell]
        while (before := self._came_from[cell]) >= 0:
            cell = before
            cells.append(cell)
        cells.reverse()
        return cells

    def _beside(self, start: int) -> int:
        """Return a neighbouring cell to step to and back from, -1 for none."""
        for target, _, _, need in self._steps[start]:
            if need == 0 and any(back == start and other == 0 for back, _, _, other in self._steps[target]):
                return target
        return -1
