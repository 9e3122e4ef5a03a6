"""Boulders to push: one to a place, or whatever bars the way to a tile, by a search over where they stand."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Collection, Iterator
from itertools import count
from typing import NamedTuple

from pkmn_pyboy.navigation.grid import LAND, OPPOSITE, WALL
from pkmn_pyboy.navigation.search import Moves, Search

MOST_STATES = 2000
"""How many arrangements of boulders and player are looked at before a search gives up."""


class Push(NamedTuple):
    """One boulder, by the cell where it stands, pushed a tile on in a direction."""

    cell: int
    direction: int


class _State(NamedTuple):
    """Where the boulders stand and the player: he does not move with what he pushes."""

    meant: frozenset[int]
    others: frozenset[int]
    player: int


class PushPlanner:
    """Plans pushes on one map.

    A boulder enters any tile of land on which nothing stands and which leads nowhere, except the one where it is to go.
    The player walks between pushes by the map's moves: ledges one way, ice to its end, never over warps.

    Args:
        moves: what the map allows.
        walls: cells where someone stands who is no boulder.
        warps: cells that take whoever steps on them away.
        most_states: when to give up.
    """

    def __init__(
        self,
        moves: Moves,
        *,
        walls: Collection[int] = (),
        warps: Collection[int] = (),
        most_states: int = MOST_STATES,
    ) -> None:
        self._moves = moves
        self._walls = frozenset(walls)
        self._warps = frozenset(warps)
        self._most_states = most_states
        self._slides = moves.rules.ice in moves.grid.tiles

    def plan(self, start: int, boulders: Collection[int], to: int, which: int | None = None) -> list[Push] | None:
        """The fewest pushes that bring a boulder to a cell; empty when it is there, None where it can't be done.

        Other boulders stay where they are if that can be; else they may be pushed out of the way first.

        Args:
            start: cell of the player.
            boulders: cells of all boulders.
            to: the cell where one is to go.
            which: cell of the one that is meant, None for any.
        """
        everyone = frozenset(boulders)
        meant = everyone if which is None else everyone & {which}
        if to in meant:
            return []
        away = self._pushes_away(to)

        def least(state: _State) -> int:
            """Pushes that are still needed at least, 0 only where it is there, -1 where it can't be done any more."""
            return min((away[cell] for cell in state.meant if cell in away), default=-1)

        alone = [
            plan
            for one in sorted(meant & away.keys())
            if (plan := self._search(_State(frozenset((one,)), everyone - {one}, start), least, to, fixed=True))
        ]
        if alone:
            return min(alone, key=len)
        return self._search(_State(meant, everyone - meant, start), least, to) if everyone else None

    def clear(self, start: int, boulders: Collection[int], ends: Collection[int]) -> list[Push] | None:
        """The fewest pushes after which a cell can be walked to; empty when it can be already, None without any.

        Args:
            start: cell of the player.
            boulders: cells of all boulders.
            ends: the cells, of which one is enough.
        """

        def least(state: _State) -> int:
            """How many boulders stand on the way with the fewest: each of them has to be pushed at least once."""
            return self._reached(state, wanted)[1]

        wanted = frozenset(ends)
        return self._search(_State(frozenset(), frozenset(boulders), start), least)

    def walk(self, start: int, boulders: Collection[int], *, grass_cost: int = 0) -> Search:
        """A search over what can be walked without pushing anything."""
        moves = self._moves.stopped_by(self._walls.union(boulders)) if self._slides else self._moves
        blocked = self._walls.union(boulders)
        return Search(moves, start, blocked=blocked, warps=self._warps, grass_cost=grass_cost)

    def _search(
        self, first: _State, least: Callable[[_State], int], to: int = -1, *, fixed: bool = False
    ) -> list[Push] | None:
        """A* over the arrangements.

        Args:
            first: where it begins.
            least: how many pushes an arrangement still takes at least: 0 where it is as wanted, -1 where nothing helps.
                One push makes it smaller by one at most. It is asked once, of arrangements that seem worth it.
            to: the cell to which meant boulders may be pushed though it leads away.
            fixed: boulders that are not meant stay where they are.
        """
        order = count()
        spent = {first: 0}
        came_from: dict[_State, tuple[_State, Push]] = {}
        known: dict[_State, int] = {}
        heap = [(0, 0, next(order), first)]
        done: set[_State] = set()
        while heap and len(known) < self._most_states:
            _, guess, _, state = heapq.heappop(heap)
            if state in done:
                continue
            if state not in known:
                known[state] = least(state)
                if known[state] > guess:
                    heapq.heappush(heap, (spent[state] + known[state], known[state], next(order), state))
            if known[state] == 0:
                return _way(state, came_from)
            if known[state] < 0 or known[state] > guess:
                continue
            done.add(state)
            for push, after in self._pushes(state, to, fixed=fixed):
                pushes = spent[state] + 1
                if pushes < spent.get(after, 1 << 30):
                    spent[after] = pushes
                    came_from[after] = (state, push)
                    guess = max(known.get(after, known[state] - 1), 0)
                    heapq.heappush(heap, (pushes + guess, guess, next(order), after))
        return None

    def _pushes(self, state: _State, to: int, *, fixed: bool) -> Iterator[tuple[Push, _State]]:
        reached, _ = self._reached(state)
        deltas, standing = self._moves.grid.deltas, state.meant | state.others
        for cell in sorted(state.meant if fixed else standing):
            meant = cell in state.meant
            for direction, delta in enumerate(deltas):
                beside, behind = cell - delta, cell + delta
                if behind in standing or not self._enters(cell, direction, to if meant else -1):
                    continue
                if not self._stands(beside, direction, state.player) or beside not in reached:
                    continue
                moved = (state.meant if meant else state.others) - {cell} | {behind}
                after = _State(moved, state.others, beside) if meant else _State(state.meant, moved, beside)
                yield Push(cell, direction), after

    def _reached(self, state: _State, ends: frozenset[int] | None = None) -> tuple[set[int], int]:
        """Cells that are walked to without a push, and on how few boulders one steps on the way to one of some cells.

        That number is -1 where no way leads there, over boulders or not, and where no cells are given.
        """
        standing = state.meant | state.others
        moves = self._moves.stopped_by(self._walls | standing) if self._slides else self._moves
        walls, warps, player = self._walls, self._warps, state.player
        seen, layer, passed = {player}, [player], 0
        walked: set[int] | None = None
        while layer:
            met: list[int] = []
            for cell in layer:  # it grows on the way
                if cell in warps and cell != player:
                    continue
                for target, _, _ in moves[cell]:
                    if target not in seen and target not in walls:
                        seen.add(target)
                        (met if target in standing else layer).append(target)
            walked = set(layer) if walked is None else walked
            if ends is None:
                break
            if not ends.isdisjoint(layer):
                return walked, passed
            layer, passed = met, passed + 1
        return walked or set(), -1

    def _enters(self, cell: int, direction: int, to: int) -> bool:
        """Whether a boulder can be pushed from a cell to the next, whatever boulders stand around."""
        grid, rules = self._moves.grid, self._moves.rules
        behind = cell + grid.deltas[direction]
        return (
            grid.inside(*grid.tile_of(behind))
            and rules.kind[grid.tiles[behind]] == LAND
            and behind not in self._walls
            and (behind == to or behind not in self._warps)
            and not rules.sides[grid.tiles[cell]] >> direction & 1
            and not rules.sides[grid.tiles[behind]] >> OPPOSITE[direction] & 1
        )

    def _stands(self, cell: int, direction: int, player: int) -> bool:
        """Whether the player could push in a direction from a cell."""
        grid, rules = self._moves.grid, self._moves.rules
        tile = grid.tiles[cell]
        return (
            grid.inside(*grid.tile_of(cell))
            and rules.kind[tile] != WALL
            and cell not in self._walls
            and (cell == player or cell not in self._warps)
            and not rules.sides[tile] >> direction & 1
        )

    def _pushes_away(self, to: int) -> dict[int, int]:
        """By cell the pushes that a boulder there is away at least, were it alone and the player everywhere."""
        grid = self._moves.grid
        found, queue = {to: 0}, deque([to])
        while queue:
            cell = queue.popleft()
            for direction, delta in enumerate(grid.deltas):
                before = cell - delta
                if before in found or not grid.inside(*grid.tile_of(before)) or before - delta < 0:
                    continue
                if self._enters(before, direction, to) and self._stands(before - delta, direction, before - delta):
                    found[before] = found[cell] + 1
                    queue.append(before)
        return found


def _way(state: _State, came_from: dict[_State, tuple[_State, Push]]) -> list[Push]:
    pushes = []
    while state in came_from:
        state, push = came_from[state]
        pushes.append(push)
    return pushes[::-1]
