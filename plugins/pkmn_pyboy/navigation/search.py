"""Cheapest paths over a map's tiles, in presses: ledges one way, ice to its end, warps only as the last step."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping

from pkmn_pyboy.navigation.grid import LAND, OPPOSITE, WALL, WATER, MapGrid, TileRules

STEP_COST, JUMP_COST, USE_COST = 1, 2, 8
"""Costs of a step, a jump and a field move."""

_DOWN = 0


class Openings:
    """Tiles that field moves open, and the field moves that can be used.

    Args:
        gates: field move needed by collision value, such as a tree's; water is known by its kind.
        usable: field moves that can be used now.
    """

    def __init__(self, gates: Mapping[int, str] | None = None, usable: frozenset[str] = frozenset()) -> None:
        self.gates = dict(gates or {})
        self.usable = usable


class Moves:
    """Moves that a map allows from each of its cells, computed on first use and cached.

    Args:
        grid: the map.
        rules: meaning of its tiles.
        swims: whether the player is on the water.
        openings: what field moves open.
        stops: occupied cells, which stop sliding over ice.
    """

    def __init__(
        self,
        grid: MapGrid,
        rules: TileRules,
        *,
        swims: bool = False,
        openings: Openings | None = None,
        stops: frozenset[int] = frozenset(),
    ) -> None:
        self.grid = grid
        self.rules = rules
        self.swims = swims
        self.openings = openings or Openings()
        self.stops = stops
        self._known: dict[int, tuple[tuple[int, int, int], ...]] = {}

    def __getitem__(self, cell: int) -> tuple[tuple[int, int, int], ...]:
        """Return (cell reached, direction to press, cost) of each move from a cell."""
        moves = self._known.get(cell)
        if moves is None:
            moves = self._known[cell] = tuple(self._from(cell))
        return moves

    def stopped_by(self, stops: frozenset[int]) -> Moves:
        """Return the same moves with other cells that stop sliding."""
        if stops == self.stops:
            return self
        return Moves(self.grid, self.rules, swims=self.swims, openings=self.openings, stops=stops)

    def needs_use(self, cell: int, direction: int) -> bool:
        """Return whether a step from a cell begins with a field move on the tile ahead."""
        tile = self.grid.tiles[cell + self.grid.deltas[direction]]
        return self._use_cost(cell, tile, direction) == USE_COST

    def _from(self, cell: int) -> Iterable[tuple[int, int, int]]:
        tiles, rules = self.grid.tiles, self.rules
        here = tiles[cell]
        for direction, delta in enumerate(self.grid.deltas):
            target, cost = cell + delta, STEP_COST
            if rules.jumps[here] >> direction & 1 and rules.kind[tiles[target]] == WALL:
                target, cost = target + delta, JUMP_COST
            if rules.sides[here] >> direction & 1 or not self._enters(cell, target, direction):
                continue
            while tiles[target] == rules.ice and self._slides_on(target, direction):
                target += delta
            yield target, direction, cost + self._use_cost(cell, tiles[target], direction)

    def _enters(self, origin: int, cell: int, direction: int) -> bool:
        stride, tiles, rules = self.grid.stride, self.grid.tiles, self.rules
        return (
            stride < cell < len(tiles) - stride
            and 0 < cell % stride < stride - 1
            and self._opens(origin, tiles[cell], direction)
            and not rules.sides[tiles[cell]] >> OPPOSITE[direction] & 1
        )

    def _slides_on(self, cell: int, direction: int) -> bool:
        """Return whether the player slides on from a tile of ice to the next."""
        ahead = cell + self.grid.deltas[direction]
        return cell not in self.stops and ahead not in self.stops and self._enters(cell, ahead, direction)

    def _opens(self, origin: int, tile: int, direction: int) -> bool:
        kind, openings = self.rules.kind[tile], self.openings
        gate = openings.gates.get(tile)
        if gate is not None and not (gate == "waterfall" and direction == _DOWN):
            return gate in openings.usable
        if kind == WATER:
            return self.swims or "surf" in openings.usable or self._on_water(origin)
        return kind == LAND

    def _use_cost(self, origin: int, tile: int, direction: int) -> int:
        """Return the cost of entering a tile beyond that of the step."""
        gate = self.openings.gates.get(tile)
        if gate is not None and not (gate == "waterfall" and direction == _DOWN):
            return USE_COST
        return USE_COST if self.rules.kind[tile] == WATER and not self._on_water(origin) else 0

    def _on_water(self, cell: int) -> bool:
        return self.rules.kind[self.grid.tiles[cell]] == WATER


class Search:
    """Search from a cell in order of cost (Dijkstra; breadth first where all tiles cost the same).

    It goes only as far as requested, and continues from there on the next request.

    Args:
        moves: what the map allows.
        start: cell of the player.
        blocked: occupied cells.
        warps: cells that move the player elsewhere when stepped on: reached, never passed.
        grass_cost: extra cost of a tile of grass.
        pushable: those of the blocked cells that may be pushed out of the way first.
    """

    def __init__(
        self,
        moves: Moves,
        start: int,
        *,
        blocked: Collection[int] = (),
        warps: Collection[int] = (),
        grass_cost: int = 0,
        pushable: Collection[int] = (),
    ) -> None:
        self.start = start
        self._moves = moves
        self._blocked = blocked
        self._warps = warps
        self._grass_cost = grass_cost
        self._pushable = pushable
        self._cost = {start: 0}
        self._came_from: dict[int, tuple[int, int]] = {}
        self._done: set[int] = set()
        self._heap = [(0, start)]

    def nearest(self, cells: Collection[int]) -> tuple[int, int] | None:
        """Return the cell reached at the least cost, and that cost; None if none can be reached."""
        known = [(self._cost[cell], cell) for cell in cells if cell in self._done]
        if known:
            cost, cell = min(known)
            return cell, cost
        for cell in self._settle():
            if cell in cells:
                return cell, self._cost[cell]
        return None

    def reaches(self, cell: int) -> bool:
        """Return whether a cell can be reached."""
        return self.nearest((cell,)) is not None

    def path(self, cell: int) -> list[tuple[int, int]]:
        """Return the path to a reached cell: (cell, direction to press there), in order; empty for the start."""
        steps = []
        while cell != self.start:
            cell, direction = self._came_from[cell]
            steps.append((cell, direction))
        steps.reverse()
        return steps

    def first_moves(self) -> list[tuple[int, int]]:
        """Return (cell, direction) of the free moves from the start."""
        return [(cell, direction) for cell, direction, _ in self._moves[self.start] if cell not in self._blocked]

    def _settle(self) -> Iterable[int]:
        """Continue the search, cell by cell."""
        pushable = self._pushable
        moves, blocked, costs, done, heap = self._moves, self._blocked, self._cost, self._done, self._heap
        tiles, grass, grass_cost = moves.grid.tiles, moves.rules.grass, self._grass_cost
        while heap:
            spent, cell = heapq.heappop(heap)
            if cell in done:
                continue
            done.add(cell)
            if cell not in self._warps or cell == self.start:
                for target, direction, cost in moves[cell]:
                    if target in done:
                        continue
                    total = spent + cost
                    if target in blocked:
                        if target not in pushable:
                            continue
                        total += USE_COST
                    if grass_cost and tiles[target] in grass:
                        total += grass_cost
                    if total < costs.get(target, 1 << 30):
                        costs[target] = total
                        self._came_from[target] = (cell, direction)
                        heapq.heappush(heap, (total, target))
            yield cell
