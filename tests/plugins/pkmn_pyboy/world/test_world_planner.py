"""Routes through made worlds: shortest, over every kind of ground and exit, past obstacles that can be passed."""

from __future__ import annotations

import heapq
import random
from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise

import pytest
from support.world_image import EAST, NORTH, SOUTH, WEST, Person, TestMap, WorldImage, word

from pkmn_pyboy.navigation.grid import LAND, STEPS, WALL
from pkmn_pyboy.profile.milestones import Target
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.cartridge_world import CartridgeWorld
from pkmn_pyboy.world.goals import of_target
from pkmn_pyboy.world.planner import RoutePlanner
from pkmn_pyboy.world.records import ENTER, NO_FLAG, MapPerson, Place, Role, Way
from pkmn_pyboy.world.route import Route
from pkmn_pyboy.world.steps import BLOCKED, Costs, MapSteps

HERE = 0x101
UP, LEFT, RIGHT = 1, 2, 3
NO_FLAGS = Abilities.of(flags=[])
WIDEST = 10
"""Tiles of the widest edge of the mixed worlds: the maximum cost of choosing a piece of it by its nearest tile."""


def world_of(crystal: GameProfile, *maps: TestMap) -> CartridgeWorld:
    image = WorldImage()
    image.add(*maps)
    rom, profile = image.build(crystal)
    return CartridgeWorld(rom, profile)


def on_one_map(crystal: GameProfile, rows: list[str], *people: Person) -> RoutePlanner:
    return RoutePlanner(world_of(crystal, TestMap(1, 1, rows, people=people)))


def check(world: CartridgeWorld, route: Route, start: Place) -> None:
    """Check that a route is connected: each move is allowed, each leg ends at an exit that leads to the next."""
    place = start
    for index, leg in enumerate(route.legs):
        here = world.map(leg.map_id)
        assert here is not None
        assert Place(leg.map_id, *leg.tiles[0]) == place
        steps = MapSteps(here, world.rules, world.openers, world.ways(leg.map_id), Costs())
        for before, after in pairwise(leg.tiles):
            assert here.grid.cell(*after) in [target for target, *_ in steps[here.grid.cell(*before)]]
        if index + 1 == len(route.legs):
            assert leg.leads_to is None
            continue
        assert leg.leads_to is not None
        assert any(
            (way.x, way.y, way.press, way.arrival) == (*leg.tiles[-1], leg.press, leg.leads_to)
            for way in world.ways(leg.map_id)
        )
        place = leg.leads_to


# On one map ---------------------------------------------------------------------------------------------------


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
    steps = MapSteps(standing, made.rules, made.openers, (), Costs())
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


# Between maps -------------------------------------------------------------------------------------------------


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


def random_world(crystal: GameProfile, seed: int) -> CartridgeWorld:
    """Return nine maps in a square, joined with offsets, full of walls and ledges, with houses between them."""
    generator = random.Random(seed)
    maps = []
    wide, high = 12, 10
    shifts = {side: generator.choice((-2, 0, 2)) for side in range(12)}
    for number in range(9):
        column, row = number % 3, number // 3
        rows = ["".join(generator.choices(".#gv>", (70, 20, 6, 2, 2))[0] for _ in range(wide)) for _ in range(high)]
        joins = {}
        if column < 2:
            joins[EAST] = (1, number + 2, shifts[number], 0)
        if column > 0:
            joins[WEST] = (1, number, -shifts[number - 1], wide - 1)
        if row < 2:
            joins[SOUTH] = (1, number + 4, shifts[number], 0)
        if row > 0:
            joins[NORTH] = (1, number - 2, -shifts[number - 3], high - 1)
        x, y = generator.randrange(wide), generator.randrange(high)
        rows[y] = rows[y][:x] + "D" + rows[y][x + 1 :]
        maps.append(TestMap(1, number + 1, rows, [(x, y, number % 4 + 1, 2, 1)], joins))
    rows = ["." * 8, "." * 8, "." * 8, "mmmm...."]
    maps.append(TestMap(2, 1, rows, [(n, 3, 1, 1, generator.randrange(9) + 1) for n in range(4)]))
    return world_of(crystal, *maps)


