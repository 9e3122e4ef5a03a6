"""Catches that a story needs: balls and supplies for them, slots kept free, species of the night."""

from __future__ import annotations

import dataclasses

import pytest
from support.planned_goals import goal, plan_for, set_event, tell
from support.pyboy_fakes import FakeMemory
from support.variants import long_after

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.goals.goal_planner import GoalOrientedPlanner
from pkmn_pyboy.pilot.goals.plans import BUY, CATCH
from pkmn_pyboy.pilot.goals.tasks import ERRAND, MILESTONE
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.profile.milestones import Requirements, Target
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.rules_gen2.records import Slot, WildTable
from pkmn_pyboy.state.game_state import Party, Phase
from pkmn_pyboy.story.tracker import MilestoneTracker

TOWN, BALL = 257, 1
SEEN_BY_NIGHT, SEEN_BY_DAY = 40, 41


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
    assert SEEN_BY_DAY in pilot.memory.hunt.wanted


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
    return [one.kind for one in pilot.chooser.planner.goals()]


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
    bought = pilot.chooser.planner.goals()[-1].buys
    assert {item for item, _ in bought} == set(environment.profile.item_uses.ball)


@pytest.mark.parametrize("without", long_after(1, ["money", "place", "shop", "need"]))
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


@pytest.mark.parametrize(("hour", "sent"), long_after(1, [(12, True), (20, False)]))
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
