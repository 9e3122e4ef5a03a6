"""Pushing boulders on hand-drawn maps, and on random ones, compared with an exhaustive search."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import pytest

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.pushes import MOST_STATES, Push, PushPlanner
from pkmn_pyboy.world.records import WorldMap
from pkmn_pyboy.world.tile_rules import STEPS, MapGrid

from support.drawn_maps import TILES, Walks, draw  # isort: skip

DOWN, UP, LEFT, RIGHT = range(4)
Place = tuple[int, int]
OneMeant = tuple[Place, frozenset[Place], Place]
"""The wanted boulder, the others, the player."""
NoneMeant = tuple[frozenset[Place], Place]
"""Boulders and the player."""
Plans = Callable[..., PushPlanner]
State = TypeVar("State", bound=Hashable)


@pytest.fixture(scope="module")
def plans(crystal: GameProfile) -> Plans:
    walks = Walks(crystal)

    def plan(here: WorldMap, walls: Collection[int] = (), most_states: int = MOST_STATES) -> PushPlanner:
        return PushPlanner(walks.steps(here), Abilities(), walls=walls, most_states=most_states)

    return plan


def test_goes_round_the_boulder_to_push_it_the_other_way(plans: Plans) -> None:
    here = draw("....", "....", "....")
    grid = here.grid
    plan = plans(here).plan(grid.cell(0, 1), [grid.cell(2, 1)], grid.cell(1, 1))
    assert plan == [Push(grid.cell(2, 1), LEFT)]


def test_a_boulder_in_place_needs_no_push_and_one_in_a_corner_stays(plans: Plans) -> None:
    here = draw("....", "....")
    grid = here.grid
    planner = plans(here)
    assert planner.plan(grid.cell(3, 1), [grid.cell(1, 0)], grid.cell(1, 0)) == []
    assert planner.plan(grid.cell(3, 1), [grid.cell(0, 0)], grid.cell(1, 0)) is None
    assert planner.plan(grid.cell(3, 1), [grid.cell(1, 0)], grid.cell(1, 0), which=grid.cell(2, 0)) is None


def test_a_hole_takes_a_boulder_and_is_never_walked_over(plans: Plans) -> None:
    here = draw("#.o.#", "...#.", "#...#")
    grid = here.grid
    planner = plans(here)
    plan = planner.plan(grid.cell(0, 1), [grid.cell(2, 1)], grid.cell(2, 0))
    assert plan == [Push(grid.cell(2, 1), UP)]
    assert planner.plan(grid.cell(0, 1), [grid.cell(2, 1)], grid.cell(3, 0)) is None


def test_another_boulder_is_pushed_out_of_the_way_only_if_necessary(plans: Plans) -> None:
    here = draw("#######", "......o", "####.##")
    grid = here.grid
    start, to = grid.cell(0, 1), grid.cell(6, 1)
    meant, other = grid.cell(2, 1), grid.cell(3, 1)
    planner = plans(here)
    assert planner.plan(start, [meant, other], to, which=meant) is None
    wide_map = draw("....###", "......o", "....###")
    wide = wide_map.grid
    planner = plans(wide_map)
    plan = planner.plan(start, [meant, other], to, which=meant)
    assert plan is not None
    assert {push.cell for push in plan} > {meant}
    aside = planner.plan(start, [meant, wide.cell(1, 0)], to, which=meant)
    assert aside == [Push(wide.cell(x, 1), RIGHT) for x in range(2, 6)]


def test_any_boulder_will_do_if_none_is_named(plans: Plans) -> None:
    here = draw(".......", ".......", ".......")
    grid = here.grid
    planner = plans(here)
    boulders = [grid.cell(1, 1), grid.cell(4, 1)]
    assert planner.plan(grid.cell(0, 0), boulders, grid.cell(3, 1)) == [Push(grid.cell(4, 1), LEFT)]


def test_a_person_and_a_ledge_make_the_detour_longer_or_impossible(plans: Plans) -> None:
    here = draw("....", "....", "....")
    grid = here.grid
    start, boulder, to = grid.cell(0, 0), grid.cell(1, 1), grid.cell(1, 2)
    assert plans(here).plan(start, [boulder], to) == [Push(boulder, DOWN)]
    planner = plans(here, walls=[grid.cell(1, 0)])
    plan = planner.plan(start, [boulder], to)
    assert plan is not None
    assert len(plan) == 3
    below_map = draw("...", "vvv", "###", "...", "...")
    below = below_map.grid
    assert plans(below_map).plan(below.cell(0, 4), [below.cell(1, 0)], below.cell(2, 0)) is None


def test_a_path_is_cleared_that_pushing_straight_on_closes(plans: Plans) -> None:
    # Three boulders side by side block the way up; a person leaves one gap between the pillars behind them.
    here = draw("......", "......", "##..##", "......", "#...##", "......")
    grid = here.grid
    start, goal, someone = grid.cell(2, 5), grid.cell(2, 0), grid.cell(3, 2)
    boulders = {grid.cell(x, 4) for x in (1, 2, 3)}
    planner = plans(here, walls=[someone])
    plan = planner.clear(start, boulders, [goal])
    assert plan is not None
    assert len(plan) == 3
    assert is_cleared(planner, grid, start, boulders, plan, goal)
    assert plan[0].cell != grid.cell(2, 4)  # not the one before the gap, which it would then block


def test_no_push_is_made_if_a_detour_is_free_or_nothing_helps(plans: Plans) -> None:
    here = draw(".....", "..#..", "###..")
    grid = here.grid
    planner = plans(here)
    start, goal = grid.cell(0, 0), grid.cell(4, 2)
    assert planner.clear(start, [grid.cell(3, 0)], [goal]) == [Push(grid.cell(3, 0), RIGHT)]
    assert planner.clear(start, [grid.cell(0, 1)], [goal]) == []
    corridor_map = draw("...")
    corridor = corridor_map.grid
    assert plans(corridor_map).clear(corridor.cell(0, 0), [corridor.cell(1, 0)], [9]) is None


def test_of_several_places_the_one_with_the_fewest_pushes_is_cleared(plans: Plans) -> None:
    here = draw("#.#####", ".......", "#######")
    grid = here.grid
    planner = plans(here)
    boulders = {grid.cell(3, 1)}
    ends = [grid.cell(6, 1), grid.cell(1, 0)]
    assert planner.clear(grid.cell(0, 1), boulders, ends) == []
    assert planner.clear(grid.cell(0, 1), boulders, ends[:1]) is None
    assert planner.clear(grid.cell(0, 1), boulders, [grid.cell(4, 1)]) == [
        Push(grid.cell(3, 1), RIGHT),
        Push(grid.cell(4, 1), RIGHT),
    ]


def pushed(planner: PushPlanner, grid: MapGrid, place: int, stones: set[int], plan: list[Push]) -> set[int]:
    """Return the boulders after the pushes of a plan, and check that each push is possible."""
    for stone, direction in plan:
        beside = stone - grid.deltas[direction]
        assert stone in stones
        assert planner.walk(place, stones).reaches(beside)
        stones = stones - {stone} | {stone + grid.deltas[direction]}
        place = beside
    return stones


def is_cleared(planner: PushPlanner, grid: MapGrid, place: int, stones: set[int], plan: list[Push], goal: int) -> bool:
    """Return whether a cell can be reached after the pushes of a plan."""
    stones = pushed(planner, grid, place, stones, plan)
    if plan:
        place = plan[-1].cell - grid.deltas[plan[-1].direction]
    return planner.walk(place, stones).reaches(goal)


# Comparison with an exhaustive search -------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawn:
    """Small random map with only floor, walls and holes; ``free`` is its floor in any order."""

    here: WorldMap
    floor: set[Place]
    warps: set[Place]
    free: list[Place]

    @property
    def grid(self) -> MapGrid:
        return self.here.grid

    def cells(self, places: Iterable[Place]) -> set[int]:
        return {self.grid.cell(*place) for place in places}

    @classmethod
    def of(cls, draws: random.Random, *, most_rows: int, weights: tuple[int, ...], least: int) -> Drawn:
        """Draw maps until one has at least ``least`` tiles of floor."""
        while True:
            width, height = draws.randint(3, 5), draws.randint(3, most_rows)
            here = draw(*("".join(draws.choices(".#o", weights, k=width)) for _ in range(height)))
            grid = here.grid
            warps = {(warp.x, warp.y) for warp in here.warps}
            free = [grid.tile_of(cell) for cell, tile in enumerate(grid.tiles) if tile == TILES["."]]
            draws.shuffle(free)
            if len(free) >= least:
                return cls(here, {*free, *warps}, warps, free)


def fewest_pushes(
    first: State, is_end: Callable[[State], bool], ways: Callable[[State], Iterable[tuple[State, bool]]]
) -> int | None:
    """Return the fewest pushes by exhaustive search; ``ways`` returns each next state, and whether it took a push."""
    spent, queue = {first: 0}, deque([first])
    while queue:
        state = queue.popleft()
        if is_end(state):
            return spent[state]
        for after, pushes in ways(state):
            cost = spent[state] + pushes
            if cost < spent.get(after, 1 << 30):
                spent[after] = cost
                queue.append(after) if pushes else queue.appendleft(after)
    return None


def around(place: Place) -> Iterator[tuple[Place, Place]]:
    """Return the tiles beside a place, with those behind them."""
    for dx, dy in STEPS:
        yield (place[0] + dx, place[1] + dy), (place[0] + 2 * dx, place[1] + 2 * dy)


def fewest_to_place(
    drawn: Drawn, start: Place, boulders: frozenset[Place], meant: Place, to: Place, *, fixed: bool
) -> int | None:
    """Return the pushes until the wanted boulder is in place. Others stay where they are if ``fixed``."""
    floor, warps = drawn.floor, drawn.warps

    def ways(state: OneMeant) -> Iterator[tuple[OneMeant, bool]]:
        stone, others, place = state
        for ahead, behind in around(place):
            if ahead != stone and ahead not in others:
                if ahead in floor - warps:
                    yield (stone, others, ahead), False
            elif behind in floor - others - {stone}:
                if ahead == stone and (behind == to or behind not in warps):
                    yield (behind, others, place), True
                elif ahead in others and behind not in warps and not fixed:
                    yield (stone, others - {ahead} | {behind}, place), True

    return fewest_pushes((meant, boulders - {meant}, start), lambda state: state[0] == to, ways)


def fewest_to_reach(drawn: Drawn, start: Place, boulders: frozenset[Place], goal: Place) -> int | None:
    """Return the pushes on the way to a tile. A player in a hole walks no further."""
    floor, warps = drawn.floor, drawn.warps

    def ways(state: NoneMeant) -> Iterator[tuple[NoneMeant, bool]]:
        stones, place = state
        if place in warps:
            return
        for ahead, behind in around(place):
            if ahead in stones and behind in floor - stones - warps:
                yield (stones - {ahead} | {behind}, place), True
            elif ahead not in stones and ahead in floor:
                yield (stones, ahead), False

    return fewest_pushes((boulders, start), lambda state: state[1] == goal, ways)


@pytest.mark.parametrize("seed", range(60))
def test_as_few_pushes_as_an_exhaustive_search_finds(seed: int, plans: Plans) -> None:
    draws = random.Random(seed)
    drawn = Drawn.of(draws, most_rows=4, weights=(8, 2, 1), least=5)
    grid, cell = drawn.grid, drawn.grid.cell
    start, meant, *rest = drawn.free
    boulders = frozenset([meant, *rest[: draws.randint(0, 2)]])
    to = draws.choice(sorted(drawn.warps) + rest[2:])
    planner = plans(drawn.here, most_states=10**6)
    stones = drawn.cells(boulders)
    plan = planner.plan(cell(*start), list(stones), cell(*to), which=cell(*meant))
    fewest = fewest_to_place(drawn, start, boulders, meant, to, fixed=True)
    if fewest is None:
        fewest = fewest_to_place(drawn, start, boulders, meant, to, fixed=False)
    assert (None if plan is None else len(plan)) == fewest
    assert plan is None or cell(*to) in pushed(planner, grid, cell(*start), stones, plan)


@pytest.mark.parametrize("seed", range(60))
def test_a_path_is_cleared_by_as_few_pushes_as_an_exhaustive_search_finds(seed: int, plans: Plans) -> None:
    draws = random.Random(seed)
    drawn = Drawn.of(draws, most_rows=5, weights=(9, 3, 1), least=6)
    grid, cell = drawn.grid, drawn.grid.cell
    start, goal, *rest = drawn.free
    boulders = frozenset(rest[: draws.randint(1, 4)])
    planner = plans(drawn.here, most_states=10**6)
    stones = drawn.cells(boulders)
    plan = planner.clear(cell(*start), stones, [cell(*goal)])
    assert (None if plan is None else len(plan)) == fewest_to_reach(drawn, start, boulders, goal)
    assert plan is None or is_cleared(planner, grid, cell(*start), stones, plan, cell(*goal))
