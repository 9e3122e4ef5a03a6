"""Maps that the story changed: routes use them as they were last seen."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from support.world_image import TestMap, WorldImage

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.profile.story_blocks import Block, StoryBlocks
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.cartridge_world import CartridgeWorld
from pkmn_pyboy.world.changed_world import ChangedWorld
from pkmn_pyboy.world.records import Place
from pkmn_pyboy.world.route_planner import RoutePlanner

HERE, CELLAR = 257, 258
FLOOR, STAIRS, TREE = 0x00, 0x7A, 0x12
OPENED = 771


@pytest.fixture
def walled(crystal: GameProfile) -> CartridgeWorld:
    image = WorldImage()
    image.add(TestMap(1, 1, ["..#...", "..#..."]))
    rom, profile = image.build(crystal)
    return CartridgeWorld(rom, profile)


def test_a_way_that_was_opened_is_taken_and_one_that_was_closed_again_is_not(walled: CartridgeWorld) -> None:
    world = ChangedWorld(walled)
    planner = RoutePlanner(world)
    start, end, nothing = Place(HERE, 0, 0), Place(HERE, 5, 0), Abilities.of(())
    before = walled.map(HERE)
    assert before is not None
    assert planner.route(start, end, nothing) is None
    tiles = bytearray(before.grid.tiles)
    tiles[before.grid.cell(2, 1)] = FLOOR
    tiles[0] ^= 0xFF  # beyond the edge, which belongs to another map
    opened = replace(before.grid, tiles=bytes(tiles))
    world.note(opened)
    route = planner.route(start, end, nothing)
    assert route is not None
    assert (2, 1) in route.legs[0].tiles
    version = world.version
    world.note(opened)
    assert world.version == version

    other = ChangedWorld(walled)
    other.load_state(json.loads(json.dumps(world.save_state())))
    assert other.map(HERE) == world.map(HERE)
    assert walled.map(HERE) is before

    world.note(before.grid)
    assert planner.route(start, end, nothing) is None
    assert str(HERE) not in world.save_state()
    other.clear()
    assert other.map(HERE) is before


@pytest.fixture
def covered(crystal: GameProfile) -> CartridgeWorld:
    """Return a room whose stairs to the cellar are covered by floor until an event is set, with a tree in it."""
    image = WorldImage()
    number = image.block("..S.")
    image.add(
        TestMap(1, 1, ["......", "......", "..T...", "......"], warps=[(4, 1, 1, 1, 2)]),
        TestMap(1, 2, ["....", ".S.."], warps=[(1, 1, 1, 1, 1)]),
    )
    rom, profile = image.build(crystal)
    changed = {HERE: StoryBlocks(HERE, (), {OPENED: (Block(4, 0, number),)})}
    return CartridgeWorld(rom, replace(profile, world=replace(profile.world, changed=changed)))


def test_stairs_that_the_story_uncovers_are_a_way_out_from_then_on(covered: CartridgeWorld) -> None:
    world = ChangedWorld(covered)
    planner = RoutePlanner(world)
    start = Place(HERE, 0, 0)
    assert planner.route(start, CELLAR, Abilities()) is None
    assert not world.follow({5, OPENED + 1})
    assert world.follow({OPENED})
    route = planner.route(start, CELLAR, Abilities())
    assert route is not None
    assert route.legs[0].tiles[-1] == (4, 1)
    assert [way.arrival for way in world.exits(HERE)] == [Place(CELLAR, 1, 1)]
    assert world.follow(())
    assert planner.route(start, CELLAR, Abilities()) is None


def test_stairs_that_were_seen_are_a_way_out_though_nothing_tells_of_them(covered: CartridgeWorld) -> None:
    world = ChangedWorld(covered)
    planner = RoutePlanner(world)
    before = covered.map(HERE)
    assert before is not None
    tiles = bytearray(before.grid.tiles)
    tiles[before.grid.cell(4, 1)] = STAIRS
    assert world.note(replace(before.grid, tiles=bytes(tiles)))
    assert planner.route(Place(HERE, 0, 0), CELLAR, Abilities()) is not None


def test_what_was_seen_counts_until_a_flag_changes_it(covered: CartridgeWorld) -> None:
    world = ChangedWorld(covered)
    world.follow({OPENED})
    told = world.map(HERE)
    assert told is not None
    grid = told.grid
    tiles = bytearray(grid.tiles)
    tiles[grid.cell(4, 1)], tiles[grid.cell(0, 3)] = FLOOR, STAIRS
    assert world.note(replace(grid, tiles=bytes(tiles)))
    assert not world.exits(HERE)  # the seen floor counts, for any flags

    other = ChangedWorld(covered)
    other.load_state(json.loads(json.dumps(world.save_state())))
    assert other.map(HERE) == world.map(HERE)
    for each in (world, other):
        each.follow(())
        each.follow({OPENED})
        assert [way.arrival for way in each.exits(HERE)] == [Place(CELLAR, 1, 1)]
        here = each.map(HERE)
        assert here is not None
        assert here.grid.tiles[grid.cell(0, 3)] == STAIRS  # no flag affects that tile


def test_what_changes_on_the_map_where_one_stands_is_known_but_for_trees_that_grow_again(
    covered: CartridgeWorld,
) -> None:
    world = ChangedWorld(covered)
    before = covered.map(HERE)
    assert before is not None
    grid = before.grid
    world.note(grid)
    tiles = bytearray(grid.tiles)
    tree = grid.cell(2, 2)
    assert tiles[tree] == TREE
    tiles[tree] = FLOOR
    cut = replace(grid, tiles=bytes(tiles))
    assert not world.note(cut, arrived=False)
    other = ChangedWorld(covered)
    other.load_state(json.loads(json.dumps(world.save_state())))
    tiles[grid.cell(4, 1)] = STAIRS
    opened = replace(grid, tiles=bytes(tiles))
    for each in (world, other):
        assert each.note(opened, arrived=False)
        assert not each.note(opened, arrived=False)
        here = each.map(HERE)
        assert here is not None
        assert (here.grid.tiles[tree], here.grid.tiles[grid.cell(4, 1)]) == (TREE, STAIRS)
    # a player who enters and finds the tree gone knows that it stays gone
    assert world.note(opened)
    here = world.map(HERE)
    assert here is not None
    assert here.grid.tiles[tree] == FLOOR


def test_flags_are_read_as_the_game_keeps_them(covered: CartridgeWorld) -> None:
    world = ChangedWorld(covered)
    flags = bytearray(256)
    assert not world.follow_bytes(bytes(flags))
    flags[OPENED >> 3] |= 1 << (OPENED & 7)
    assert world.follow_bytes(bytes(flags))
    assert world.exits(HERE)
    assert not world.follow_bytes(bytes(flags))
    version = world.version
    world.clear()
    assert world.version > version
    assert not world.exits(HERE)


def test_blocks_that_make_no_sense_leave_the_map_as_it_is(crystal: GameProfile) -> None:
    image = WorldImage()
    image.add(TestMap(1, 1, ["....", "...."]))
    rom, profile = image.build(crystal)
    changed = {HERE: StoryBlocks(HERE, (Block(8, 0, 0),))}
    covered = CartridgeWorld(rom, replace(profile, world=replace(profile.world, changed=changed)))
    world = ChangedWorld(covered)
    assert not world.follow(())
    assert world.map(HERE) == covered.map(HERE)
    assert "block (8,0)" in covered.problems[HERE]


@pytest.mark.parametrize(
    ("flags", "there"),
    [
        ((), {(2, 2): 1, (4, 0): 46}),
        ((672,), {(4, 0): 46}),
        ((806,), {(2, 2): 1}),
        ((672, 806), {}),
        ((900,), {(2, 2): 1, (4, 0): 46, (6, 6): 9}),
        ((672, 806, 900), {(6, 6): 9}),
    ],
)
def test_a_block_is_there_with_the_events_that_set_it_and_without_those_that_take_it_away(
    flags: tuple[int, ...], there: dict[tuple[int, int], int]
) -> None:
    first, second, third = Block(2, 2, 1), Block(4, 0, 46), Block(6, 6, 9)
    story = StoryBlocks(HERE, (first, second), {672: (second,), 806: (first,), 900: (first, second, third)})
    assert story.now(flags) == there
