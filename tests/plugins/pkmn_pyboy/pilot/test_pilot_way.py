"""The pilot walks the route that the world's planner finds from the bed to the last house."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.cartridge import Cartridge
from pkmn_pyboy.world.records import Place
from pkmn_pyboy.world.route_planner import RoutePlanner

MakeEnvironment = Callable[..., PokemonEnvironment]
Crossing = tuple[int, int]
MOST_STEPS = 9000


@pytest.mark.long
def test_the_pilot_walks_the_route_that_was_planned_at_the_bed(make: MakeEnvironment) -> None:
    environment = make(observation_type="state", max_steps_per_episode=MOST_STEPS, goal="game_won")
    environment.reset(seed=0)
    bed = Place(*environment.state.position)
    house = next(number for number, name in environment.profile.names.maps.items() if name == "Summit House")
    planner = RoutePlanner(Cartridge(environment.rom.data, environment.profile).world)
    route = planner.route(bed, house, Abilities.everything())
    assert route is not None
    planned = [leg.map_id for leg in route.legs]
    assert planned[0] == bed.map_id
    assert planned[-1] == house
    left_from = {
        (leg.map_id, after.map_id): leg.tiles[-1] for leg, after in zip(route.legs, route.legs[1:], strict=False)
    }

    pilot = RulesPilot(environment, PilotSettings())
    pilot.reset(0)
    first_came: dict[int, Crossing] = {}
    tiles: dict[Crossing, set[tuple[int, int]]] = {}
    done, before = False, environment.state
    while not done:
        done = any(environment.advance(pilot.act(None).action)[1:])
        after = environment.state
        if after.map_id != before.map_id:
            crossing = (before.map_id, after.map_id)
            first_came.setdefault(after.map_id, crossing)
            tiles.setdefault(crossing, set()).add((before.x, before.y))
        before = after
    assert environment.state.map_id == house, "the pilot has not won"

    for crossing, (x, y) in left_from.items():
        assert crossing in tiles, f"the pilot never went from {crossing[0]:#x} to {crossing[1]:#x}"
        # The tile that it left from is the planned one, or its neighbour in a door or edge with several tiles.
        assert first_came[crossing[1]] == crossing, f"it first came to {crossing[1]:#x} another way"
        assert any(abs(x - at_x) + abs(y - at_y) <= 1 for at_x, at_y in tiles[crossing]), (
            crossing,
            (x, y),
            tiles[crossing],
        )
