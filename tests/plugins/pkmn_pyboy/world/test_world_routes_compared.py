"""Routes through random worlds, compared with a slow and simple search over all tiles."""

from __future__ import annotations

import heapq
import random

import pytest
from support.routes import check, world_of
from support.variants import long_after
from support.world_image import EAST, NORTH, SOUTH, WEST, TestMap

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.cartridge_world import CartridgeWorld
from pkmn_pyboy.world.map_moves import Costs, MapMoves
from pkmn_pyboy.world.records import ENTER, ExitTile, Place
from pkmn_pyboy.world.route_planner import RoutePlanner
from pkmn_pyboy.world.tile_rules import LAND, WALL

WIDEST = 10
"""Tiles of the widest edge of the mixed worlds: the maximum cost of choosing a piece of it by its nearest tile."""


def shortest(world: CartridgeWorld, start: Place, abilities: Abilities, costs: Costs) -> dict[Place, int]:
    """Return the cost of every place, by one search over all tiles of all maps: slow, but simple and correct."""
    steps = {}
    for map_id in world.map_ids():
        here = world.map(map_id)
        assert here is not None
        steps[map_id] = MapMoves(here, world.rules, world.openers, costs)
    done: dict[tuple[Place, bool], int] = {}
    heap = [(0, start, True)]
    while heap:
        spent, place, fresh = heapq.heappop(heap)
        if (place, fresh) in done:
            continue
        done[place, fresh] = spent
        here = steps[place.map_id]
        cell = here.grid.cell(place.x, place.y)
        for way in world.exits(place.map_id):
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


def beyond_edge(way: ExitTile, here: MapMoves, steps: dict[int, MapMoves], abilities: Abilities) -> int:
    """Return the cost of arriving over an edge beyond the step, below 0 if it is impossible."""
    assert way.arrival is not None
    there = steps[way.arrival.map_id]
    arrival = there.grid.cell(way.arrival.x, way.arrival.y)
    need = there.into(arrival, way.press, from_water=here.is_water(here.grid.cell(way.x, way.y)))
    return -1 if need is None else there.cost_of(need, abilities, relaxed=False)


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


@pytest.mark.parametrize("seed", long_after(1, range(12)))
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
        if kind_at(world, goal) == WALL:
            continue
        costs = shortest(world, start, Abilities(), planner.costs)
        route = planner.route(start, goal, Abilities())
        assert (route is None) is (goal not in costs), (start, goal)
        if route is not None:
            check(world, route, start)
            # an edge counts as one link during the choice of maps, which may cost a step or two
            assert costs[goal] <= route.cost <= costs[goal] * 1.1
            exact += route.cost == costs[goal]
            found += 1
    assert exact >= found - 1 > 0
