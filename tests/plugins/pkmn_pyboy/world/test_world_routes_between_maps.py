"""Routes between maps: exits, ways back, edges of land and water."""

from __future__ import annotations

import pytest
from support.routes import HERE, check, world_of
from support.world_image import EAST, NORTH, SOUTH, WEST, TestMap

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.records import Place
from pkmn_pyboy.world.route_planner import RoutePlanner
from pkmn_pyboy.world.tile_rules import STEPS


def test_a_way_back_leads_where_one_came_from(crystal: GameProfile) -> None:
    house = ["########", "........", "........", "...mm..."]
    world = world_of(
        crystal,
        TestMap(1, 1, ["......D...", *["." * 10] * 5], warps=[(6, 0, 1, 2, 1)], joins={EAST: (1, 2, 0, 0)}),
        TestMap(1, 2, ["......D...", *["." * 10] * 5], warps=[(6, 0, 1, 2, 1)], joins={WEST: (1, 1, 0, 9)}),
        TestMap(2, 1, house, warps=[(3, 3, 255, 1, 1), (4, 3, 255, 1, 1)]),
    )
    planner = RoutePlanner(world)
    inside = Place(0x201, 3, 1)
    route = planner.route(inside, 0x102, Abilities(), came_from=Place(0x102, 6, 0))
    assert route is not None
    assert route.maps == (0x201, 0x102)
    other = planner.route(inside, 0x102, Abilities(), came_from=Place(0x101, 6, 0))
    assert other is not None
    assert other.maps == (0x201, 0x101, 0x102)
    through = planner.route(Place(0x101, 6, 1), Place(0x102, 6, 2), Abilities())
    assert through is not None
    assert through.maps == (0x101, 0x102), "the house is no short cut: it leads back to the first town"
    assert planner.route(inside, 0x102, Abilities()) is not None


def test_who_stands_on_an_exit_steps_off_and_on_again(crystal: GameProfile) -> None:
    world = world_of(
        crystal,
        TestMap(1, 1, ["....", ".S..", "....", "...."], warps=[(1, 1, 1, 1, 2)]),
        TestMap(1, 2, ["....", ".S..", "....", "...."], warps=[(1, 1, 1, 1, 1)]),
    )
    route = RoutePlanner(world).route(Place(HERE, 1, 1), 0x102, Abilities())
    assert route is not None
    assert len(route.legs[0].tiles) == 3
    assert route.legs[0].tiles[0] == route.legs[0].tiles[2] == (1, 1)


def test_an_exit_is_not_walked_over(crystal: GameProfile) -> None:
    world = world_of(
        crystal,
        TestMap(1, 1, ["######", "..S...", "######", "######"], warps=[(2, 1, 1, 1, 2)]),
        TestMap(1, 2, ["....", ".S..", "....", "...."], warps=[(1, 1, 1, 1, 1)]),
    )
    planner = RoutePlanner(world)
    assert planner.route(Place(HERE, 0, 1), Place(HERE, 1, 1), Abilities()) is not None
    there_and_back = planner.route(Place(HERE, 0, 1), Place(HERE, 5, 1), Abilities())
    assert there_and_back is not None
    assert there_and_back.maps == (HERE, 0x102, HERE)
    check(world, there_and_back, Place(HERE, 0, 1))


def test_an_edge_of_water_is_swum_over(crystal: GameProfile) -> None:
    world = world_of(
        crystal,
        TestMap(1, 1, ["..~~"] * 4, joins={EAST: (1, 2, 0, 0)}),
        TestMap(1, 2, ["~~.."] * 4, joins={WEST: (1, 1, 0, 3)}),
    )
    planner = RoutePlanner(world)
    route = planner.route(Place(HERE, 0, 0), Place(0x102, 3, 3), Abilities.of(["surf"]))
    assert route is not None
    assert [one.kind for one in route.obstacles] == ["surf"]
    assert planner.route(Place(HERE, 0, 0), 0x102, Abilities()) is None


def test_water_behind_an_edge_is_in_the_way(crystal: GameProfile) -> None:
    world = world_of(
        crystal,
        TestMap(1, 1, ["...."] * 4, joins={EAST: (1, 2, 0, 0)}),
        TestMap(1, 2, ["~~.."] * 4, joins={WEST: (1, 1, 0, 3)}),
    )
    planner = RoutePlanner(world)
    missing = planner.blocked_by(Place(HERE, 0, 0), Place(0x102, 3, 0), Abilities())
    assert missing is not None
    assert [(one.kind, one.place) for one in missing] == [("surf", Place(0x102, 0, 0))]
    able = planner.route(Place(HERE, 0, 0), Place(0x102, 3, 0), Abilities.of(["surf"]))
    assert able is not None
    assert [one.kind for one in able.obstacles] == ["surf"]
    check(world, able, Place(HERE, 0, 0))


def test_an_edge_of_land_beside_water_can_be_crossed_where_it_leads_on(crystal: GameProfile) -> None:
    """Reach both pieces of land over one edge; only the further one leads to the goal."""
    world = world_of(
        crystal,
        TestMap(1, 1, ["...."] * 4, joins={EAST: (1, 2, 0, 0)}),
        TestMap(1, 2, ["..##", "~~##", "....", "...."], joins={WEST: (1, 1, 0, 3)}),
    )
    planner, start, goal = RoutePlanner(world), Place(HERE, 3, 0), Place(0x102, 3, 3)
    route = planner.route(start, goal, Abilities())
    assert route is not None
    check(world, route, start)
    assert planner.blocked_by(start, goal, Abilities()) == ()
    assert planner.route(start, Place(0x102, 1, 0), Abilities()) is not None
    assert planner.route(Place(HERE, 0, 3), Place(0x102, 1, 0), Abilities()) is not None


@pytest.mark.parametrize("start_x", [0, 5])
def test_an_edge_with_an_exit_in_it_can_be_crossed_on_both_sides_of_it(crystal: GameProfile, start_x: int) -> None:
    """Stepping on the exit leads elsewhere, so the edge cannot be walked along past it."""
    world = world_of(
        crystal,
        TestMap(1, 1, ["......"] * 4, joins={SOUTH: (1, 2, 0, 0)}),
        TestMap(1, 2, ["..S...", "..#...", "..#...", "..#..."], joins={NORTH: (1, 1, 0, 3)}, warps=[(2, 0, 1, 1, 3)]),
        TestMap(1, 3, ["S.", ".."], warps=[(0, 0, 1, 1, 2)]),
    )
    start = Place(HERE, start_x, 0)
    for goal_x in (0, 5):
        route = RoutePlanner(world).route(start, Place(0x102, goal_x, 3), Abilities())
        assert route is not None
        check(world, route, start)


def test_steps_are_counted_over_all_maps(crystal: GameProfile) -> None:
    world = world_of(
        crystal,
        TestMap(1, 1, ["...."] * 4, joins={EAST: (1, 2, 0, 0)}),
        TestMap(1, 2, ["...."] * 4, joins={WEST: (1, 1, 0, 3)}),
    )
    route = RoutePlanner(world).route(Place(HERE, 0, 0), Place(0x102, 3, 0), Abilities())
    assert route is not None
    assert (route.tiles, route.cost, route.legs[0].moves, route.legs[1].moves) == (7, 7, 3, 3)
    assert STEPS[route.legs[0].press] == (1, 0)
