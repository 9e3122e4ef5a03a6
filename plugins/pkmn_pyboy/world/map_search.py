"""Cheapest paths over the tiles of a map, including the cost of needs."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Collection, Mapping
from itertools import pairwise

from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.map_moves import MapMoves
from pkmn_pyboy.world.records import ExitTile

NEVER = 1 << 28
"""Cost of an unreachable cell."""

_AGAIN = 2


class MapSearch:
    """Search from some cells in order of cost (Dijkstra, with one list of cells for each cost).

    It searches only as far as requested, and continues from there with the next request.

    Args:
        steps: moves of the map.
        starts: cells to begin at, with the initial cost of each.
        abilities: abilities of the player.
        relaxed: True to allow needs that cannot be met yet, at a high cost.
        blocked: cells not to step on.
        pushable: cells of boulders that can be pushed out of the way at a cost.
        sort_ties: True to continue from cells of equal cost in the order of the map;
            False: in the order in which they were reached, which is faster over a whole map.
    """

    def __init__(
        self,
        steps: MapMoves,
        starts: Mapping[int, int],
        abilities: Abilities,
        *,
        relaxed: bool = False,
        blocked: Collection[int] = frozenset(),
        pushable: Collection[int] = frozenset(),
        sort_ties: bool = False,
    ) -> None:
        size = len(steps.grid.tiles)
        self.exits: dict[int, tuple[int, ExitTile | None]] = {}
        """Cost of reaching each link without needs, and its nearest exit tile."""
        self._steps = steps
        self._starts = starts
        self._abilities = abilities
        self._relaxed = relaxed
        self._blocked = blocked
        self._pushable = pushable
        self._sort_ties = sort_ties
        self._extras = {0: 0}
        self._costs = array("i", [NEVER]) * size
        self._came_from = array("i", [-1]) * size
        self._settled = -1
        """Cost up to which all cells are known."""
        self._cells: dict[int, list[int]] = {}
        for cell, cost in starts.items():
            self._costs[cell] = cost
            self._cells.setdefault(cost, []).append(cell)
        self._queue = list(self._cells)
        heapq.heapify(self._queue)

    def cost(self, cell: int, *, entering: bool = False) -> int:
        """Return the cost of reaching a cell, NEVER if it is unreachable.

        ``entering``: the cell must be stepped on, even if the player is there already.
        """
        if entering and cell in self._starts:
            return self._starts[cell] + _AGAIN if self._beside(cell) >= 0 else NEVER
        if self._costs[cell] > self._settled:
            self._continue((cell,))
        return self._costs[cell]

    def cost_at(self, x: int, y: int, *, entering: bool = False) -> int:
        """Return the cost of reaching a tile, as :meth:`cost`."""
        return self.cost(self._steps.grid.cell(x, y), entering=entering)

    def reaches(self, cell: int) -> bool:
        """Return whether a cell can be reached."""
        return self.cost(cell) < NEVER

    def nearest(self, cells: Collection[int]) -> tuple[int, int] | None:
        """Return the cell reached at the least cost, and that cost; None if none can be reached."""
        costs = self._costs
        known = [(costs[cell], cell) for cell in cells if costs[cell] <= self._settled]
        if cells and not known:
            self._continue(cells)
            known = [(costs[cell], cell) for cell in cells if costs[cell] <= self._settled]
        cost, cell = min(known, default=(NEVER, -1))
        return (cell, cost) if cost < NEVER else None

    def path(self, cell: int, *, entering: bool = False) -> list[int]:
        """Return the cells on the path from a start to a reachable cell."""
        if entering and cell in self._starts:
            return [cell, self._beside(cell), cell]
        self.cost(cell)
        cells = [cell]
        while (before := self._came_from[cell]) >= 0:
            cell = before
            cells.append(cell)
        cells.reverse()
        return cells

    def directions(self, cell: int) -> list[tuple[int, int]]:
        """Return the path to a reachable cell as (cell, direction to press there); empty for a start."""
        return [(one, self._steps.grid.direction(one, other)) for one, other in pairwise(self.path(cell))]

    def first_moves(self) -> list[tuple[int, int]]:
        """Return (cell reached, direction) of the free moves from the starts."""
        return [
            (start + away, direction)
            for start in self._starts
            for away, direction, _, need in self._steps.moves(start)
            if self._extra(need) >= 0 and start + away not in self._blocked and start + away not in self._pushable
        ]

    def _extra(self, need: int) -> int:
        """Return the cost of a need by its number, below 0 if it cannot be met."""
        if need not in self._extras:
            self._extras[need] = self._steps.cost_of(need, self._abilities, relaxed=self._relaxed)
        return self._extras[need]

    def _continue(self, until: Collection[int]) -> None:
        """Settle cost by cost until one of the cells is reached, or all are that can be."""
        steps, starts, costs, came_from = self._steps, self._starts, self._costs, self._came_from
        enter, moves, extras, cells, queue = steps.enter, steps.moves, self._extras, self._cells, self._queue
        blocked, pushable, push = self._blocked, self._pushable, steps.costs.push
        wanted = frozenset(until)
        while queue:
            spent = heapq.heappop(queue)
            reached = sorted(cells.pop(spent)) if self._sort_ties else cells.pop(spent)
            self._settled = spent
            for cell in reached:
                if costs[cell] != spent or (cell in enter and cell not in starts):
                    continue
                for away, _, cost, need in moves(cell):
                    target = cell + away
                    total = spent + cost
                    if need:
                        extra = extras[need] if need in extras else self._extra(need)
                        if extra < 0:
                            continue
                        total += extra
                    if total >= costs[target] or target in blocked:
                        continue
                    if target in pushable:
                        total += push
                    if total < costs[target]:
                        costs[target] = total
                        came_from[target] = cell
                        if total in cells:
                            cells[total].append(target)
                        else:
                            cells[total] = [target]
                            heapq.heappush(queue, total)
            if not wanted.isdisjoint(reached) and any(costs[cell] == spent for cell in wanted.intersection(reached)):
                return
        self._settled = NEVER

    def _beside(self, start: int) -> int:
        """Return a neighbouring cell to step to and back from, -1 for none."""
        for target, _, _, need in self._steps[start]:
            if need == 0 and any(back == start and other == 0 for back, _, _, other in self._steps[target]):
                return target
        return -1
