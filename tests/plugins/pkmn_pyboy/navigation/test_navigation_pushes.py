"""Boulders pushed to a place over hand-drawn maps, and over random ones held against a search that tries everything."""

from __future__ import annotations

import random
from collections import deque

import pytest

from pkmn_pyboy.navigation.grid import LAND, STEPS, MapGrid, TileRules
from pkmn_pyboy.navigation.pushes import Push, PushPlanner
from pkmn_pyboy.navigation.search import Moves, Search
from pkmn_pyboy.profile import GameProfile

TILES = {".": 0x00, "#": 0x07, "~": 0x29, "v": 0xA3, "i": 0x23, "o": 0x60}
DOWN, UP, LEFT, RIGHT = range(4)
Place = tuple[int, int]


def draw(*rows: str) -> MapGrid:
    width = len(rows[0])
    framed = ["#" * (width + 2), *(f"#{row}#" for row in rows), "#" * (width + 2)]
    return MapGrid(1, width, len(rows), bytes(TILES[letter] for row in framed for letter in row))


@pytest.fixture(scope="module")
def rules(crystal: GameProfile) -> TileRules:
    return TileRules.of(crystal.collision)


def holes(grid: MapGrid) -> set[int]:
    return {cell for cell, tile in enumerate(grid.tiles) if tile == TILES["o"]}


def test_goes_round_the_boulder_to_push_it_the_other_way(rules: TileRules) -> None:
    grid = draw("....", "....", "....")
    plan = PushPlanner(Moves(grid, rules)).plan(grid.cell(0, 1), [grid.cell(2, 1)], grid.cell(1, 1))
    assert plan == [Push(grid.cell(2, 1), LEFT)]


def test_what_is_there_already_needs_no_push_and_what_stands_in_a_corner_stays(rules: TileRules) -> None:
    grid = draw("....", "....")
    planner = PushPlanner(Moves(grid, rules))
    assert planner.plan(grid.cell(3, 1), [grid.cell(1, 0)], grid.cell(1, 0)) == []
    assert planner.plan(grid.cell(3, 1), [grid.cell(0, 0)], grid.cell(1, 0)) is None
    assert planner.plan(grid.cell(3, 1), [grid.cell(1, 0)], grid.cell(1, 0), which=grid.cell(2, 0)) is None


def test_a_hole_takes_a_boulder_and_is_never_walked_over(rules: TileRules) -> None:
    grid = draw("#.o.#", "...#.", "#...#")
    planner = PushPlanner(Moves(grid, rules), warps=holes(grid))
    plan = planner.plan(grid.cell(0, 1), [grid.cell(2, 1)], grid.cell(2, 0))
    assert plan == [Push(grid.cell(2, 1), UP)]
    assert planner.plan(grid.cell(0, 1), [grid.cell(2, 1)], grid.cell(3, 0)) is None


def test_another_boulder_is_pushed_out_of_the_way_only_where_it_must_be(rules: TileRules) -> None:
    grid = draw("#######", "......o", "####.##")
    moves, start, to = Moves(grid, rules), grid.cell(0, 1), grid.cell(6, 1)
    meant, other = grid.cell(2, 1), grid.cell(3, 1)
    planner = PushPlanner(moves, warps=holes(grid))
    assert planner.plan(start, [meant, other], to, which=meant) is None
    wide = draw("....###", "......o", "....###")
    planner = PushPlanner(Moves(wide, rules), warps=holes(wide))
    plan = planner.plan(start, [meant, other], to, which=meant)
    assert plan is not None
    assert {push.cell for push in plan} > {meant}
    aside = planner.plan(start, [meant, wide.cell(1, 0)], to, which=meant)
    assert aside == [Push(wide.cell(x, 1), RIGHT) for x in range(2, 6)]


def test_any_boulder_will_do_where_none_is_named(rules: TileRules) -> None:
    grid = draw(".......", ".......", ".......")
    planner = PushPlanner(Moves(grid, rules))
    boulders = [grid.cell(1, 1), grid.cell(4, 1)]
    assert planner.plan(grid.cell(0, 0), boulders, grid.cell(3, 1)) == [Push(grid.cell(4, 1), LEFT)]


def test_someone_in_the_way_and_a_ledge_make_the_way_round_longer_or_none(rules: TileRules) -> None:
    grid = draw("....", "....", "....")
    start, boulder, to = grid.cell(0, 0), grid.cell(1, 1), grid.cell(1, 2)
    assert PushPlanner(Moves(grid, rules)).plan(start, [boulder], to) == [Push(boulder, DOWN)]
    planner = PushPlanner(Moves(grid, rules), walls=[grid.cell(1, 0)])
    plan = planner.plan(start, [boulder], to)
    assert plan is not None
    assert len(plan) == 3
    below = draw("...", "vvv", "###", "...", "...")
    assert PushPlanner(Moves(below, rules)).plan(below.cell(0, 4), [below.cell(1, 0)], below.cell(2, 0)) is None


