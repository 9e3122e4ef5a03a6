"""The cheapest way over a map's tiles, in presses: ledges one way, ice to its end, warps only as the last step."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Set
from dataclasses import dataclass

from pkmn_pyboy.navigation.grid import LAND, OPPOSITE, WALL, MapGrid, TileRules


@dataclass(frozen=True, slots=True)
class Reach:
    """What can be reached from a cell: ``cost`` by cell, and from where and in which direction one gets there."""

    start: int
    cost: dict[int, int]
    came_from: dict[int, tuple[int, int]]

    def path(self, cell: int) -> list[tuple[int, int]]:
        """The way to a cell that was reached: (cell, direction to press there), in order; empty for the start."""
        steps = []
        while cell != self.start:
            cell, direction = self.came_from[cell]
            steps.append((cell, direction))
        steps.reverse()
        return steps


def search(
    grid: MapGrid,
    rules: TileRules,
    start: int,
    *,
    goals: Set[int] | None = None,
    blocked: Collection[int] = (),
    warps: Collection[int] = (),
    swims: bool = False,
    grass_cost: int = 0,
) -> Reach:
    """Searches from a cell in order of cost (Dijkstra; breadth first where all tiles cost the same).

    Args:
        grid: the map.
        rules: what its tiles mean.
        start: cell of the player.
        goals: stop at the first of these; without them all that can be reached is.
        blocked: cells where someone stands.
        warps: cells that take the player away when stepped on: reached, never passed.
        swims: whether water carries the player.
        grass_cost: what a tile of grass costs beyond one.
    """
    tiles, deltas = grid.tiles, grid.deltas
    kinds, jumps, sides, ice, grass = rules.kind, rules.jumps, rules.sides, rules.ice, rules.grass
    stride, last = grid.stride, len(tiles) - grid.stride
    passable = (LAND, 1) if swims else (LAND,)
    cost = {start: 0}
    came_from: dict[int, tuple[int, int]] = {}
    heap = [(0, start)]
    done: set[int] = set()

    def enter(cell: int, direction: int) -> bool:
        column = cell % stride
        return (
            stride < cell < last
            and 0 < column < stride - 1
            and kinds[tiles[cell]] in passable
            and not sides[tiles[cell]] >> OPPOSITE[direction] & 1
            and cell not in blocked
        )

    while heap:
        spent, cell = heapq.heappop(heap)
        if cell in done:
            continue
        done.add(cell)
        if goals is not None and cell in goals:
            break
        if cell in warps and cell != start:
            continue
        here = tiles[cell]
        for direction in range(4):
            delta = deltas[direction]
            target = cell + delta
            price = 1
            if jumps[here] >> direction & 1 and kinds[tiles[target]] == WALL:
                target += delta
                price = 2
            if sides[here] >> direction & 1 or not enter(target, direction):
                continue
            while tiles[target] == ice and enter(target + delta, direction):
                target += delta
            total = spent + price + (grass_cost if tiles[target] in grass else 0)
            if total < cost.get(target, 1 << 30):
                cost[target] = total
                came_from[target] = (cell, direction)
                heapq.heappush(heap, (total, target))
    return Reach(start, cost, came_from)
