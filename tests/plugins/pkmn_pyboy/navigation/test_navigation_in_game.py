"""The bundled game's maps in memory: walking agrees with the grid."""

from __future__ import annotations

import random
from collections.abc import Callable

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.navigation.exits import ENTER, ExitReader
from pkmn_pyboy.navigation.grid import PRESSES, GridReader
from pkmn_pyboy.navigation.people import PeopleReader
from pkmn_pyboy.navigation.search import Moves
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.state.game_state import Phase
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
    grids = GridReader(environment.emulator, environment.profile)
    grid = grids.read(environment.state.map_id)
    exits = ExitReader(environment.emulator, environment.profile, grids.rules).read(grid)
    assert (grid.width, grid.height) == (8, 6)
    assert len(exits) == 1
    assert exits[0].ends == {grid.cell(7, 0): ENTER}
    assert environment.names["maps"][exits[0].destination] == "Home 1F"


def test_walking_does_what_the_grid_says(make: MakeEnvironment) -> None:
    environment = make(observation_type="state", max_steps_per_episode=3000)
    play_to(environment, "outside")
    grids = GridReader(environment.emulator, environment.profile)
    exits = ExitReader(environment.emulator, environment.profile, grids.rules)
    people = PeopleReader(environment.emulator, environment.profile)
    generator = random.Random(1)
    checked = 0
    for _ in range(400):
        state = environment.state
        if state.phase is not Phase.FREE:
            environment.advance(int(Action.B))
            continue
        direction = generator.randrange(4)
        grid = grids.read(state.map_id)
        start = grid.cell(state.x, state.y)
        ends = {cell: press for way in exits.read(grid) for cell, press in way.ends.items()}
        target = next((to for to, way, _ in Moves(grid, grids.rules)[start] if way == direction), start)
        somebody = {grid.cell(*place) for place in people.nearby().values()}
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
    people = PeopleReader(environment.emulator, environment.profile)
    before = {(person.x, person.y) for person in people.all()}
    assert {(5, 2), (6, 3), (7, 3), (8, 3)} <= before
    assert set(people.nearby().values()) == before


def test_people_hidden_by_the_story_are_gone(make: MakeEnvironment) -> None:
    environment = make(observation_type="state")
    play_to(environment, "starter")
    people = PeopleReader(environment.emulator, environment.profile)
    assert (7, 3) not in {(person.x, person.y) for person in people.all()}
