"""Agreement of image and memory of the running game, and planned routes that can be walked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.state.game_state import Phase
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.cartridge_world import CartridgeWorld
from pkmn_pyboy.world.loaded_map import LoadedMap
from pkmn_pyboy.world.map_exits import exits_of
from pkmn_pyboy.world.observer import WorldObserver
from pkmn_pyboy.world.records import ENTER, NO_FLAG, Place
from pkmn_pyboy.world.route import Leg
from pkmn_pyboy.world.route_planner import RoutePlanner
from pkmn_pyboy.world.seen_world import SeenWorld
from pkmn_pyboy.world.tile_rules import PRESSES
from pkmncli.api import Action

MakeEnvironment = Callable[..., PokemonEnvironment]
OUTSIDE = 0x101


def settle(environment: PokemonEnvironment) -> None:
    """Wait and close messages until the player can walk."""
    for _ in range(60):
        if environment.state.phase is Phase.FREE:
            return
        environment.advance(int(Action.B if environment.state.phase is Phase.DIALOGUE else Action.NONE))
    raise AssertionError(f"no control, but {environment.state.phase}")


def walk(environment: PokemonEnvironment, leg: Leg, observer: WorldObserver) -> None:
    """Walk a leg tile by tile, and leave the map by it."""
    for (x, y), (to_x, to_y) in zip(leg.tiles, leg.tiles[1:], strict=False):
        direction = 3 if to_x > x else 2 if to_x < x else 0 if to_y > y else 1
        environment.advance(int(PRESSES[direction]))
        observer.note(environment.state)
        if environment.state.map_id == leg.map_id and environment.state.phase is Phase.FREE:
            assert (environment.state.x, environment.state.y) == (to_x, to_y)
    if leg.press != ENTER:
        environment.advance(int(PRESSES[leg.press]))
    settle(environment)
    observer.note(environment.state)


def compare(environment: PokemonEnvironment, world: CartridgeWorld) -> None:
    """Compare the loaded map in memory with the map in the image."""
    reader = LoadedMap(environment.emulator, environment.profile)
    loaded, here = reader.read(environment.state.map_id), world.map(environment.state.map_id)
    assert here is not None
    assert (loaded.grid, loaded.name, loaded.warps) == (here.grid, here.name, here.warps)
    assert (loaded.connections, loaded.triggers) == (here.connections, here.triggers)
    assert loaded.signs == tuple(replace(sign, item=0, flag=NO_FLAG) for sign in here.signs)
    placed = {person.number: person for person in here.people}
    for person in reader.people():
        same = placed[person.number]
        assert (person.sprite, person.movement, person.radius) == (same.sprite, same.movement, same.radius)
        assert (person.hours, person.flag, person.sight) == (same.hours, same.flag, same.sight)
    found = [(loaded.grid.tile_of(end), way) for one in exits_of(loaded, reader.rules) for end, way in one.ends.items()]
    assert set(found) == {((way.x, way.y), way.press) for way in world.exits(here.map_id)}
    assert len(set(found)) == len(found)


def test_the_way_out_of_the_house_is_walked_as_planned_and_leads_back(make: MakeEnvironment) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=3)
    settle(environment)
    world = CartridgeWorld(environment.rom.data, environment.profile)
    planner = RoutePlanner(world)
    first = planner.route(Place(*environment.state.position), OUTSIDE, Abilities())
    assert first is not None
    seen = SeenWorld(environment.profile)
    observer = WorldObserver(environment.emulator, environment.profile, seen)
    walked = [environment.state.map_id]
    while environment.state.map_id != OUTSIDE:
        compare(environment, world)
        # the game itself takes a step out of a door or off a staircase, so the route is planned again from there
        route = planner.route(Place(*environment.state.position), OUTSIDE, Abilities())
        assert route is not None
        observer.note(environment.state)
        walk(environment, route.legs[0], observer)
        walked.append(environment.state.map_id)
        assert len(walked) <= len(first.legs)
    compare(environment, world)
    assert tuple(walked) == first.maps
    assert seen.map_ids() == tuple(sorted(walked))
    bed = first.legs[0].tiles[0]
    home = RoutePlanner(seen).route(Place(*environment.state.position), Place(first.legs[0].map_id, *bed), Abilities())
    assert home is not None, "what was seen leads home again"
    assert home.maps == first.maps[::-1]
