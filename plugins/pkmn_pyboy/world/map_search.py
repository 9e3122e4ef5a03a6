"""The cheapest ways from one tile of a map to all others, with what each move needs counted in."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Collection

from pkmn_pyboy.world.steps import MapSteps

NEVER = 1 << 28
"""Cost of what can't be reached."""

_SHIFT = 20
_CELL = (1 << _SHIFT) - 1
_AGAIN = 2


class MapSearch:
    """A search from a cell over a whole map (Dijkstra).

    Args:
        steps: what the map allows.
        start: the cell.
        allowed: what the moves' needs cost.
        avoid: cells not to step on.
    """

    def __init__(
        self, steps: MapSteps, start: int, allowed: tuple[int, ...], avoid: Collection[int] = frozenset()
    ) -> None:
        self.start = start
        self._enter = steps.enter
        size = len(steps.grid.tiles)
        costs = array("l", [NEVER]) * size
        came_from = array("l", [-1]) * size
        costs[start] = 0
        heap = [start]
        enter = steps.enter
        while heap:
            entry = heapq.heappop(heap)
            spent, cell = entry >> _SHIFT, entry & _CELL
            if spent > costs[cell] or (cell in enter and cell != start):
                continue
            for target, _, cost, need in steps[cell]:
                if need:
                    extra = allowed[need]
                    if extra < 0:
                        continue
                    cost += extra  # noqa: PLW2901
                total = spent + cost
                if total < costs[target] and target not in avoid:
                    costs[target] = total
                    came_from[target] = cell
                    heapq.heappush(heap, total << _SHIFT | target)
        self._costs = costs
        self._came_from = came_from
        self._beside = next(
            (
                target
                for target, _, _, need in steps[start]
                if allowed[need] == 0 and any(back == start for back, *_ in steps[target])
            ),
            -1,
        )

    def cost(self, cell: int, *, entering: bool = False) -> int:
        """What getting to a cell costs, NEVER where that can't be done.

        ``entering``: the cell has to be stepped on, also where one stands there already.
        """
        if entering and cell == self.start:
            return _AGAIN if self._beside >= 0 else NEVER
        return self._costs[cell]

    def path(self, cell: int, *, entering: bool = False) -> list[int]:
        """The cells on the way to one that can be reached, from the start to it."""
        if entering and cell == self.start:
            return [cell, self._beside, cell]
        cells = [cell]
        while cell != self.start:
            cell = self._came_from[cell]
            cells.append(cell)
        cells.reverse()
        return cells
