"""The cheapest ways from some tiles of a map to all others, with what each move needs counted in."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable, Collection, Mapping

from pkmn_pyboy.world.records import Way
from pkmn_pyboy.world.steps import MapSteps

NEVER = 1 << 28
"""Cost of what can't be reached."""

_AGAIN = 2


class MapSearch:
    """A search over a whole map (Dijkstra, with one list of cells for each cost).

    Args:
        steps: what the map allows.
        starts: cells to begin at, with what each costs to begin with.
        extra: what a need costs, by its number; below 0 it can't be met.
        avoid: cells not to step on.
        until: the search may end when all of these are reached; without any it goes everywhere.
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
        """For gates that need nothing: what getting to one costs, and the way of it that is the nearest."""

    def cost(self, cell: int, *, entering: bool = False) -> int:
        """What getting to a cell costs, NEVER where that can't be done.

        ``entering``: the cell has to be stepped on, also where one stands there already.
        """
        if entering and cell in self._starts:
            return self._starts[cell] + _AGAIN if self._beside(cell) >= 0 else NEVER
        return self._costs[cell]

    def cost_at(self, x: int, y: int, *, entering: bool = False) -> int:
        """The same for a tile."""
        return self.cost(self._steps.grid.cell(x, y), entering=entering)

    def path(self, cell: int, *, entering: bool = False) -> list[int]:
        """The cells on the way to one that can be reached, from a start to it."""
        if entering and cell in self._starts:
            return [cell, self._beside(cell), cell]
        cells = [cell]
        while (before := self._came_from[cell]) >= 0:
            cell = before
            cells.append(cell)
        cells.reverse()
        return cells

    def _beside(self, start: int) -> int:
        """A cell to step to and come back from, -1 for none."""
        for target, _, _, need in self._steps[start]:
            if need == 0 and any(back == start and other == 0 for back, _, _, other in self._steps[target]):
                return target
        return -1
