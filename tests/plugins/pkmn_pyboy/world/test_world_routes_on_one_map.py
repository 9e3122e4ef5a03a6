"""Routes on one map: over every kind of ground, past obstacles that can be passed, to what is faced."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pytest
from support.routes import HERE, world_of
from support.world_image import EAST, WEST, Person, TestMap, word

from pkmn_pyboy.profile.milestones import Target
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.goals import of_target
from pkmn_pyboy.world.map_moves import BLOCKED, Costs, MapMoves
from pkmn_pyboy.world.records import ENTER, NO_FLAG, MapPerson, Place, Role
from pkmn_pyboy.world.route_planner import RoutePlanner

UP, LEFT, RIGHT = 1, 2, 3
NO_FLAGS = Abilities.of(flags=[])


def on_one_map(crystal: GameProfile, rows: list[str], *people: Person) -> RoutePlanner:
    return RoutePlanner(world_of(crystal, TestMap(1, 1, rows, people=people)))


def test_a_ledge_is_jumped_one_way(crystal: GameProfile) -> None:
    planner = on_one_map(crystal, ["......", "......", "vvvvvv", "######", "......", "......"])
    down = planner.route(Place(HERE, 2, 0), Place(HERE, 2, 5), Abilities())
    assert down is not None
    assert down.legs[0].tiles == ((2, 0), (2, 1), (2, 2), (2, 4), (2, 5))
    assert planner.route(Place(HERE, 2, 5), Place(HERE, 2, 0), Abilities.everything()) is None
    assert planner.blocked_by(Place(HERE, 2, 5), Place(HERE, 2, 0), Abilities()) is None


@pytest.mark.parametrize(
    ("row", "needed"),
    [("..T...", ["cut"]), ("..~~..", ["surf"]), (".~@~..", ["surf", "whirlpool"])],
)
def test_obstacles_need_their_moves(crystal: GameProfile, row: str, needed: list[str]) -> None:
    planner = on_one_map(crystal, ["######", row, "######", "######"])
    start, goal = Place(HERE, 0, 1), Place(HERE, 5, 1)
    for number in range(len(needed)):
        assert planner.route(start, goal, Abilities.of(needed[:number])) is None
    able = planner.route(start, goal, Abilities.of(needed))
    assert able is not None
    assert [one.kind for one in able.obstacles] == needed
    missing = planner.blocked_by(start, goal, Abilities())
    assert missing is not None
    assert [one.kind for one in missing] == needed
    assert missing[0].place == Place(HERE, row.index(row.strip(".")[0]), 1)


def test_a_waterfall_is_climbed_with_its_move_and_fallen_down_without(crystal: GameProfile) -> None:
    planner = on_one_map(crystal, ["#..#", "#~~#", "#!!#", "#!!#", "#~~#", "#..#"])
    top, bottom = Place(HERE, 1, 0), Place(HERE, 1, 5)
    assert planner.route(top, bottom, Abilities.of(["surf"])) is not None
    assert planner.route(bottom, top, Abilities.of(["surf"])) is None
    assert planner.route(bottom, top, Abilities.of(["surf", "waterfall"])) is not None


def test_who_swims_already_needs_nothing_to_go_on(crystal: GameProfile) -> None:
    planner = on_one_map(crystal, ["~~~~", "~~~~", "....", "...."])
    assert planner.route(Place(HERE, 0, 0), Place(HERE, 3, 3), Abilities()) is not None


def test_ice_is_slid_over_to_its_end(crystal: GameProfile) -> None:
    planner = on_one_map(crystal, ["......", ".iiii.", "######", "######"])
    route = planner.route(Place(HERE, 0, 1), Place(HERE, 5, 1), Abilities())
    assert route is not None
    assert route.legs[0].tiles == ((0, 1), (5, 1))


def test_boulders_and_rocks(crystal: GameProfile) -> None:
    planner = on_one_map(
        crystal, ["######", "......", "######", "######"], Person(2, 1, movement=0x19), Person(4, 1, movement=0x18)
    )
    start, goal = Place(HERE, 0, 1), Place(HERE, 5, 1)
    missing = planner.blocked_by(start, goal, Abilities())
    assert missing is not None
    assert [one.kind for one in missing] == ["strength", "rock_smash"]
    assert planner.blocked_by(start, goal, Abilities.of(["strength", "rock_smash"])) == ()


def test_people_stand_in_the_way_until_their_flag_is_set(crystal: GameProfile) -> None:
    rows = ["######", "......", "######", "######"]
    start, goal = Place(HERE, 0, 1), Place(HERE, 5, 1)
    flagged = on_one_map(crystal, rows, Person(2, 1, flag=500))
    assert flagged.route(start, goal, NO_FLAGS) is None
    missing = flagged.blocked_by(start, goal, NO_FLAGS)
    assert missing is not None
    assert [(one.kind, one.flag, one.person) for one in missing] == [("person", 500, 1)]
    gone = flagged.route(start, goal, Abilities.of(flags=[500]))
    assert gone is not None
    assert not gone.obstacles
    unknown = flagged.route(start, goal, Abilities())
    assert unknown is not None
    assert [one.flag for one in unknown.obstacles] == [500]
    for_good = on_one_map(crystal, rows, Person(2, 1))
    assert for_good.route(start, goal, Abilities.everything()) is None
    assert for_good.route(start, goal, Abilities(), through_obstacles=True) is not None
    walker = on_one_map(crystal, rows, Person(2, 1, movement=2))
    assert walker.route(start, goal, NO_FLAGS) is not None
    thing = on_one_map(crystal, rows, Person(2, 1, kind=1, script=bytes([5, 1]), flag=7))
    taken = thing.route(start, goal, NO_FLAGS)
    assert taken is not None
    assert [one.kind for one in taken.obstacles] == ["item"]


def test_who_cannot_be_stepped_on_is_faced(crystal: GameProfile) -> None:
    rows = ["########", "....cc..", "....cc..", "........", "........", "########"]
    planner = on_one_map(
        crystal, ["########", ".......#", "cccccc.#", "........", "........", "########"], Person(2, 1)
    )
    route = planner.route(Place(HERE, 0, 4), Place(HERE, 2, 1), Abilities())
    assert route is not None
    assert (route.goal, route.legs[-1].press) == (Place(HERE, 2, 3), 1), "spoken to over the counter"
    wall = on_one_map(crystal, rows).route(Place(HERE, 0, 1), Place(HERE, 3, 0), Abilities())
    assert wall is not None
    assert (wall.goal, wall.legs[-1].press) == (Place(HERE, 3, 1), 1)
    assert planner.route(Place(HERE, 0, 4), Place(HERE, 99, 1), Abilities()) is None


def test_a_tile_to_face_something_from_is_that_tile_whoever_stands_there_now(crystal: GameProfile) -> None:
    planner = on_one_map(crystal, ["########", "........", "........", "########"], Person(2, 1))
    assert of_target(planner.world, Target(HERE, 2, 1, "left")).ends == {HERE: {(2, 1): LEFT}}
    assert set(of_target(planner.world, Target(HERE, 2, 1)).ends[HERE] or ()) == {(1, 1), (3, 1), (2, 2)}


@pytest.mark.parametrize(
    ("target", "ends"),
    [
        (Target(0x102), None),
        (Target(0x102, 4, 3), {(4, 3): ENTER}),
        (Target(0x102, 4, 3, "left"), {(4, 3): LEFT}),
        (Target(0x102, 2, 1), {(2, 3): UP}),
        (Target(0x102, person=1), {(2, 3): UP}),
        (Target(0x102, person=2), {(5, 3): UP, (4, 2): RIGHT, (6, 2): LEFT}),
        (Target(0x102, person=2, facing="right"), {(4, 2): RIGHT}),
        (Target(0x102, scene=1), {(6, 3): ENTER, (7, 3): ENTER}),
        (Target(0x102, person=7), {}),
        (Target(0x102, scene=5), {}),
        (Target(0x102, 40, 3), {}),
        (Target(0x109, 4, 3), {}),
    ],
)
def test_the_target_of_a_milestone_is_a_goal_from_any_map(
    crystal: GameProfile, target: Target, ends: dict[tuple[int, int], int] | None
) -> None:
    world = world_of(
        crystal,
        TestMap(1, 1, ["...."] * 4, joins={EAST: (1, 2, 0, 0)}),
        TestMap(
            1,
            2,
            ["########", "##.#####", "cccc....", "........"],
            joins={WEST: (1, 1, 0, 3)},
            people=[Person(2, 1), Person(5, 2, movement=2)],
            triggers=[(1, 6, 3), (1, 7, 3), (0, 3, 3)],
        ),
    )
    goal = of_target(world, target)
    expected = {} if ends == {} else {0x102: ends}
    assert goal.ends == expected
    route = RoutePlanner(world).route(Place(HERE, 0, 3), goal, Abilities())
    if ends == {}:
        assert route is None
    else:
        assert route is not None
        assert route.maps == (HERE, 0x102)
        if ends is not None:
            assert ends[route.goal.x, route.goal.y] == route.legs[-1].press


def test_grass_and_the_sight_of_trainers_may_cost(crystal: GameProfile) -> None:
    rows = ["......", ".gggg.", "......", "######"]
    world = world_of(crystal, TestMap(1, 1, rows))
    start, goal = Place(HERE, 0, 1), Place(HERE, 5, 1)
    straight = RoutePlanner(world).route(start, goal, Abilities())
    around = RoutePlanner(world, Costs(grass=2)).route(start, goal, Abilities())
    assert straight is not None and around is not None
    assert (straight.tiles, around.tiles) == (5, 7)
    trainer = Person(2, 0, kind=2, sight=1, script=word(600) + bytes([1, 1]))
    world = world_of(crystal, TestMap(1, 1, ["......", "......", "......", "......"], people=[trainer]))
    unseen = RoutePlanner(world, Costs(sight=9)).route(start, goal, NO_FLAGS)
    beaten = RoutePlanner(world, Costs(sight=9)).route(start, goal, Abilities.of(flags=[600]))
    assert unseen is not None and beaten is not None
    assert (2, 1) not in unseen.legs[0].tiles
    assert not unseen.obstacles
    assert beaten.tiles == 5


@pytest.mark.parametrize(
    ("hours", "there"),
    [
        ((-1, -1), range(24)),
        ((9, 17), range(9, 18)),
        ((22, 3), (22, 23, 0, 1, 2, 3)),
        ((6, 6), range(24)),
        ((-1, 0b001), range(4, 10)),
        ((-1, 0b110), (*range(10, 24), *range(4))),
    ],
)
def test_people_keep_their_hours(crystal: GameProfile, hours: tuple[int, int], there: Collection[int]) -> None:
    someone = MapPerson(1, 2, 1, Role.PERSON, hours=hours)
    assert [hour for hour in range(24) if someone.stands_at(hour)] == sorted(there)
    made = world_of(crystal, TestMap(1, 1, ["##.#", "....", "####", "####"], people=[Person(2, 1)]))
    here = made.map(HERE)
    assert here is not None
    standing = replace(here, people=(replace(here.people[0], hours=hours, flag=NO_FLAG),))
    steps = MapMoves(standing, made.rules, made.openers, Costs())
    number = steps.into(here.grid.cell(2, 1), RIGHT, from_water=False)
    assert number is not None
    for hour in range(24):
        assert (steps.cost_of(number, Abilities.of(hour=hour), relaxed=False) == BLOCKED) is (hour in there)
    # Without a clock, people with hours may be there; others are.
    unknown = steps.cost_of(number, Abilities(), relaxed=False)
    assert unknown == (BLOCKED if len(there) == 24 else Costs().someone)
    situations = {steps.situation(Abilities.of(hour=hour), relaxed=False) for hour in range(24)}
    assert len(situations) == (1 if len(there) == 24 else 2)


def test_what_failed_lately_is_avoided(crystal: GameProfile) -> None:
    planner = on_one_map(crystal, ["......", ".####.", "......", "######"])
    start, goal = Place(HERE, 0, 0), Place(HERE, 5, 0)
    route = planner.route(start, goal, Abilities(), avoid=[Place(HERE, 3, 0)])
    assert route is not None
    assert (3, 2) in route.legs[0].tiles
    assert planner.route(start, goal, Abilities(), avoid=[Place(HERE, 3, 0), Place(HERE, 3, 2)]) is None
