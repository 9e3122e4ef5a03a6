"""Boulder pushes: one boulder to a place, or those that block a tile, by a search over their positions."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Collection, Iterator
from itertools import count
from typing import NamedTuple

from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.map_moves import BLOCKED, MapMoves
from pkmn_pyboy.world.map_search import MapSearch
from pkmn_pyboy.world.tile_rules import LAND, OPPOSITE, WALL

MOST_STATES = 2000
"""Maximum number of arrangements of boulders and player that a search visits."""


class Push(NamedTuple):
    """Push of the boulder on a cell by one tile in a direction."""

    cell: int
    direction: int


class _State(NamedTuple):
    """Cells of the boulders and the player, who does not move with a pushed boulder."""

    wanted: frozenset[int]
    others: frozenset[int]
    player: int


class PushPlanner:
    """Planner of pushes on one map.

    A boulder enters any free tile of land without a warp, except the one where it is to go. The player walks between
    pushes by the map's moves: ledges one way, ice to its end, never over warps.

    Args:
        steps: moves of the map, without its people.
        abilities: abilities of the player.
        walls: cells occupied by anything but boulders.
        most_states: when to give up.
    """

    def __init__(
        self,
        steps: MapMoves,
        abilities: Abilities,
        *,
        walls: Collection[int] = (),
        most_states: int = MOST_STATES,
    ) -> None:
        self._steps = steps
        self._abilities = abilities
        self._walls = frozenset(walls)
        self._most_states = most_states
        self._met: dict[int, bool] = {0: True}

    def plan(self, start: int, boulders: Collection[int], to: int, which: int | None = None) -> list[Push] | None:
        """Return the fewest pushes that move a boulder to a cell; empty if it is there, None if impossible.

        Other boulders stay in place if possible; otherwise they may be pushed out of the way first.

        Args:
            start: cell of the player.
            boulders: cells of all boulders.
            to: the cell to push to.
            which: cell of the boulder to push, None for any.
        """
        everyone = frozenset(boulders)
        wanted = everyone if which is None else everyone & {which}
        if to in wanted:
            return []
        away = self._pushes_away(to)

        def least(state: _State) -> int:
            """Return a lower bound of the pushes left, 0 only if the boulder is there, -1 if it never can be."""
            return min((away[cell] for cell in state.wanted if cell in away), default=-1)

        alone = [
            plan
            for one in sorted(wanted & away.keys())
            if (plan := self._search(_State(frozenset((one,)), everyone - {one}, start), least, to, fixed=True))
        ]
        if alone:
            return min(alone, key=len)
        return self._search(_State(wanted, everyone - wanted, start), least, to) if everyone else None

    def clear(self, start: int, boulders: Collection[int], ends: Collection[int]) -> list[Push] | None:
        """Return the fewest pushes after which a cell can be reached; empty if one can already, None if impossible.

        Args:
            start: cell of the player.
            boulders: cells of all boulders.
            ends: the cells, of which one is enough.
        """

        def least(state: _State) -> int:
            """Return the least number of boulders on a path: each must be pushed at least once."""
            return self._reached(state, wanted)[1]

        wanted = frozenset(ends)
        return self._search(_State(frozenset(), frozenset(boulders), start), least)

    def walk(self, start: int, boulders: Collection[int]) -> MapSearch:
        """Search what can be reached without pushing."""
        blocked = self._walls.union(boulders)
        steps = self._steps.stopped_by(blocked)
        return MapSearch(steps, {start: 0}, self._abilities, blocked=blocked, sort_ties=True)

    def _search(
        self, first: _State, least: Callable[[_State], int], to: int = -1, *, fixed: bool = False
    ) -> list[Push] | None:
        """Search the arrangements by A*.

        Args:
            first: first arrangement.
            least: returns a lower bound of the pushes that an arrangement still takes: 0 at the goal, -1 if impossible.
                One push lowers it by at most one. It is called once for each promising arrangement.
            to: the cell that boulders may be pushed to although it has a warp.
            fixed: whether boulders other than the wanted one stay in place.
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
                return _plan_to(state, came_from)
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
        deltas, standing = self._steps.grid.deltas, state.wanted | state.others
        for cell in sorted(state.wanted if fixed else standing):
            wanted = cell in state.wanted
            for direction, delta in enumerate(deltas):
                beside, behind = cell - delta, cell + delta
                if behind in standing or not self._enters(cell, direction, to if wanted else -1):
                    continue
                if not self._stands(beside, direction, state.player) or beside not in reached:
                    continue
                moved = (state.wanted if wanted else state.others) - {cell} | {behind}
                after = _State(moved, state.others, beside) if wanted else _State(state.wanted, moved, beside)
                yield Push(cell, direction), after

    def _reached(self, state: _State, ends: frozenset[int] | None = None) -> tuple[set[int], int]:
        """Return the cells reached without a push, and the fewest boulders on a path to one of ``ends``.

        That number is -1 if no path leads there, even over boulders, and if no cells are given.
        """
        standing = state.wanted | state.others
        steps = self._steps.stopped_by(self._walls | standing)
        walls, warps, player = self._walls, steps.enter, state.player
        seen, layer, passed = {player}, [player], 0
        walked: set[int] | None = None
        while layer:
            met: list[int] = []
            for cell in layer:  # it grows during the loop
                if cell in warps and cell != player:
                    continue
                for away, _, _, need in steps.moves(cell):
                    target = cell + away
                    if target not in seen and target not in walls and self._meets(steps, need):
                        seen.add(target)
                        (met if target in standing else layer).append(target)
            walked = set(layer) if walked is None else walked
            if ends is None:
                break
            if not ends.isdisjoint(layer):
                return walked, passed
            layer, passed = met, passed + 1
        return walked or set(), -1

    def _meets(self, steps: MapMoves, need: int) -> bool:
        """Return whether the player can meet a need, by its number."""
        if need not in self._met:
            self._met[need] = steps.cost_of(need, self._abilities, relaxed=False) != BLOCKED
        return self._met[need]

    def _enters(self, cell: int, direction: int, to: int) -> bool:
        """Return whether a boulder can be pushed from a cell to the next, ignoring other boulders."""
        grid, rules = self._steps.grid, self._steps.rules
        behind = cell + grid.deltas[direction]
        return (
            grid.inside(*grid.tile_of(behind))
            and rules.kind[grid.tiles[behind]] == LAND
            and behind not in self._walls
            and (behind == to or behind not in self._steps.enter)
            and not rules.sides[grid.tiles[cell]] >> direction & 1
            and not rules.sides[grid.tiles[behind]] >> OPPOSITE[direction] & 1
        )

    def _stands(self, cell: int, direction: int, player: int) -> bool:
        """Return whether the player could push in a direction from a cell."""
        grid, rules = self._steps.grid, self._steps.rules
        tile = grid.tiles[cell]
        return (
            grid.inside(*grid.tile_of(cell))
            and rules.kind[tile] != WALL
            and cell not in self._walls
            and (cell == player or cell not in self._steps.enter)
            and not rules.sides[tile] >> direction & 1
        )

    def _pushes_away(self, to: int) -> dict[int, int]:
        """Return, by cell, a lower bound of a boulder's pushes to ``to``, alone and with the player anywhere."""
        grid = self._steps.grid
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


def _plan_to(state: _State, came_from: dict[_State, tuple[_State, Push]]) -> list[Push]:
    pushes = []
    while state in came_from:
        state, push = came_from[state]
        pushes.append(push)
    return pushes[::-1]
