"""Targets of goals: their cases and choices, the side to talk from, and other parts of the map that they are on."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import pytest
from support.planned_goals import goal, tell
from support.pyboy_fakes import FakeMemory
from support.variants import long_after

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.memory import EXIT, PilotMemory
from pkmn_pyboy.pilot.notes import Interruption
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.walking.legs import Objectives
from pkmn_pyboy.pilot.walking.routes import Roads
from pkmn_pyboy.pilot.walking.surroundings import Lookout
from pkmn_pyboy.profile.milestones import Target, TargetCase
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import Facing, Phase
from pkmn_pyboy.world.records import Place
from pkmn_pyboy.world.route import Leg
from pkmn_pyboy.world.route_planner import RoutePlanner
from pkmncli.errors import ConfigurationError

MakeEnvironment = Callable[..., PokemonEnvironment]

LAB, TOWN, PROFESSOR = 260, 257, 1

# The bird of Ilex Forest: its current position, and the next one by the player's facing, "" for other directions.
HERDING = {
    1: {"": 2},
    2: {"down": 8, "": 3},
    3: {"left": 2, "": 4},
    4: {"up": 3, "": 5},
    5: {"up": 4, "right": 4, "left": 7, "down": 6},
    6: {"right": 5, "": 7},
    7: {"down": 5, "left": 6, "": 8},
    8: {"right": 7, "up": 2, "left": 2, "down": 9},
    9: {"down": 8, "right": 8, "": 10},
}
SIDES = ("down", "up", "left", "right")


def no_roads(environment: PokemonEnvironment) -> Roads:
    planner = SimpleNamespace(world=environment.game.cartridge.world, route=lambda *_, **__: None)
    return Roads(environment.game, cast("RoutePlanner", planner))


@pytest.mark.parametrize("start", HERDING)
@pytest.mark.parametrize("nearest", SIDES)
def test_the_bird_of_ilex_forest_is_herded_home_in_five_talks(
    crystal: GameProfile, memory: FakeMemory, start: int, nearest: str
) -> None:
    """If no side is required, it is talked to from any."""
    target = crystal.errands["farfetchd_herded"].target
    assert target is not None
    place, talks = start, 0
    while place != 10:
        now = target.now(memory.set(wFarfetchdPosition=place))
        assert (now.map_id, now.person, now.x) == (3 * 256 + 52, 1, None)
        onward = HERDING[place]
        side = now.facing or nearest
        place = onward.get(side, onward.get("", 0))
        talks += 1
        assert talks <= 5


def test_a_case_replaces_the_keys_that_it_names(memory: FakeMemory) -> None:
    target = Target(
        5,
        person=3,
        facing="up",
        by=memory.fields["wFarfetchdPosition"],
        cases=(TargetCase(2, facing="down"), TargetCase(9, x=10, y=36), TargetCase(4, person=7, facing="left")),
    )
    found = {value: target.now(memory.set(wFarfetchdPosition=value)) for value in (1, 2, 9, 4)}
    assert found[1] is target
    assert (found[2].person, found[2].facing) == (3, "down")
    assert (found[9].person, found[9].x, found[9].y, found[9].facing) == (0, 10, 36, "up")
    assert (found[4].person, found[4].facing) == (7, "left")


@pytest.mark.parametrize("partner", long_after(1, [1, 2, 3]))
def test_the_partner_of_the_setting_is_taken(make: MakeEnvironment, partner: int) -> None:
    environment = make(observation_type="state", max_steps_per_episode=500)
    pilot = RulesPilot(environment, PilotSettings(partner=partner))
    environment.reset(seed=1)
    pilot.reset(1)
    while not environment.state.party.count:
        environment.advance(pilot.act().action)
        assert environment.steps < 500
    species = environment.state.party.members[0].species
    assert environment.profile.names.species[species] == ("BRAMBIT", "KINDLYNX", "RILLET")[partner - 1]


def test_a_partner_that_no_target_offers_is_refused(environment: PokemonEnvironment) -> None:
    with pytest.raises(ConfigurationError, match="setting 'partner' = 4: quillwood has 3 to choose from"):
        RulesPilot(environment, PilotSettings(partner=4))


@pytest.mark.parametrize("facing", long_after(1, SIDES))
def test_a_person_is_talked_to_from_the_side_of_the_target(environment: PokemonEnvironment, facing: str) -> None:
    target = Target(LAB, person=PROFESSOR, facing=facing)
    tell(environment, goal(environment, "asked", target=target))
    pilot = RulesPilot(environment)
    pilot.reset(1)
    while environment.state.phase is Phase.FREE:
        environment.advance(pilot.act().action)
        assert environment.steps < 400
    where = {"down": (5, 1), "up": (5, 3), "left": (6, 2), "right": (4, 2)}
    state = environment.state
    assert (state.map_id, state.x, state.y, state.facing) == (LAB, *where[facing], Facing[facing.upper()])


def test_a_tile_to_press_a_from_is_not_talked_to_from_elsewhere(environment: PokemonEnvironment) -> None:
    """The professor is on (5,2): nobody can stand there and look up."""
    objectives, memory = Objectives(environment.game, PilotSettings(), no_roads(environment)), PilotMemory()
    around = Lookout(environment.game).look(environment.state, memory)
    assert around is not None
    for target, found in ((Target(LAB, 5, 2), True), (Target(LAB, 5, 2, "up"), False)):
        goal_here = objectives.goal_for(target, "key", "why", environment.state, memory, around)
        assert (goal_here is not None) is found


def test_each_case_has_tries_of_its_own(environment: PokemonEnvironment) -> None:
    """A person to talk to four times, each time elsewhere, is not given up after three."""
    by = environment.profile.memory["wFarfetchdPosition"]
    target = Target(LAB, person=PROFESSOR, by=by, cases=(TargetCase(2, facing="left"), TargetCase(8, facing="right")))
    tell(environment, goal(environment, "herd", target=target))
    pilot = RulesPilot(environment)
    pilot.reset(1)
    pilot.act()
    sides = []
    for value in (2, 8):
        environment.emulator.memory[by.bank, by.address] = value
        pilot.memory.drop_goal(tried=False)
        pilot.memory.tries["milestone/herd@2"] = PilotSettings().goal_tries
        pilot.act()
        assert pilot.memory.goal is not None
        sides.append((pilot.memory.goal.why, pilot.memory.goal.facing))
    assert sides[0][0] != "goal herd"
    assert sides[1] == ("goal herd", Facing.RIGHT)


@pytest.mark.parametrize(
    "target",
    long_after(1, [Target(LAB, person=14), Target(LAB, scene=77), Target(LAB, 0, 0, "up")]),
    ids=["person", "scene", "tile"],
)
def test_another_part_of_the_map_is_entered_from_elsewhere(environment: PokemonEnvironment, target: Target) -> None:
    memory = PilotMemory()
    around = Lookout(environment.game).look(environment.state, memory)
    assert around is not None
    way = around.exits[0]
    cell, press = next(iter(way.ends.items()))
    door = around.grid.tile_of(cell)
    legs = (
        Leg(LAB, (door,), press=press, leads_to=Place(TOWN, 5, 5)),
        Leg(TOWN, ((5, 5), (9, 9)), press=1, leads_to=Place(LAB, 1, 1)),
        Leg(LAB, ((1, 1), (1, 2)), press=1),
    )
    planner = SimpleNamespace(world=environment.game.cartridge.world, route=lambda *_, **__: SimpleNamespace(legs=legs))
    roads = Roads(environment.game, cast("RoutePlanner", planner))
    objectives = Objectives(environment.game, PilotSettings(), roads)
    found = objectives.goal_for(target, "errand/there", "why", environment.state, memory, around)
    assert found is not None
    assert (found.kind, found.exit) == (EXIT, way.key)
    memory.tries["errand/there"] = PilotSettings().goal_tries
    assert objectives.goal_for(target, "errand/there", "why", environment.state, memory, around) is None


def test_failed_goals_are_retried_with_a_new_item(environment: PokemonEnvironment) -> None:
    pilot = RulesPilot(environment)
    pilot.reset(1)
    pilot.act()
    memory = pilot.memory
    count, items = environment.profile.memory["wNumItems"], environment.profile.memory["wItems"]
    number = environment.emulator.memory[count.bank, count.address]

    def after_words() -> tuple[bool, list[Place]]:
        memory.tries["milestone/route_reached"], memory.route.avoid = 3, [Place(LAB, 4, 11)]
        memory.walk.interrupted = Interruption.TEXT
        pilot.act()
        return "milestone/route_reached" in memory.tries, memory.route.avoid

    assert after_words() == (True, [Place(LAB, 4, 11)])
    environment.emulator.memory[items.bank, items.address + 2 * number] = 9
    environment.emulator.memory[items.bank, items.address + 2 * number + 1] = 1
    environment.emulator.memory[items.bank, items.address + 2 * number + 2] = 255
    environment.emulator.memory[count.bank, count.address] = number + 1
    assert after_words() == (False, [])
    assert after_words() == (True, [Place(LAB, 4, 11)])
