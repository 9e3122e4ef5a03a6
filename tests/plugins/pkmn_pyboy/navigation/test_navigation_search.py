"""Paths over hand-drawn maps: what a search finds, what it costs, and where it ends."""

from __future__ import annotations

import random
from collections import deque

import pytest

from pkmn_pyboy.navigation.grid import MapGrid, TileRules
from pkmn_pyboy.navigation.search import USE_COST, Moves, Openings, Search
from pkmn_pyboy.profile.model import GameProfile

TILES = {
    ".": 0x00,
    "#": 0x07,
    "%": 0x18,
    "~": 0x29,
    "v": 0xA3,
    ">": 0xA0,
    "|": 0xB0,
    "i": 0x23,
    "D": 0x71,
    "m": 0x70,
    "t": 0x12,
    "W": 0x33,
}


def draw(*rows: str) -> MapGrid:
    width = len(rows[0])
    framed = ["#" * (width + 2), *(f"#{row}#" for row in rows), "#" * (width + 2)]
    return MapGrid(1, width, len(rows), bytes(TILES[letter] for row in framed for letter in row))


@pytest.fixture(scope="module")
def rules(crystal: GameProfile) -> TileRules:
    return TileRules.of(crystal.collision)


def presses(search: Search, cell: int) -> str:
    return "".join("DULR"[direction] for _, direction in search.path(cell))


def test_walks_round_walls(rules: TileRules) -> None:
    grid = draw("...", ".#.", ".#.")
    search = Search(Moves(grid, rules), grid.cell(0, 2))
    assert search.nearest((grid.cell(2, 2),)) == (grid.cell(2, 2), 6)
    assert presses(search, grid.cell(2, 2)) == "UURRDD"


def test_a_ledge_is_jumped_one_way_only(rules: TileRules) -> None:
    grid = draw("...", "vvv", "###", "...")
    down = Search(Moves(grid, rules), grid.cell(1, 0))
    assert down.nearest((grid.cell(1, 3),)) == (grid.cell(1, 3), 3)
    assert presses(down, grid.cell(1, 3)) == "DD"
    assert not Search(Moves(grid, rules), grid.cell(1, 3)).reaches(grid.cell(1, 0))


def test_a_ledge_tile_can_be_walked_along(rules: TileRules) -> None:
    grid = draw("vvv", "###")
    search = Search(Moves(grid, rules), grid.cell(0, 0))
    assert search.reaches(grid.cell(2, 0))


def test_ice_carries_to_its_end(rules: TileRules) -> None:
    grid = draw(".iii.", "#####")
    search = Search(Moves(grid, rules), grid.cell(0, 0))
    assert not search.reaches(grid.cell(2, 0))
    assert search.nearest((grid.cell(4, 0),)) == (grid.cell(4, 0), 1)


def test_a_walled_side_stops_both_ways(rules: TileRules) -> None:
    grid = draw(".|.")
    assert not Search(Moves(grid, rules), grid.cell(0, 0)).reaches(grid.cell(2, 0))
    assert not Search(Moves(grid, rules), grid.cell(2, 0)).reaches(grid.cell(1, 0))


def test_a_door_is_reached_but_never_passed(rules: TileRules) -> None:
    grid = draw(".D.")
    door = grid.cell(1, 0)
    search = Search(Moves(grid, rules), grid.cell(0, 0), warps={door})
    assert search.reaches(door)
    assert not search.reaches(grid.cell(2, 0))


def test_water_is_entered_only_with_surf(rules: TileRules) -> None:
    grid = draw(".~.")
    assert not Search(Moves(grid, rules), grid.cell(0, 0)).reaches(grid.cell(2, 0))
    assert Search(Moves(grid, rules, swims=True), grid.cell(0, 0)).reaches(grid.cell(2, 0))


def test_people_are_walked_around(rules: TileRules) -> None:
    grid = draw("...", "...")
    search = Search(Moves(grid, rules), grid.cell(0, 0), blocked={grid.cell(1, 0)})
    assert search.nearest((grid.cell(2, 0),)) == (grid.cell(2, 0), 4)


