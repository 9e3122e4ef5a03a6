"""Keys of the story that planner and pilot follow: sides, cases, choices, errands that are over, locked rooms."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import pytest
from support.planned_goals import goal, plan_for, planned, set_event, tell
from support.pyboy_fakes import FakeMemory

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.goals.planner import GoalOrientedPlanner
from pkmn_pyboy.pilot.goals.plans import BUY, CATCH, TRAIN
from pkmn_pyboy.pilot.goals.tasks import ERRAND, MILESTONE, TEACH
from pkmn_pyboy.pilot.memory import EXIT, PilotMemory
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.walking.legs import Objectives
from pkmn_pyboy.pilot.walking.routes import Roads
from pkmn_pyboy.pilot.walking.surroundings import Lookout
from pkmn_pyboy.profile.milestones import LockedRooms, Requirements, Target, TargetCase
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.rules_gen2.records import Slot, WildTable
from pkmn_pyboy.state.game_state import Facing, Party, Phase
from pkmn_pyboy.story.order import story
from pkmn_pyboy.story.tracker import MilestoneTracker
from pkmn_pyboy.world.planner import RoutePlanner
from pkmn_pyboy.world.records import Place
from pkmn_pyboy.world.route import Leg
from pkmncli.errors import ConfigurationError

MakeEnvironment = Callable[..., PokemonEnvironment]

LAB, TOWN, PROFESSOR = 260, 257, 1
SEEN_BY_NIGHT, SEEN_BY_DAY = 40, 41

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


# Cases and choices --------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("partner", [1, 2, 3])
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


# Sides --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("facing", SIDES)
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


# Errands ------------------------------------------------------------------------------------------------------


def test_an_errand_is_over_with_what_it_was_for(environment: PokemonEnvironment) -> None:
    switch = goal(environment, "switch", over_with=("card",))
    card = goal(environment, "card", 240)
    tower = goal(environment, "tower", errands=("switch", "card"))
    assert plan_for(environment, tower, switch, card) == [(MILESTONE, "tower"), (ERRAND, "switch")]
    set_event(environment, 240)
    assert planned(environment) == [(MILESTONE, "tower")]


def test_an_errand_is_over_with_a_milestone_that_was_reached(environment: PokemonEnvironment) -> None:
    switch = goal(environment, "switch", over_with=("tower",))
    tower = goal(environment, "tower", errands=("switch",))
    tell(environment, tower, switch)
    planner = GoalOrientedPlanner(environment.game)
    assert not planner._is_over(switch)
    environment.milestones.steps[0] = 7
    assert planner._is_over(switch)


def test_field_moves_of_a_goal_hold_for_its_errands(environment: PokemonEnvironment) -> None:
    lesson = environment.profile.field_moves["cut"].item
    source = goal(environment, "source", gives=(lesson,))
    inner, outer = goal(environment, "inner"), goal(environment, "outer", errands=("inner",))
    champion = goal(environment, "champion", errands=("outer",), requires=Requirements(field_moves=("cut",)))
    expected = [(MILESTONE, "champion"), (ERRAND, "outer"), (ERRAND, "inner"), (ERRAND, "source")]
    assert plan_for(environment, champion, source, inner, outer) == expected


def test_a_target_that_brings_a_field_move_does_not_require_it(environment: PokemonEnvironment) -> None:
    lesson = environment.profile.field_moves["cut"].item
    key = goal(environment, "key", gives=(11,))
    before = goal(environment, "before")
    bringer = goal(environment, "bringer", gives=(lesson,), errands=("before",), requires=Requirements(items=(11,)))
    champion = goal(environment, "champion", errands=("bringer",), requires=Requirements(field_moves=("cut",)))
    assert plan_for(environment, champion, key, before, bringer) == [
        (MILESTONE, "champion"), (ERRAND, "bringer"), (ERRAND, "before")
    ]  # fmt: skip
    done = dataclasses.replace(bringer, errands=())
    assert plan_for(environment, champion, key, done)[1:] == [(ERRAND, "bringer"), (ERRAND, "key")]


def test_the_badge_that_allows_a_field_move_is_won_without_it(environment: PokemonEnvironment) -> None:
    cut = environment.profile.field_moves["cut"]
    place = environment.profile.memory["wTMsHMs"]
    environment.emulator.memory[place.bank, place.address + cut.machine] = 1
    leader = dataclasses.replace(goal(environment, "leader"), evidence=(cut.badge,))
    champion = goal(environment, "champion", errands=("leader",), requires=Requirements(field_moves=("cut",)))
    assert plan_for(environment, champion, leader) == [(MILESTONE, "champion"), (ERRAND, "leader")]


def test_a_field_move_of_the_goal_above_is_taught_before_its_errand(environment: PokemonEnvironment) -> None:
    cut = environment.profile.field_moves["cut"]
    place = environment.profile.memory["wTMsHMs"]
    environment.emulator.memory[place.bank, place.address + cut.machine] = 1
    will = goal(environment, "will")
    champion = goal(environment, "champion", errands=("will",), requires=Requirements(field_moves=("cut",)))
    assert [kind for kind, _ in plan_for(environment, champion, will)] == [MILESTONE, ERRAND, TEACH]


# Rooms that lock ----------------------------------------------------------------------------------------------


def test_rooms_that_lock_are_entered_by_their_first_door(environment: PokemonEnvironment) -> None:
    enter, first, second = 769, 770, 771
    story = goal(environment, "second", target=Target(second, 4, 3, "up"), requires=Requirements(min_level=9))
    tell(environment, story)
    environment.game.profile = dataclasses.replace(
        environment.profile, locked_rooms=(LockedRooms(enter, frozenset((first, second))),)
    )
    planner = GoalOrientedPlanner(environment.game)
    found = {}
    for here in (TOWN, enter, first, second):
        environment.game.state = environment.state._replace(map_group=here >> 8, map_number=here & 255)
        last = planner.goals()[-1]
        found[here] = (last.kind, last.target.map_id if last.target is not None else 0)
    assert found == {
        TOWN: (TRAIN, enter),
        enter: (TRAIN, second),
        first: (MILESTONE, second),  # no training is possible in there
        second: (MILESTONE, second),
    }


LEAGUE = {"will_beaten": 1464, "koga_beaten": 1465, "bruno_beaten": 1466, "karen_beaten": 1467}
LOBBY, WILL, BRUNO, ROUTE_26 = 16 << 8 | 2, 16 << 8 | 3, 16 << 8 | 5, 24 << 8 | 1


def test_crystals_league_is_begun_again_after_a_loss(
    environment: PokemonEnvironment, crystal: GameProfile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beaten trainers stay beaten until the lobby is entered, whose script clears the flags: then all four are back."""
    monkeypatch.setattr(environment.game, "usable_moves", lambda: frozenset(crystal.field_moves))
    monkeypatch.setattr(GoalOrientedPlanner, "training_for", lambda *_, **__: None)
    environment.game.profile = dataclasses.replace(
        environment.profile,
        milestones=crystal.milestones,
        errands=crystal.errands,
        locked_rooms=crystal.locked_rooms,
        field_moves=crystal.field_moves,
    )
    environment.game.milestones = tracker = MilestoneTracker(crystal.milestones, crystal.errands, environment.emulator)
    champion = crystal.milestone_index("champion")
    tracker.steps = [0 if place < champion else -1 for place in range(len(tracker.steps))]
    environment.game.goal = -1
    planner = GoalOrientedPlanner(environment.game)

    def now(map_id: int) -> tuple[str, str, int]:
        environment.game.state = environment.state._replace(map_group=map_id >> 8, map_number=map_id & 255)
        first, last = planner.goals()
        assert last.target is not None
        return first.key, last.key, last.target.map_id

    for key in ("will_beaten", "koga_beaten"):
        set_event(environment, LEAGUE[key])
    assert now(BRUNO) == ("champion", "bruno_beaten", BRUNO)  # where the battle is lost
    assert now(ROUTE_26) == ("champion", "bruno_beaten", LOBBY)  # wherever the player wakes up
    assert now(LOBBY) == ("champion", "bruno_beaten", BRUNO)
    for event in LEAGUE.values():
        set_event(environment, event, value=False)
    assert now(LOBBY) == ("champion", "will_beaten", WILL)
    assert now(WILL) == ("champion", "will_beaten", WILL)
    assert now(ROUTE_26) == ("champion", "will_beaten", LOBBY)
    set_event(environment, LEAGUE["will_beaten"])
    assert now(WILL)[1] == "koga_beaten"