def test_who_slides_over_ice_stops_before_someone(rules: TileRules) -> None:
    grid = draw("iiiii", "##.##")
    start, goal = grid.cell(0, 0), grid.cell(2, 1)
    assert not Search(Moves(grid, rules), start).reaches(goal)
    someone = grid.cell(3, 0)
    moves = Moves(grid, rules).stopped_by(frozenset({someone}))
    search = Search(moves, start, blocked={someone})
    assert search.reaches(goal)
    assert search.path(goal) == [(start, RIGHT), (grid.cell(2, 0), DOWN)]


def test_a_way_is_cleared_where_pushing_straight_on_closes_it(rules: TileRules) -> None:
    # Three boulders side by side bar the way up; between the pillars behind them someone leaves one gap.
    grid = draw("......", "......", "##..##", "......", "#...##", "......")
    start, goal, someone = grid.cell(2, 5), grid.cell(2, 0), grid.cell(3, 2)
    boulders = {grid.cell(x, 4) for x in (1, 2, 3)}
    planner = PushPlanner(Moves(grid, rules), walls=[someone])
    plan = planner.clear(start, boulders, [goal])
    assert plan is not None
    assert len(plan) == 3
    assert is_cleared(planner, grid, start, boulders, plan, goal)
    assert plan[0].cell != grid.cell(2, 4)  # the one before the gap, which would stand in it then


def test_no_push_is_made_where_a_way_round_is_free_and_none_where_nothing_helps(rules: TileRules) -> None:
    grid = draw(".....", "..#..", "###..")
    planner = PushPlanner(Moves(grid, rules))
    start, goal = grid.cell(0, 0), grid.cell(4, 2)
    assert planner.clear(start, [grid.cell(3, 0)], [goal]) == [Push(grid.cell(3, 0), RIGHT)]
    assert planner.clear(start, [grid.cell(0, 1)], [goal]) == []
    corridor = draw("...")
    assert PushPlanner(Moves(corridor, rules)).clear(corridor.cell(0, 0), [corridor.cell(1, 0)], [9]) is None


def test_of_several_places_the_one_with_the_fewest_pushes_is_cleared(rules: TileRules) -> None:
    grid = draw("#.#####", ".......", "#######")
    planner = PushPlanner(Moves(grid, rules))
    boulders = {grid.cell(3, 1)}
    ends = [grid.cell(6, 1), grid.cell(1, 0)]
    assert planner.clear(grid.cell(0, 1), boulders, ends) == []
    assert planner.clear(grid.cell(0, 1), boulders, ends[:1]) is None
    assert planner.clear(grid.cell(0, 1), boulders, [grid.cell(4, 1)]) == [
        Push(grid.cell(3, 1), RIGHT),
        Push(grid.cell(4, 1), RIGHT),
    ]


def pushed(planner: PushPlanner, grid: MapGrid, place: int, stones: set[int], plan: list[Push]) -> set[int]:
    """Where the boulders stand after the pushes of a plan, each of which can be made."""
    for stone, direction in plan:
        beside = stone - grid.deltas[direction]
        assert stone in stones
        assert planner.walk(place, stones).reaches(beside)
        stones = stones - {stone} | {stone + grid.deltas[direction]}
        place = beside
    return stones


def is_cleared(planner: PushPlanner, grid: MapGrid, place: int, stones: set[int], plan: list[Push], goal: int) -> bool:
    """Whether a place can be walked to after the pushes of a plan."""
    stones = pushed(planner, grid, place, stones, plan)
    if plan:
        place = plan[-1].cell - grid.deltas[plan[-1].direction]
    return planner.walk(place, stones).reaches(goal)