def test_grass_is_avoided_while_that_is_cheaper(rules: TileRules) -> None:
    grid = draw(".%%.", "....")
    careful = Search(Moves(grid, rules), grid.cell(0, 0), grass_cost=3)
    careful.nearest((grid.cell(3, 0),))
    assert presses(careful, grid.cell(3, 0)) == "DRRRU"
    careless = Search(Moves(grid, rules), grid.cell(0, 0))
    careless.nearest((grid.cell(3, 0),))
    assert presses(careless, grid.cell(3, 0)) == "RRR"


@pytest.mark.parametrize("seed", range(20))
def test_costs_are_those_of_a_plain_breadth_first_search(rules: TileRules, seed: int) -> None:
    generator = random.Random(seed)
    grid = draw(*("".join(generator.choice("...#") for _ in range(9)) for _ in range(7)))
    open_cells = [cell for cell, tile in enumerate(grid.tiles) if tile == 0]
    start = generator.choice(open_cells)
    expected = {start: 0}
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        for delta in grid.deltas:
            if grid.tiles[cell + delta] == 0 and cell + delta not in expected:
                expected[cell + delta] = expected[cell] + 1
                queue.append(cell + delta)
    # One search, asked in any order, continues where it was.
    search = Search(Moves(grid, rules), start)
    generator.shuffle(open_cells)
    for cell in open_cells:
        assert search.nearest((cell,)) == ((cell, expected[cell]) if cell in expected else None)


GATES = {0x12: "cut", 0x33: "waterfall"}


def opened(*usable: str) -> Openings:
    return Openings(GATES, frozenset(usable))


def test_a_tree_blocks_the_path_without_cut(rules: TileRules) -> None:
    grid = draw("..t..")
    start, goal = grid.cell(0, 0), grid.cell(4, 0)
    assert not Search(Moves(grid, rules, openings=opened()), start).reaches(goal)
    moves = Moves(grid, rules, openings=opened("cut"))
    assert Search(moves, start).nearest((goal,)) == (goal, 4 + USE_COST)
    assert [moves.needs_use(grid.cell(x, 0), 3) for x in range(3)] == [False, True, False]


def test_a_detour_is_taken_if_it_is_shorter_than_cutting(rules: TileRules) -> None:
    grid = draw(".t.", "...")
    moves = Moves(grid, rules, openings=opened("cut"))
    search = Search(moves, grid.cell(0, 0))
    assert search.nearest((grid.cell(2, 0),)) == (grid.cell(2, 0), 4)


def test_water_is_entered_once_and_left_anywhere(rules: TileRules) -> None:
    grid = draw(".~~~.")
    start, goal = grid.cell(0, 0), grid.cell(4, 0)
    assert not Search(Moves(grid, rules, openings=opened()), start).reaches(goal)
    moves = Moves(grid, rules, openings=opened("surf"))
    assert Search(moves, start).nearest((goal,)) == (goal, 4 + USE_COST)
    assert moves.needs_use(start, 3)
    assert not moves.needs_use(grid.cell(1, 0), 3)


def test_a_waterfall_is_free_downwards(rules: TileRules) -> None:
    grid = draw("~", "W", "~")
    top, bottom = grid.cell(0, 0), grid.cell(0, 2)
    assert Search(Moves(grid, rules, swims=True, openings=opened("surf")), top).reaches(bottom)
    assert not Search(Moves(grid, rules, swims=True, openings=opened("surf")), bottom).reaches(top)
    assert Search(Moves(grid, rules, swims=True, openings=opened("surf", "waterfall")), bottom).reaches(top)


def test_a_pushable_boulder_is_passed_at_a_cost(rules: TileRules) -> None:
    grid = draw(".....")
    start, goal, boulder = grid.cell(0, 0), grid.cell(3, 0), grid.cell(2, 0)
    assert not Search(Moves(grid, rules), start, blocked={boulder}).reaches(goal)
    found = Search(Moves(grid, rules), start, blocked={boulder}, pushable={boulder}).nearest({goal})
    assert found == (goal, 3 + USE_COST)
    crowded = {boulder, goal}
    assert not Search(Moves(grid, rules), start, blocked=crowded, pushable={boulder}).reaches(goal)