# Catching and supplies ----------------------------------------------------------------------------------------


def test_species_of_the_goals_above_are_worth_a_ball(environment: PokemonEnvironment) -> None:
    own = environment.state.party.members[0].species
    lake = goal(environment, "lake", catch=(SEEN_BY_DAY, own), supplies=((4, 10), (5, 1)))
    tell(environment, goal(environment, "hideout", errands=("lake",), supplies=((5, 3),)), lake)
    planner = GoalOrientedPlanner(environment.game)
    assert planner.species_to_catch() == (SEEN_BY_DAY,)
    assert planner.supplies() == {4: 10, 5: 3}
    pilot = RulesPilot(environment)
    pilot.reset(1)
    pilot.act()
    assert SEEN_BY_DAY in pilot.memory.catch_wish


BALL, POTION = 1, 2


def lake_pilot(
    environment: PokemonEnvironment, supplies: tuple[tuple[int, int], ...] = ((BALL, 6),), **settings: object
) -> RulesPilot:
    """Return a pilot whose errand needs a Pokemon that can be caught only once."""
    lake = goal(environment, "lake", catch=(SEEN_BY_DAY,), supplies=supplies, target=Target(TOWN, 5, 5))
    tell(environment, goal(environment, "hideout", errands=("lake",)), lake)
    pilot = RulesPilot(environment, PilotSettings(supply_steps=0, shop_steps=0, **settings))  # type: ignore[arg-type]
    pilot.reset(1)
    return pilot


