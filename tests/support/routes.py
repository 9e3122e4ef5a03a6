"""Made worlds for the planner of routes, and a check that a route can be walked."""

from __future__ import annotations

from itertools import pairwise

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.world.cartridge_world import CartridgeWorld
from pkmn_pyboy.world.map_moves import Costs, MapMoves
from pkmn_pyboy.world.records import Place
from pkmn_pyboy.world.route import Route
from support.world_image import TestMap, WorldImage

HERE = 0x101
"""First map of a made world."""


def world_of(crystal: GameProfile, *maps: TestMap) -> CartridgeWorld:
    image = WorldImage()
    image.add(*maps)
    rom, profile = image.build(crystal)
    return CartridgeWorld(rom, profile)


def check(world: CartridgeWorld, route: Route, start: Place) -> None:
    """Check that a route is connected: each move is allowed, each leg ends at an exit that leads to the next."""
    place = start
    for index, leg in enumerate(route.legs):
        here = world.map(leg.map_id)
        assert here is not None
        assert Place(leg.map_id, *leg.tiles[0]) == place
        steps = MapMoves(here, world.rules, world.openers, Costs())
        for before, after in pairwise(leg.tiles):
            assert here.grid.cell(*after) in [target for target, *_ in steps[here.grid.cell(*before)]]
        if index + 1 == len(route.legs):
            assert leg.leads_to is None
            continue
        assert leg.leads_to is not None
        assert any(
            (way.x, way.y, way.press, way.arrival) == (*leg.tiles[-1], leg.press, leg.leads_to)
            for way in world.exits(leg.map_id)
        )
        place = leg.leads_to
