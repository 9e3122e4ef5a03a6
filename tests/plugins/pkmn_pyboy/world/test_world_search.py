"""Paths over hand-drawn maps: what a search finds, what it costs, and where it ends."""

from __future__ import annotations

import random
from collections import deque

import pytest

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.world.map_moves import Costs
from pkmn_pyboy.world.map_search import MapSearch

from support.drawn_maps import Walks, draw  # isort: skip

USE, PUSH = Costs().use_move, Costs().push


@pytest.fixture(scope="module")
def walks(crystal: GameProfile) -> Walks:
    return Walks(crystal)


def presses(search: MapSearch, cell: int) -> str:
    return "".join("DULR"[direction] for _, direction in search.directions(cell))


def test_walks_round_walls(walks: Walks) -> None:
    here = draw("...", ".#.", ".#.")
    search, goal = walks.search(here, 0, 2), here.grid.cell(2, 2)
    assert search.nearest((goal,)) == (goal, 6)
    assert presses(search, goal) == "UURRDD"


def test_a_ledge_is_jumped_one_way_only(walks: Walks) -> None:
    here = draw("...", "vvv", "###", "...")
    down, goal = walks.search(here, 1, 0), here.grid.cell(1, 3)
    assert down.nearest((goal,)) == (goal, 3)
    assert presses(down, goal) == "DD"
    assert not walks.search(here, 1, 3).reaches(here.grid.cell(1, 0))


def test_a_ledge_tile_can_be_walked_along(walks: Walks) -> None:
    here = draw("vvv", "###")
    assert walks.search(here, 0, 0).reaches(here.grid.cell(2, 0))


def test_ice_carries_to_its_end(walks: Walks) -> None:
    here = draw(".iii.", "#####")
    search, goal = walks.search(here, 0, 0), here.grid.cell(4, 0)
    assert not search.reaches(here.grid.cell(2, 0))
    assert search.nearest((goal,)) == (goal, 4)
    assert presses(search, goal) == "R"


def test_a_slide_over_ice_stops_before_a_person(walks: Walks) -> None:
    here = draw("iiiii", "##.##")
    goal, someone = here.grid.cell(2, 1), here.grid.cell(3, 0)
    assert not walks.search(here, 0, 0).reaches(goal)
    assert presses(walks.search(here, 0, 0, blocked={someone}), goal) == "RD"


def test_a_slide_over_ice_stops_before_water(walks: Walks) -> None:
    here = draw(".ii~", "####")
    search = walks.search(here, 0, 0, "surf")
    assert search.nearest((here.grid.cell(2, 0),)) == (here.grid.cell(2, 0), 2)


def test_a_walled_side_stops_both_ways(walks: Walks) -> None:
    here = draw(".|.")
    assert not walks.search(here, 0, 0).reaches(here.grid.cell(2, 0))
    assert not walks.search(here, 2, 0).reaches(here.grid.cell(1, 0))


def test_a_door_is_reached_but_never_passed(walks: Walks) -> None:
    here = draw(".D.")
    search = walks.search(here, 0, 0)
    assert search.reaches(here.grid.cell(1, 0))
    assert not search.reaches(here.grid.cell(2, 0))
    assert walks.search(here, 1, 0).reaches(here.grid.cell(2, 0)), "whoever is on it can leave it"


def test_water_is_entered_only_with_surf_once_and_left_anywhere(walks: Walks) -> None:
    here = draw(".~~~.")
    start, goal = here.grid.cell(0, 0), here.grid.cell(4, 0)
    assert not walks.search(here, 0, 0).reaches(goal)
    assert walks.search(here, 0, 0, "surf").nearest((goal,)) == (goal, 4 + USE)
    steps = walks.steps(here)
    assert steps.begins_move(start, 3)
    assert not steps.begins_move(here.grid.cell(1, 0), 3)


def test_people_are_walked_around(walks: Walks) -> None:
    here = draw("...", "...")
    search = walks.search(here, 0, 0, blocked={here.grid.cell(1, 0)})
    assert search.nearest((here.grid.cell(2, 0),)) == (here.grid.cell(2, 0), 4)
    assert search.first_moves() == [(here.grid.cell(0, 1), 0)]


def test_grass_is_avoided_while_that_is_cheaper(walks: Walks) -> None:
    here = draw(".%%.", "....")
    goal = here.grid.cell(3, 0)
    assert presses(walks.search(here, 0, 0, grass=3), goal) == "DRRRU"
    assert presses(walks.search(here, 0, 0), goal) == "RRR"


@pytest.mark.parametrize("seed", range(20))
def test_costs_are_those_of_a_plain_breadth_first_search(walks: Walks, seed: int) -> None:
    generator = random.Random(seed)
    here = draw(*("".join(generator.choice("...#") for _ in range(9)) for _ in range(7)))
    grid = here.grid
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
    search = walks.search(here, *grid.tile_of(start))
    generator.shuffle(open_cells)
    for cell in open_cells:
        assert search.nearest((cell,)) == ((cell, expected[cell]) if cell in expected else None)
        if cell in expected:
            assert len(search.path(cell)) == expected[cell] + 1
    reached = sorted(expected, key=lambda cell: (expected[cell], cell))
    assert walks.search(here, *grid.tile_of(start)).nearest(set(reached[1:])) == (
        (reached[1], expected[reached[1]]) if reached[1:] else None
    )


def test_a_tree_blocks_the_path_without_cut(walks: Walks) -> None:
    here = draw("..t..")
    goal = here.grid.cell(4, 0)
    assert not walks.search(here, 0, 0).reaches(goal)
    assert walks.search(here, 0, 0, "cut").nearest((goal,)) == (goal, 4 + USE)
    assert [walks.steps(here).begins_move(here.grid.cell(x, 0), 3) for x in range(3)] == [False, True, False]


def test_a_detour_is_taken_if_it_is_shorter_than_cutting(walks: Walks) -> None:
    here = draw(".t.", "...")
    goal = here.grid.cell(2, 0)
    assert walks.search(here, 0, 0, "cut").nearest((goal,)) == (goal, 4)


def test_a_waterfall_is_free_downwards(walks: Walks) -> None:
    here = draw("~", "W", "~")
    top, bottom = here.grid.cell(0, 0), here.grid.cell(0, 2)
    assert walks.search(here, 0, 0, "surf").reaches(bottom)
    assert not walks.search(here, 0, 2, "surf").reaches(top)
    assert walks.search(here, 0, 2, "surf", "waterfall").reaches(top)


def test_a_pushable_boulder_is_passed_at_a_cost(walks: Walks) -> None:
    here = draw(".....")
    goal, boulder = here.grid.cell(3, 0), here.grid.cell(2, 0)
    assert not walks.search(here, 0, 0, blocked={boulder}).reaches(goal)
    assert walks.search(here, 0, 0, pushable={boulder}).nearest({goal}) == (goal, 3 + PUSH)
    assert not walks.search(here, 0, 0, pushable={boulder}, blocked={goal}).reaches(goal)
    assert walks.search(here, 1, 0, pushable={boulder}).first_moves() == [(here.grid.cell(0, 0), 2)]
