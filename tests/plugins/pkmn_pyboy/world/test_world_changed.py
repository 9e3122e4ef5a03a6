"""A map that the story changed is planned over as it was last seen."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from world_image import TestMap, WorldImage

from pkmn_pyboy.profile import GameProfile
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.cartridge_world import CartridgeWorld
from pkmn_pyboy.world.changed_world import ChangedWorld
from pkmn_pyboy.world.planner import RoutePlanner
from pkmn_pyboy.world.records import Place

HERE = 257
FLOOR = 0x00


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
    tiles[0] ^= 0xFF  # beyond the edge, which is none of this map's business
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
    assert world.save_state() == {}
    other.clear()
    assert other.map(HERE) is before
