"""The pilot with ``knowledge = "seen"``: it knows what was on the screen, and where exits led."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.goals.hunting import barren_times
from pkmn_pyboy.pilot.memory import PilotMemory
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.state.game_state import Phase
from pkmn_pyboy.state.seen_tiles import VIEW_DOWN, VIEW_LEFT, VIEW_RIGHT, VIEW_UP
from pkmn_pyboy.world.seen_world import UNSEEN, SeenWorld

MakeEnvironment = Callable[..., PokemonEnvironment]
TRAIL = 0x201


def world_of(pilot: RulesPilot) -> SeenWorld:
    assert pilot.seen is not None
    return pilot.seen


def begin(environment: PokemonEnvironment, seed: int = 3) -> RulesPilot:
    pilot = RulesPilot(environment)
    environment.reset(seed=seed)
    pilot.reset(seed)
    return pilot


def play_until(environment: PokemonEnvironment, pilot: RulesPilot, reached: Callable[[], bool]) -> None:
    while not reached():
        ended = environment.advance(pilot.act().action)
        assert not any(ended[1:])


def test_an_exit_leads_nowhere_known_before_it_was_taken(make: MakeEnvironment) -> None:
    environment = make(observation_type="state", max_steps_per_episode=400, knowledge="seen")
    pilot = begin(environment)
    world = world_of(pilot)
    assert world.map_ids() == ()
    play_until(environment, pilot, lambda: environment.state.phase is Phase.FREE)
    pilot.act()
    bedroom = environment.state.map_id
    assert world.map_ids() == (bedroom,)
    assert [way.arrival for way in world.exits(bedroom)] == [None]
    play_until(
        environment, pilot, lambda: environment.state.map_id != bedroom and environment.state.phase is Phase.FREE
    )
    pilot.act()
    arrivals = [way.arrival for way in world.exits(bedroom)]
    assert [place.map_id for place in arrivals if place is not None] == [environment.state.map_id]


def test_it_knows_the_tiles_that_were_on_the_screen_and_no_others(make: MakeEnvironment) -> None:
    environment = make(observation_type="state", max_steps_per_episode=1000, knowledge="seen")
    pilot = begin(environment)
    world = world_of(pilot)
    play_until(environment, pilot, lambda: environment.state.map_id == TRAIL)
    stood: set[tuple[int, int]] = set()
    for _ in range(30):
        state = environment.state
        if state.map_id == TRAIL and state.phase is Phase.FREE:
            stood.add((state.x, state.y))
        environment.advance(pilot.act().action)
    here = world.map(TRAIL)
    assert here is not None
    assert len(stood) > 3
    grid = here.grid
    known = {(x, y) for x in range(grid.width) for y in range(grid.height) if grid.tiles[grid.cell(x, y)] != UNSEEN}
    in_view = {
        (x, y)
        for at_x, at_y in stood
        for x in range(at_x - VIEW_LEFT, at_x + VIEW_RIGHT + 1)
        for y in range(at_y - VIEW_UP, at_y + VIEW_DOWN + 1)
        if grid.inside(x, y)
    }
    assert known == in_view
    assert len(known) < grid.width * grid.height
    assert all((one.x, one.y) in known for one in here.people)


def test_it_begins_anew_with_each_episode(make: MakeEnvironment) -> None:
    environment = make(observation_type="state", max_steps_per_episode=400, knowledge="seen")
    pilot = begin(environment)
    for _ in range(150):
        environment.advance(pilot.act().action)
    assert len(world_of(pilot).map_ids()) > 1
    environment.reset(seed=4)
    pilot.reset(4)
    assert world_of(pilot).map_ids() == ()


def test_it_is_part_of_the_saved_state(make: MakeEnvironment) -> None:
    environment = make(observation_type="state", max_steps_per_episode=400, knowledge="seen")
    pilot = begin(environment)
    for _ in range(150):
        environment.advance(pilot.act().action)
    other = RulesPilot(environment)
    other.load_state(json.loads(json.dumps(pilot.save_state())))
    assert world_of(other).save_state() == world_of(pilot).save_state()
    assert world_of(other).map_ids()


@pytest.mark.long
def test_it_plays_the_game_to_the_end_with_what_it_has_seen(make: MakeEnvironment) -> None:
    """Play to the end, past a cave entered from elsewhere, a goat that leaps away and a species of the night."""
    environment = make(observation_type="state", max_steps_per_episode=12000, knowledge="seen", goal="told_home")
    pilot = RulesPilot(environment, PilotSettings(partner=2))
    environment.reset(seed=901)
    pilot.reset(901)
    home = list(environment.milestone_names).index("told_home")
    while environment.milestones.steps[home] < 0:
        environment.advance(pilot.act().action)
        assert environment.steps < environment.max_steps_per_episode


def test_a_game_without_maps_in_its_profile_is_played_by_what_is_seen(
    make: MakeEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = make(observation_type="state", max_steps_per_episode=2000, goal="starter")
    monkeypatch.delitem(environment.profile.memory.rom_tables, "MapGroupPointers")
    pilot = begin(environment)
    play_until(environment, pilot, lambda: len(world_of(pilot).map_ids()) > 2)


def test_with_the_cartridge_nothing_has_to_be_seen(make: MakeEnvironment) -> None:
    assert RulesPilot(make(observation_type="state")).seen is None


def test_a_hunt_in_vain_rules_out_its_time_of_day() -> None:
    memory = PilotMemory()
    memory.hunt.tried_for, memory.hunt.tries = "25", {f"{TRAIL}/0": 8, f"{TRAIL}/1": 7, f"{TRAIL}/2": 9}
    assert barren_times(memory, (25,), 8) == {0, 2}
    assert barren_times(memory, (26,), 8) == frozenset()
