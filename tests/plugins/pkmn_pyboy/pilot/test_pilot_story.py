"""Errands of a story: their order and needs, when they are over, and rooms that lock."""

from __future__ import annotations

import dataclasses

import pytest
from support.planned_goals import goal, plan_for, planned, set_event, tell

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.goals.goal_planner import GoalOrientedPlanner
from pkmn_pyboy.pilot.goals.plans import TRAIN
from pkmn_pyboy.pilot.goals.tasks import ERRAND, MILESTONE, TEACH
from pkmn_pyboy.profile.milestones import LockedRooms, Requirements, Target
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.story.order import story
from pkmn_pyboy.story.tracker import MilestoneTracker

TOWN = 257


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
    assert not planner.is_over(switch)
    environment.milestones.steps[0] = 7
    assert planner.is_over(switch)


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
