"""Facts that were checked on a real Pokemon Crystal. They need your own image, named by a variable."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.rules_gen2.records import EvolutionKind
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.cartridge import Cartridge
from pkmn_pyboy.world.records import Place, Role
from pkmn_pyboy.world.route_planner import RoutePlanner

VARIABLE = "PKMN_TEST_CRYSTAL_ROM"
BEDROOM, ROUTE_29, VIOLET_GYM, INDIGO = Place(24 << 8 | 7, 3, 3), 24 << 8 | 3, 10 << 8 | 7, 16 << 8 | 2

pytestmark = pytest.mark.skipif(
    VARIABLE not in os.environ, reason=f"{VARIABLE} names no image of Pokemon Crystal (English 1.0 or 1.1)"
)


@pytest.fixture(scope="module")
def own(crystal: GameProfile) -> Cartridge:
    return Cartridge(Path(os.environ[VARIABLE]).read_bytes(), crystal)


def test_all_maps_and_what_is_on_them(own: Cartridge) -> None:
    maps = [own.world.map(map_id) for map_id in own.world.map_ids()]
    assert len(maps) == 388
    assert not own.world.problems
    assert sum(len(one.warps) for one in maps if one is not None) == 1312
    assert sum(len(one.connections) for one in maps if one is not None) == 142
    assert 1400 < sum(len(one.people) for one in maps if one is not None) <= 1466, "those outside of maps are left out"
    roles = {person.role for one in maps if one is not None for person in one.people}
    assert roles == set(Role)


def test_who_lives_on_route_29_by_day(own: Cartridge) -> None:
    grass = next(table for table in own.wild_on(ROUTE_29) if not table.water)
    met = {(slot.species, slot.level) for slot in grass.at(1)}
    assert {species for species, _ in met} == {16, 161, 187, 19}
    assert {level for species, level in met if species in (16, 161)} == {2, 3}
    assert (187, 3) in met
    assert (19, 2) in met


def test_the_first_leader_and_the_first_starter(own: Cartridge) -> None:
    assert [(one.level, one.species) for one in own.trainers[1, 1].party] == [(7, 16), (9, 17)]
    starter = own.species[158]
    assert (13, 55) in starter.learns
    assert [(one.kind, one.parameter) for one in starter.evolutions] == [(EvolutionKind.LEVEL, 18)]
    move = own.moves[55]
    assert (move.power, move.type, move.accuracy, move.pp) == (40, 21, 255, 25)
    assert (len(own.species), len(own.moves), len(own.growth_rates)) == (251, 251, 6)


def test_the_ways_from_the_bedroom(own: Cartridge) -> None:
    planner = RoutePlanner(own.world)
    for goal in (VIOLET_GYM, INDIGO):
        route = planner.route(BEDROOM, goal, Abilities.everything(), through_obstacles=True)
        assert route is not None
    gym = planner.route(BEDROOM, VIOLET_GYM, Abilities.everything())
    assert gym is not None
    assert len(gym.legs) <= 14
    assert gym.tiles <= 400