def goals_of(pilot: RulesPilot) -> list[str]:
    pilot.act()
    return [one.kind for one in pilot._chooser.planner.goals()]


def test_a_single_catch_waits_until_there_are_balls(environment: PokemonEnvironment) -> None:
    assert (environment.state.balls, environment.state.money) == (0, 3000)
    pilot = lake_pilot(environment)
    assert goals_of(pilot) == [MILESTONE, ERRAND, BUY]
    reasons: list[str] = []
    while environment.state.balls < 6 or environment.state.phase is not Phase.FREE:
        decision = pilot.act()
        reasons.append(decision.reason)
        environment.advance(decision.action)
        assert environment.steps < 700
    assert "goal lake" not in reasons
    assert goals_of(pilot) == [MILESTONE, ERRAND]
    pilot.memory.drop_goal(tried=False)
    assert pilot.act().reason == "goal lake"


def test_any_ball_will_do_if_nobody_sells_the_wanted_one(environment: PokemonEnvironment) -> None:
    nowhere = next(
        item
        for item in environment.profile.names.items
        if all(item not in shop for shop in environment.game.cartridge.shops)
    )
    pilot = lake_pilot(environment, ((nowhere, 1),))
    assert goals_of(pilot) == [MILESTONE, ERRAND, BUY]
    bought = pilot._chooser.planner.goals()[-1].buys
    assert {item for item, _ in bought} == set(environment.profile.item_uses.ball)


@pytest.mark.parametrize("without", ["money", "place", "shop", "need"])
def test_a_single_catch_is_met_without_balls_if_none_can_be_had(environment: PokemonEnvironment, without: str) -> None:
    pilot = lake_pilot(environment, shop="never" if without == "shop" else "needed")
    party = environment.state.party
    if without == "money":
        environment.game.state = environment.state._replace(money=30)
    if without == "place":
        environment.game.state = environment.state._replace(party=Party(party.members * 6, 5, 1.0))
    if without == "need":
        one = dataclasses.replace(party.members[0], species=SEEN_BY_DAY)
        environment.game.state = environment.state._replace(party=Party((*party.members, one), 5, 1.0))
    assert goals_of(pilot) == [MILESTONE, ERRAND]


def test_slots_are_kept_free_for_catches_and_errands(environment: PokemonEnvironment) -> None:
    """The egg of a milestone and that of a nested errand need a slot each; what is done needs none."""
    lake = goal(environment, "lake", 240, catch=(SEEN_BY_DAY,))
    shore = goal(environment, "shore", errands=("lake",))
    egg = goal(environment, "egg", errands=("shore", "lake"), requires=Requirements(party_room=1))
    tracker = MilestoneTracker((egg,), {"lake": lake, "shore": shore}, environment.emulator)
    assert tracker.party_room == 2
    set_event(environment, 240)
    assert tracker.party_room == 1
    tracker.steps[0] = 5
    assert tracker.party_room == 0


def test_crystal_keeps_slots_for_its_egg_and_its_red_gyarados(crystal: GameProfile, memory: FakeMemory) -> None:
    places = {one.key: place for place, one in enumerate(crystal.milestones)}
    tracker = MilestoneTracker(crystal.milestones, crystal.errands, memory)
    assert tracker.party_room == 2
    tracker.steps[places["togepi_egg"]] = 1
    assert tracker.party_room == 1
    memory.set(wKeyItems=bytes((66, 255)) + bytes(24))
    assert tracker.party_room == 0


# What errands need --------------------------------------------------------------------------------------------


