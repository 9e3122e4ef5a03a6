"""The bundled game's maps in memory: walking agrees with the grid."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.state.game_state import Phase
from pkmn_pyboy.world.loaded_map import LoadedMap
from pkmn_pyboy.world.map_exits import exits_of
from pkmn_pyboy.world.map_moves import Costs, MapMoves
from pkmn_pyboy.world.records import ENTER
from pkmn_pyboy.world.tile_rules import PRESSES
from pkmncli.api import Action

MakeEnvironment = Callable[..., PokemonEnvironment]


def play_to(environment: PokemonEnvironment, milestone: str) -> None:
    """Play with the pilot until a milestone is reached."""
    pilot = RulesPilot(environment)
    environment.reset(seed=1)
    pilot.reset(1)
    wanted = list(environment.milestone_names).index(milestone)
    while environment.milestones.steps[wanted] < 0:
        assert environment.steps < 1000
        environment.advance(pilot.act(None).action)
    while environment.state.phase is not Phase.FREE:
        environment.advance(pilot.act(None).action)


def test_the_bedroom_has_one_exit(make: MakeEnvironment) -> None:
    environment = make(observation_type="state")
    environment.reset(seed=1)
    loaded = LoadedMap(environment.emulator, environment.profile)
    here = loaded.read(environment.state.map_id)
    grid, exits = here.grid, exits_of(here, loaded.rules)
    assert (grid.width, grid.height) == (8, 6)
    assert len(exits) == 1
    assert exits[0].ends == {grid.cell(7, 0): ENTER}
    assert environment.names["maps"][exits[0].destination] == "Home 1F"


@pytest.mark.long
def test_walking_does_what_the_grid_says(make: MakeEnvironment) -> None:
    environment = make(observation_type="state", max_steps_per_episode=3000)
    play_to(environment, "outside")
    loaded = LoadedMap(environment.emulator, environment.profile)
    generator = random.Random(1)
    checked = 0
    for _ in range(400):
        state = environment.state
        if state.phase is not Phase.FREE:
            environment.advance(int(Action.B))
            continue
        direction = generator.randrange(4)
        here = loaded.read(state.map_id)
        grid, start = here.grid, here.grid.cell(state.x, state.y)
        ends = {cell: press for one in exits_of(here, loaded.rules) for cell, press in one.ends.items()}
        moves = MapMoves(here, loaded.rules, loaded.openers, Costs())[start]
        target = next((to for to, way, _, need in moves if way == direction and not need), start)
        somebody = {grid.cell(*place) for place in loaded.nearby().values()}
        environment.advance(int(PRESSES[direction]))
        after = environment.state
        if ends.get(start) == direction or ends.get(target) == ENTER:
            continue
        if after.phase is not Phase.FREE or somebody & {start + delta for delta in grid.deltas}:
            continue
        assert (after.x, after.y) == grid.tile_of(target), f"from {state.position} towards {direction}"
        checked += 1
    assert checked > 200


def test_the_laboratory_has_its_people_and_capsules(make: MakeEnvironment) -> None:
    environment = make(observation_type="state")
    play_to(environment, "enter_lab")
    loaded = LoadedMap(environment.emulator, environment.profile)
    before = {(person.x, person.y) for person in loaded.people()}
    assert {(5, 2), (6, 3), (7, 3), (8, 3)} <= before
    assert set(loaded.nearby().values()) == before


def test_people_hidden_by_the_story_are_gone(make: MakeEnvironment) -> None:
    environment = make(observation_type="state")
    play_to(environment, "starter")
    loaded = LoadedMap(environment.emulator, environment.profile)
    assert (7, 3) not in {(person.x, person.y) for person in loaded.people()}