def exhaustive(
    grid: MapGrid, rules: TileRules, start: Place, boulders: frozenset[Place], meant: Place, to: Place, fixed: bool
) -> int | None:
    """The fewest pushes, by trying every step in every arrangement, where there are floor, walls and holes only."""
    floor = {
        (x, y) for x in range(grid.width) for y in range(grid.height) if rules.kind[grid.tiles[grid.cell(x, y)]] == LAND
    }
    warps = {grid.tile_of(cell) for cell in holes(grid)}
    first = (meant, boulders - {meant}, start)
    spent, queue = {first: 0}, deque([first])
    while queue:
        state = queue.popleft()
        stone, others, (x, y) = state
        if stone == to:
            return spent[state]
        for dx, dy in STEPS:
            ahead, behind = (x + dx, y + dy), (x + 2 * dx, y + 2 * dy)
            pushes = ahead == stone or ahead in others
            if not pushes:
                after = (stone, others, ahead)
                if ahead not in floor or ahead in warps:
                    continue
            elif behind not in floor or behind == stone or behind in others:
                continue
            elif ahead == stone and (behind == to or behind not in warps):
                after = (behind, others, (x, y))
            elif ahead in others and behind not in warps and not fixed:
                after = (stone, others - {ahead} | {behind}, (x, y))
            else:
                continue
            cost = spent[state] + pushes
            if cost < spent.get(after, 1 << 30):
                spent[after] = cost
                queue.append(after) if pushes else queue.appendleft(after)
    return None


@pytest.mark.parametrize("seed", range(60))
def test_pushes_as_few_as_trying_everything_finds(seed: int, rules: TileRules) -> None:
    draws = random.Random(seed)
    width, height = draws.randint(3, 5), draws.randint(3, 4)
    grid = draw(*("".join(draws.choices(".#o", (8, 2, 1), k=width)) for _ in range(height)))
    free = [grid.tile_of(cell) for cell, tile in enumerate(grid.tiles) if tile == TILES["."]]
    draws.shuffle(free)
    if len(free) < 5:
        return
    start, meant, *rest = free
    boulders = frozenset([meant, *rest[: draws.randint(0, 2)]])
    to = draws.choice([grid.tile_of(cell) for cell in holes(grid)] + rest[2:])
    cell = grid.cell
    planner = PushPlanner(Moves(grid, rules), warps=holes(grid), most_states=10**6)
    plan = planner.plan(cell(*start), [cell(*one) for one in boulders], cell(*to), which=cell(*meant))
    fewest = exhaustive(grid, rules, start, boulders, meant, to, fixed=True)
    if fewest is None:
        fewest = exhaustive(grid, rules, start, boulders, meant, to, fixed=False)
    assert (None if plan is None else len(plan)) == fewest
    stones = {cell(*one) for one in boulders}
    assert plan is None or cell(*to) in pushed(planner, grid, cell(*start), stones, plan)


def fewest_to_reach(
    grid: MapGrid, rules: TileRules, start: Place, boulders: frozenset[Place], goal: Place
) -> int | None:
    """The fewest pushes on the way to a tile, by trying every step in every arrangement."""
    floor = {
        (x, y) for x in range(grid.width) for y in range(grid.height) if rules.kind[grid.tiles[grid.cell(x, y)]] == LAND
    }
    warps = {grid.tile_of(cell) for cell in holes(grid)}
    first = (boulders, start)
    spent, queue = {first: 0}, deque([first])
    while queue:
        state = queue.popleft()
        stones, (x, y) = state
        if (x, y) == goal:
            return spent[state]
        if (x, y) in warps:
            continue
        for dx, dy in STEPS:
            ahead, behind = (x + dx, y + dy), (x + 2 * dx, y + 2 * dy)
            pushes = ahead in stones
            if pushes and behind in floor - stones - warps:
                after = (stones - {ahead} | {behind}, (x, y))
            elif not pushes and ahead in floor:
                after = (stones, ahead)
            else:
                continue
            cost = spent[state] + pushes
            if cost < spent.get(after, 1 << 30):
                spent[after] = cost
                queue.append(after) if pushes else queue.appendleft(after)
    return None


@pytest.mark.parametrize("seed", range(60))
def test_a_way_is_cleared_by_as_few_pushes_as_trying_everything_finds(seed: int, rules: TileRules) -> None:
    draws = random.Random(seed)
    width, height = draws.randint(3, 5), draws.randint(3, 5)
    grid = draw(*("".join(draws.choices(".#o", (9, 3, 1), k=width)) for _ in range(height)))
    free = [grid.tile_of(cell) for cell, tile in enumerate(grid.tiles) if tile == TILES["."]]
    draws.shuffle(free)
    if len(free) < 6:
        return
    start, goal, *rest = free
    boulders = frozenset(rest[: draws.randint(1, 4)])
    planner = PushPlanner(Moves(grid, rules), warps=holes(grid), most_states=10**6)
    stones = {grid.cell(*one) for one in boulders}
    plan = planner.clear(grid.cell(*start), stones, [grid.cell(*goal)])
    assert (None if plan is None else len(plan)) == fewest_to_reach(grid, rules, start, boulders, goal)
    assert plan is None or is_cleared(planner, grid, grid.cell(*start), stones, plan, grid.cell(*goal))