def shortest(world: CartridgeWorld, start: Place, abilities: Abilities, costs: Costs) -> dict[Place, int]:
    """Return the cost of every place, by one search over all tiles of all maps: slow, but simple and correct."""
    steps = {}
    for map_id in world.map_ids():
        here = world.map(map_id)
        assert here is not None
        steps[map_id] = MapSteps(here, world.rules, world.openers, world.ways(map_id), costs)
    done: dict[tuple[Place, bool], int] = {}
    heap = [(0, start, True)]
    while heap:
        spent, place, fresh = heapq.heappop(heap)
        if (place, fresh) in done:
            continue
        done[place, fresh] = spent
        here = steps[place.map_id]
        cell = here.grid.cell(place.x, place.y)
        for way in world.ways(place.map_id):
            if (way.x, way.y) == (place.x, place.y) and way.arrival is not None and not (fresh and way.press == ENTER):
                extra = costs.exit if way.warp else beyond_edge(way, steps[place.map_id], steps, abilities)
                if extra >= 0:
                    heapq.heappush(heap, (spent + 1 + extra, way.arrival, True))
        if cell in here.enter and not fresh:
            continue
        for target, _, cost, need in here[cell]:
            extra = here.cost_of(need, abilities, relaxed=False)
            if extra >= 0:
                heapq.heappush(heap, (spent + cost + extra, Place(place.map_id, *here.grid.tile_of(target)), False))
    best: dict[Place, int] = {}
    for (place, _), spent in done.items():
        best[place] = min(spent, best.get(place, spent))
    return best


def beyond_edge(way: Way, here: MapSteps, steps: dict[int, MapSteps], abilities: Abilities) -> int:
    """Return the cost of arriving over an edge beyond the step, below 0 if it is impossible."""
    assert way.arrival is not None
    there = steps[way.arrival.map_id]
    arrival = there.grid.cell(way.arrival.x, way.arrival.y)
    need = there.into(arrival, way.press, from_water=here.is_water(here.grid.cell(way.x, way.y)))
    return -1 if need is None else there.cost_of(need, abilities, relaxed=False)


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


def kind_at(world: CartridgeWorld, place: Place) -> int:
    here = world.map(place.map_id)
    assert here is not None
    return world.rules.kind[here.grid.tiles[here.grid.cell(place.x, place.y)]]


def mixed_world(crystal: GameProfile, seed: int) -> CartridgeWorld:
    """Return three maps in a row, of land, water, walls and grass in any order, with doors between the outer ones."""
    generator = random.Random(seed)
    maps = []
    for number in (1, 2, 3):
        inner = ["".join(generator.choices(".~#gv", (9, 3, 5, 1, 1), k=6)) for _ in range(10)]
        rows = [generator.choice("..~") + row + generator.choice("..~") for row in inner]
        joins = {EAST: (1, number + 1, 0, 0)} if number < 3 else {}
        joins |= {WEST: (1, number - 1, 0, 7)} if number > 1 else {}
        warps = [(4, 4, 1, 1, 4 - number)] if number != 2 else []
        if warps:
            rows[4] = rows[4][:4] + "D" + rows[4][5:]
        maps.append(TestMap(1, number, rows, warps, joins))
    return world_of(crystal, *maps)


@pytest.mark.parametrize("moves", [(), ("surf",)], ids=["on foot", "surfing"])
@pytest.mark.parametrize("seed", range(25))
def test_a_way_is_found_exactly_where_there_is_one(crystal: GameProfile, seed: int, moves: tuple[str, ...]) -> None:
    world = mixed_world(crystal, seed)
    planner, abilities = RoutePlanner(world), Abilities.of(moves)
    generator = random.Random(seed)
    checked = 0
    while checked < 6:
        start, goal = (
            Place(0x101 + generator.randrange(3), generator.randrange(8), generator.randrange(10)) for _ in range(2)
        )
        if kind_at(world, start) != LAND or kind_at(world, goal) == WALL:
            continue
        checked += 1
        costs = shortest(world, start, abilities, planner.costs)
        route = planner.route(start, goal, abilities)
        assert (route is None) is (goal not in costs), (start, goal)
        if route is None:
            assert planner.blocked_by(start, goal, abilities) != ()
        else:
            check(world, route, start)
            assert costs[goal] <= route.cost <= costs[goal] + WIDEST
            assert planner.blocked_by(start, goal, abilities) == ()


@pytest.mark.parametrize("seed", range(12))
def test_ways_over_many_maps_are_about_the_shortest(crystal: GameProfile, seed: int) -> None:
    world = random_world(crystal, seed)
    planner = RoutePlanner(world)
    generator = random.Random(seed)
    found = exact = 0
    for _ in range(8):
        start, goal = (
            Place(0x100 + generator.randrange(1, 10), generator.randrange(12), generator.randrange(10))
            for _ in range(2)
        )
        here, there = world.map(start.map_id), world.map(goal.map_id)
        assert here is not None and there is not None
        if world.rules.kind[there.grid.tiles[there.grid.cell(goal.x, goal.y)]] == 2:
            continue
        costs = shortest(world, start, Abilities(), planner.costs)
        route = planner.route(start, goal, Abilities())
        assert (route is None) is (goal not in costs), (start, goal)
        if route is not None:
            check(world, route, start)
            # an edge counts as one gate during the choice of maps, which may cost a step or two
            assert costs[goal] <= route.cost <= costs[goal] * 1.1
            exact += route.cost == costs[goal]
            found += 1
    assert exact >= found - 1 > 0


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