def test_requirements_of_an_errand_come_first(environment: PokemonEnvironment) -> None:
    side = dataclasses.replace(goal(environment, "side"), optional=True)
    errand = goal(environment, "errand", needs=("side",))
    wanted = goal(environment, "wanted", errands=("errand",))
    environment.game.profile = dataclasses.replace(
        environment.profile, milestones=(side, wanted), errands={"errand": errand}
    )
    environment.game.milestones = MilestoneTracker((side, wanted), {"errand": errand}, environment.emulator)
    environment.game.goal = 1
    assert planned(environment) == [(MILESTONE, "wanted"), (ERRAND, "errand"), (ERRAND, "side")]
    assert [one.key for one in story(environment.profile)] == ["side", "errand", "wanted"]
    environment.milestones.steps[0] = 3
    assert planned(environment) == [(MILESTONE, "wanted"), (ERRAND, "errand")]


def test_the_check_of_a_story_takes_requirements_of_errands_first(environment: PokemonEnvironment) -> None:
    later = goal(environment, "later")
    errand = goal(environment, "errand", needs=("later",))
    wanted = goal(environment, "wanted", errands=("errand",))
    profile = dataclasses.replace(environment.profile, milestones=(wanted, later), errands={"errand": errand})
    assert [one.key for one in story(profile)] == ["later", "errand", "wanted"]


@pytest.mark.parametrize(("hour", "sent"), [(12, True), (20, False)])
def test_a_species_of_the_night_is_waited_for(
    environment: PokemonEnvironment, monkeypatch: pytest.MonkeyPatch, hour: int, sent: bool
) -> None:
    night, none = (Slot(100, 5, SEEN_BY_NIGHT),), (Slot(100, 5, SEEN_BY_DAY),)
    table = WildTable(513, False, (25, 25, 25), (none, none, night))
    monkeypatch.setitem(vars(environment.game.cartridge), "wild", (table,))
    monkeypatch.setattr(environment.game, "hour", lambda: hour)
    inn = goal(environment, "inn", gives_hour=20)
    story = goal(environment, "owl", requires=Requirements(species=(SEEN_BY_NIGHT,)))
    kinds = plan_for(environment, story, inn)
    assert kinds == [(MILESTONE, "owl"), (CATCH, f"{CATCH}/0")] + [(ERRAND, "inn")] * sent
    by_day = goal(environment, "hen", requires=Requirements(species=(SEEN_BY_DAY,)))
    waits = dataclasses.replace(inn, needs=("owl",))
    assert plan_for(environment, story, waits)[-1][0] == CATCH
    # The inn only makes it night: nobody goes there for a species of the day.
    assert plan_for(environment, by_day, inn)[-1][0] == CATCH
    assert GoalOrientedPlanner(environment.game).times_of((SEEN_BY_DAY,)) == {0, 1}


# Routes -----------------------------------------------------------------------------------------------------


def no_roads(environment: PokemonEnvironment) -> Roads:
    planner = SimpleNamespace(world=environment.game.cartridge.world, route=lambda *_, **__: None)
    return Roads(environment.game, cast("RoutePlanner", planner))


@pytest.mark.parametrize(
    "target", [Target(LAB, person=14), Target(LAB, scene=77), Target(LAB, 0, 0, "up")], ids=["person", "scene", "tile"]
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

    def after_words() -> tuple[bool, list[list[int]]]:
        memory.tries["milestone/route_reached"], memory.avoid = 3, [[LAB, 4, 11]]
        memory.interrupted = "words"
        pilot.act()
        return "milestone/route_reached" in memory.tries, memory.avoid

    assert after_words() == (True, [[LAB, 4, 11]])
    environment.emulator.memory[items.bank, items.address + 2 * number] = 9
    environment.emulator.memory[items.bank, items.address + 2 * number + 1] = 1
    environment.emulator.memory[items.bank, items.address + 2 * number + 2] = 255
    environment.emulator.memory[count.bank, count.address] = number + 1
    assert after_words() == (False, [])
    assert after_words() == (True, [[LAB, 4, 11]])


# Crystal ------------------------------------------------------------------------------------------------------


def test_crystals_traps_are_in_its_story(crystal: GameProfile) -> None:
    milestones = {one.key: one for one in crystal.milestones}
    errands = crystal.errands
    assert all(errands[f"switch_{number}"].over_with == ("card_key",) for number in ("one", "two", "three"))
    assert crystal.locked_rooms == (LockedRooms(16 << 8 | 2, frozenset(16 << 8 | number for number in range(3, 8))),)
    part = errands["machine_part"].target
    assert part is not None
    assert (part.x, part.y, part.facing) == (3, 7, "down")
    assert milestones["vermilion"].errands[0] == "radio_card"
    assert errands["red_gyarados"].catch == (130,)
    assert milestones["red"].needs == ("mt_silver",)
    assert milestones["red"].requires.foes == ((63, 1, -1),)
    starter = milestones["starter"].target
    assert starter is not None
    assert [(choice.x, choice.y) for choice in starter.choices] == [(6, 4), (7, 4), (8, 4)]
