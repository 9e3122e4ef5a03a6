"""World as far as it was seen: empty at first, then the visited maps and the exits that were taken."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import Phase
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.cartridge_world import CartridgeWorld
from pkmn_pyboy.world.observer import WorldObserver
from pkmn_pyboy.world.records import MapPerson, Place
from pkmn_pyboy.world.route_planner import RoutePlanner
from pkmn_pyboy.world.seen_world import UNSEEN, SeenWorld
from pkmn_pyboy.world.tile_rules import LAND, WALL, MapGrid

TOWN, HOUSE, UPSTAIRS, TRAIL = 0x101, 0x102, 0x103, 0x201
CAVE = 0x0904
BED = Place(UPSTAIRS, 3, 3)


@pytest.fixture(scope="module")
def real(quillwood: GameProfile, rom_path: Path) -> CartridgeWorld:
    return CartridgeWorld(rom_path.read_bytes(), quillwood)


def see(world: SeenWorld, real: CartridgeWorld, map_id: int, gone: Collection[int] = ()) -> bool:
    """Record a view of the loaded map."""
    here = real.map(map_id)
    assert here is not None
    return world.learn(
        here.grid,
        [(warp.x, warp.y, warp.back) for warp in here.warps],
        [
            MapPerson(one.number, one.x, one.y, one.role, walks=one.walks)
            for one in here.people
            if one.number not in gone
        ],
        [(sign.x, sign.y) for sign in here.signs],
        [joined.direction for joined in here.connections],
    )


def test_nothing_is_known_at_first(quillwood: GameProfile) -> None:
    world = SeenWorld(quillwood)
    assert not world.map_ids()
    assert world.map(TOWN) is None
    planner = RoutePlanner(world)
    assert planner.route(BED, TOWN, Abilities()) is None
    assert planner.nearest(BED, "grass", Abilities()) is None


def test_exits_lead_somewhere_once_they_were_taken(quillwood: GameProfile, real: CartridgeWorld) -> None:
    world, planner = SeenWorld(quillwood), None
    assert see(world, real, UPSTAIRS)
    assert not see(world, real, UPSTAIRS), "there is nothing new in a second look"
    planner = RoutePlanner(world)
    unseen = planner.nearest(BED, "unseen", Abilities())
    assert unseen is not None
    assert (unseen.goal, unseen.legs[-1].press) == (Place(UPSTAIRS, 7, 0), -1)
    assert planner.route(BED, HOUSE, Abilities()) is None
    assert see(world, real, HOUSE)
    assert planner.route(BED, HOUSE, Abilities()) is None, "seen, but not how one gets there"
    assert world.learn_exit(Place(UPSTAIRS, 7, 0), Place(HOUSE, 9, 0))
    assert not world.learn_exit(Place(UPSTAIRS, 7, 0), Place(HOUSE, 9, 0))
    route = planner.route(BED, HOUSE, Abilities())
    assert route is not None
    assert route.legs[0].leads_to == Place(HOUSE, 9, 0)
    back = planner.route(Place(HOUSE, 5, 5), UPSTAIRS, Abilities())
    assert back is not None, "the staircase that one came down leads up again"
    assert back.legs[0].leads_to == Place(UPSTAIRS, 7, 0)
    farther = planner.nearest(BED, "unseen", Abilities(), visited=[HOUSE])
    assert farther is not None
    assert farther.goal.map_id == HOUSE


def with_two_pads(quillwood: GameProfile) -> tuple[SeenWorld, Place, Place]:
    """Return a cave whose two halves are joined only by a pair of pads, seen as far as possible."""
    world = SeenWorld(quillwood)
    pad, wall = min(world.rules.warps), next(value for value in range(256) if world.rules.kind[value] == WALL)
    rows = [[pad, 0, wall, 0, 0], [0, 0, wall, 0, pad]]
    tiles = bytearray([wall] * 7 * 4)
    for y, row in enumerate(rows, 1):
        tiles[y * 7 + 1 : y * 7 + 6] = bytes(row)
    world.learn(MapGrid(CAVE, 5, 2, bytes(tiles)), [(0, 0, False), (4, 1, False)])
    return world, Place(CAVE, 0, 0), Place(CAVE, 4, 1)


def test_an_exit_may_lead_elsewhere_on_its_own_map(quillwood: GameProfile) -> None:
    world, one, other = with_two_pads(quillwood)
    planner = RoutePlanner(world)
    assert planner.route(Place(CAVE, 1, 1), Place(CAVE, 3, 0), Abilities()) is None
    assert world.learn_exit(one, other)
    assert not world.learn_exit(one, other)
    route = planner.route(Place(CAVE, 1, 1), Place(CAVE, 3, 0), Abilities())
    assert route is not None
    assert [leg.leads_to for leg in route.legs] == [other, None]
    assert planner.nearest(Place(CAVE, 1, 1), "unseen", Abilities(), visited=[CAVE]) is None, "both ends are known"


def test_whoever_leaps_from_pad_to_pad_is_seen_to(
    quillwood: GameProfile, make: Callable[..., PokemonEnvironment]
) -> None:
    world, one, other = with_two_pads(quillwood)
    environment = make()
    observer = WorldObserver(environment.emulator, quillwood, world)

    def walks_on(x: int, y: int) -> bool:
        return observer.note(
            environment.state._replace(map_group=CAVE >> 8, map_number=CAVE & 0xFF, x=x, y=y, phase=Phase.MOVING)
        )

    assert [walks_on(x, y) for x, y in ((1, 1), (0, 1), (0, 0))] == [False] * 3
    assert walks_on(other.x, other.y)
    assert {way.arrival for way in world.exits(CAVE)} == {one, other}
    assert not walks_on(3, 1)


def test_an_edge_is_known_along_all_its_length(quillwood: GameProfile, real: CartridgeWorld) -> None:
    world = SeenWorld(quillwood)
    see(world, real, TOWN)
    see(world, real, TRAIL)
    planner = RoutePlanner(world)
    assert planner.route(Place(TOWN, 5, 8), TRAIL, Abilities()) is None
    world.learn_exit(Place(TOWN, 0, 8), Place(TRAIL, 39, 8))
    ways = {(way.x, way.y): way.arrival for way in world.exits(TOWN) if not way.warp}
    assert ways == {(0, 8): Place(TRAIL, 39, 8), (0, 9): Place(TRAIL, 39, 9)}
    assert planner.route(Place(TOWN, 5, 8), TRAIL, Abilities()) is not None
    back = planner.route(Place(TRAIL, 30, 8), TOWN, Abilities())
    assert back is not None, "who came over an edge knows the way back"
    assert back.legs[0].leads_to in (Place(TOWN, 0, 8), Place(TOWN, 0, 9))


def test_it_is_saved_and_goes_on(quillwood: GameProfile, real: CartridgeWorld) -> None:
    world = SeenWorld(quillwood)
    for map_id in (UPSTAIRS, HOUSE, TOWN):
        see(world, real, map_id)
    world.learn_exit(Place(UPSTAIRS, 7, 0), Place(HOUSE, 9, 0))
    world.learn_exit(Place(HOUSE, 5, 7), Place(TOWN, 4, 4))
    state = json.loads(json.dumps(world.save_state()))
    other = SeenWorld(quillwood)
    see(other, real, TRAIL)
    before = other.version
    other.load_state(state)
    assert other.version > before
    assert other.map_ids() == world.map_ids() == (TOWN, HOUSE, UPSTAIRS)
    assert [other.map(one) for one in other.map_ids()] == [world.map(one) for one in world.map_ids()]
    assert [other.exits(one) for one in other.map_ids()] == [world.exits(one) for one in world.map_ids()]
    route = RoutePlanner(other).route(BED, TOWN, Abilities())
    assert route is not None
    assert route.maps == (UPSTAIRS, HOUSE, TOWN)
    assert json.dumps(other.save_state()) == json.dumps(state)


@pytest.mark.parametrize(
    "damage", [{}, {"maps": 3, "ways": []}, {"maps": [{"id": 1}], "ways": []}, {"maps": [], "ways": [[1]]}]
)
def test_a_damaged_state_is_refused(quillwood: GameProfile, damage: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        SeenWorld(quillwood).load_state(damage)


def test_who_went_is_no_longer_in_the_way(quillwood: GameProfile, real: CartridgeWorld) -> None:
    world = SeenWorld(quillwood)
    cave = 0x205
    see(world, real, cave)
    keeper = next(one for one in real.map(cave).people if (one.x, one.y) == (18, 3))  # type: ignore[union-attr]
    planner, start, beyond = RoutePlanner(world), Place(cave, 18, 30), Place(cave, 18, 1)
    assert planner.route(start, beyond, Abilities()) is None
    assert see(world, real, cave, {keeper.number})
    assert not see(world, real, cave, {keeper.number})
    assert planner.route(start, beyond, Abilities()) is not None


def test_the_verge_is_where_more_can_be_seen(quillwood: GameProfile, real: CartridgeWorld) -> None:
    town = real.map(TOWN)
    assert town is not None
    grid = town.grid
    tiles = bytearray(grid.tiles)
    for y in range(-1, grid.height + 1):
        tiles[grid.cell(7, y) : grid.cell(grid.width, y) + 1] = bytes([UNSEEN]) * (grid.width - 6)
    world = SeenWorld(quillwood)
    world.learn(MapGrid(TOWN, grid.width, grid.height, bytes(tiles)), edges=[2])
    walks = [y for y in range(grid.height) if world.rules.kind[grid.tiles[grid.cell(6, y)]] == LAND]
    assert walks
    assert world.verge(TOWN) == {(6, y) for y in walks}
    see(world, real, TOWN)
    assert world.verge(TOWN) == frozenset()
    world.clear()
    assert world.map(TOWN) is None
    assert world.verge(TOWN) == frozenset()
