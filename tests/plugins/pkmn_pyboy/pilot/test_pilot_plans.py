"""Plans for the party's strength: each set of foes has its own, and no plan lasts forever without progress."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from support.planned_goals import goal, tell

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.goals import grounds as grounds_module
from pkmn_pyboy.pilot.goals import plans
from pkmn_pyboy.pilot.goals.choosing import GoalChooser
from pkmn_pyboy.pilot.goals.goal_planner import GoalOrientedPlanner
from pkmn_pyboy.pilot.goals.plans import BUY, CATCH, HEAL, NOTHING, RIVAL, TRAIN, Plan, Rival, TrainingCost
from pkmn_pyboy.pilot.goals.tasks import PlannedGoal
from pkmn_pyboy.pilot.memory import GRASS, PACE, PilotMemory
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.walking.surroundings import Lookout, Surroundings
from pkmn_pyboy.profile.milestones import Foe, Requirements, Target
from pkmn_pyboy.rules_gen2.records import Slot, WildTable
from pkmn_pyboy.state.game_state import Party, PartyMember

MakeEnvironment = Callable[..., PokemonEnvironment]

# Numbers of the bundled game.
QUILLET, LUMEWISP = 4, 16
CAPSULE, TONIC = 1, 3
FEN_SHOP = 1
TRAIL, GLADE, WOOD = 513, 514, 515
THORN, TIDE, CAIRN = ((1, 1),), ((1, 2),), ((1, 3),)


def playing(environment: PokemonEnvironment, **settings: object) -> tuple[RulesPilot, GoalChooser, Surroundings]:
    """Return the pilot after its first look, its chooser, and the surroundings."""
    pilot = RulesPilot(environment, PilotSettings(**settings))  # type: ignore[arg-type]
    pilot.reset(1)
    pilot.act()
    around = Lookout(environment.game).look(environment.state, pilot.memory)
    assert around is not None
    return pilot, pilot.chooser, around


def grown(environment: PokemonEnvironment, chooser: GoalChooser, level: int, **changes: object) -> PartyMember:
    """Return the partner at a level."""
    growth = chooser.planner.readiness.growth
    one = growth.member_at(environment.state.party.members[0], level)
    return dataclasses.replace(one, experience=growth.experience(one.species, level), **changes)  # type: ignore[arg-type]


def alone(environment: PokemonEnvironment, one: PartyMember, money: int = 0) -> None:
    """Set a party of one, and the money."""
    environment.game.state = environment.state._replace(
        party=Party((one,), one.level, one.hp / one.max_hp), money=money
    )


def before(environment: PokemonEnvironment, foes: tuple[tuple[int, int], ...]) -> None:
    """Set a goal that requires beating some trainers."""
    fight = tuple(Foe(*foe) for foe in foes)
    tell(environment, goal(environment, "fight", target=Target(TRAIL), requires=Requirements(foes=fight)))


# Healing items, and the level cap ---------------------------------------------------------------------------


@pytest.mark.long
def test_items_of_a_plan_are_bought_at_any_distance(environment: PokemonEnvironment) -> None:
    before(environment, CAIRN)
    pilot, chooser, around = playing(environment, supply_steps=0, shop_steps=0)
    alone(environment, environment.state.party.members[0], 3000)
    plans.keep(pilot.memory.strength.plans, Plan(BUY, CAIRN, party=1, until=9999, buys=((TONIC, 2),)))
    found = chooser.choose(environment.state, pilot.memory, around)
    assert found is not None
    assert "shop" in found.why
    assert pilot.memory.shop.supplies == {TONIC: 2}


@pytest.mark.long
def test_without_a_shop_the_plan_is_made_without_it(environment: PokemonEnvironment) -> None:
    before(environment, CAIRN)
    pilot, chooser, around = playing(environment, catch="none")
    alone(environment, environment.state.party.members[0], 0)
    plans.keep(pilot.memory.strength.plans, Plan(BUY, CAIRN, party=1, until=9999, buys=((TONIC, 2),)))
    found = chooser.choose(environment.state, pilot.memory, around)
    assert found is not None
    standing = plans.kept(pilot.memory.strength.plans, CAIRN)
    assert standing is not None
    assert standing.kind != BUY
    assert found.why != "goal fight"
    alone(environment, environment.state.party.members[0], 3000)
    assert chooser.costs.heals(6) is None


def test_at_the_level_cap_one_still_buys_and_rests(environment: PokemonEnvironment) -> None:
    before(environment, CAIRN)
    pilot, chooser, _ = playing(environment, catch="none")
    readiness = chooser.planner.readiness
    cap = readiness.cap(readiness.foes(CAIRN))
    weak = grown(environment, chooser, cap, stats=(25,) * 5, max_hp=50, hp=50, pp=(20, 20, 20, 20))
    alone(environment, weak, 3000)
    chooser.costs.heals = lambda most: (10.0, TONIC, 50, min(most, 4))  # type: ignore[method-assign]
    chooser.costs.rivals = lambda leave_out: ()  # type: ignore[method-assign]
    chooser.costs.training = lambda *_: TrainingCost(10.0, TRAIL)  # type: ignore[method-assign]
    pilot.memory.strength.plans = {}
    plan = readiness.plan_for(CAIRN)
    assert plan is not None
    assert (plan.kind, plan.buys) == (BUY, ((TONIC, 4),))
    chooser.costs.heals = lambda _: None  # type: ignore[method-assign]
    assert readiness.plan_for(CAIRN, keep=True) is None
    standing = plans.kept(pilot.memory.strength.plans, CAIRN)
    assert standing is not None
    assert standing.kind == NOTHING
    # A hurt party rests before a fight that should be lost.
    alone(environment, dataclasses.replace(weak, hp=1))
    plan = readiness.plan_for(CAIRN)
    assert plan is not None
    assert plan.kind == HEAL


# Several sets of foes ---------------------------------------------------------------------------------------


@pytest.mark.long
def test_two_sets_of_foes_keep_a_plan_each(environment: PokemonEnvironment) -> None:
    before(environment, CAIRN)
    pilot, chooser, around = playing(environment, catch="none", shop="never", train_most_steps=100_000)
    memory = pilot.memory
    chooser.choose(environment.state, memory, around)
    first = plans.kept(memory.strength.plans, CAIRN)
    memory.strength.nemesis, memory.strength.train_to = (TIDE[0][0], TIDE[0][1]), 9
    chooser.choose(environment.state, memory, around)
    second = plans.kept(memory.strength.plans, TIDE)
    assert first is not None
    assert second is not None
    assert second.begun
    readiness = chooser.planner.readiness
    readiness.cheapest = lambda *_: pytest.fail("it plans again")  # type: ignore[method-assign]
    chooser.choose(environment.state, memory, around)
    assert plans.kept(memory.strength.plans, CAIRN) == first
    assert plans.kept(memory.strength.plans, TIDE) == second
    assert PilotMemory.from_json(memory.to_json()).strength.plans == memory.strength.plans


@pytest.mark.long
def test_asking_for_the_goals_changes_nothing(environment: PokemonEnvironment) -> None:
    before(environment, CAIRN)
    pilot, chooser, around = playing(environment)
    pilot.memory.strength.plans = {}
    assert len(chooser.planner.goals()) == 2
    assert chooser.planner.describe()
    assert pilot.memory.strength.plans == {}
    asked = []
    real = chooser.planner.readiness.plan_for
    chooser.planner.readiness.plan_for = (  # type: ignore[method-assign]
        lambda trainers, *, keep=False: asked.append(keep) or real(trainers, keep=keep)
    )
    chooser.refuse_words()
    assert asked == []
    chooser.choose(environment.state, pilot.memory, around)
    assert asked == [True]


# Grounds ----------------------------------------------------------------------------------------------------


def test_near_grounds_are_considered_whatever_far_ones_yield(
    environment: PokemonEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    pilot, chooser, _ = playing(environment)
    monkeypatch.setattr(grounds_module, "_MOST_SEEN", 1)
    monkeypatch.setattr(grounds_module, "_MOST_UNSEEN", 1)
    monkeypatch.setattr(grounds_module, "_NEAR_SHARE", 0.01)
    known, state = chooser.costs.grounds, environment.state
    ways: grounds_module.Ways = {}
    found = {one.map_id for one in known.likely(pilot.memory, 30, state, ways)}
    steps = {one.map_id: known.distance(one.map_id, state, pilot.memory) for one in known.known(pilot.memory)}
    nearest = min((way.steps, map_id) for map_id, way in steps.items() if way is not None)[1]
    assert nearest in found
    assert all(steps[map_id] == way for map_id, way in ways.items())


def test_the_cost_of_a_training_does_not_depend_on_earlier_places(environment: PokemonEnvironment) -> None:
    _, chooser, _ = playing(environment)
    own, state = environment.state.party.members[0], environment.state
    first = chooser.costs.training(own, 8, None)
    assert first is not None
    ground = next(one for one in chooser.costs.grounds.known(PilotMemory()) if one.map_id == first.ground)
    way = chooser.costs.grounds.distance(ground.map_id, state, PilotMemory())
    assert way is not None
    environment.game.state = state._replace(map_group=way.entry.map_id >> 8, map_number=way.entry.map_id & 0xFF,
                                       x=way.entry.x, y=way.entry.y)  # fmt: skip
    there = chooser.costs.training(own, 8, None)
    environment.game.state = state
    assert chooser.costs.training(own, 8, None) == first
    assert there is not None
    assert there.steps < first.steps


def test_a_level_that_a_ground_does_not_reach_is_trained_elsewhere(environment: PokemonEnvironment) -> None:
    pilot, chooser, around = playing(environment)
    own, memory = environment.state.party.members[0], pilot.memory
    wanted = PlannedGoal(TRAIN, "", "train", number=own.level + 9)
    assert chooser.training.train(wanted, environment.state, memory, around) is not None
    first = plans.kept(memory.strength.plans, ())
    assert first is not None
    assert first.ground >= 0
    plans.keep(memory.strength.plans, dataclasses.replace(first, until=-1))
    chooser.training.train(wanted, environment.state, memory, around)
    assert first.where in memory.strength.poor_grounds
    second = plans.kept(memory.strength.plans, ())
    assert second is None or (second.where != first.where and second.until > environment.steps)
    chooser.costs.training = lambda *_: None  # type: ignore[method-assign]
    memory.strength.plans = {}
    assert chooser.training.train(wanted, environment.state, memory, around) is None


# Hunts ------------------------------------------------------------------------------------------------------


def test_nobody_hunts_without_balls_or_money(environment: PokemonEnvironment) -> None:
    pilot, chooser, around = playing(environment)
    alone(environment, environment.state.party.members[0])
    state, memory, hunting = environment.state, pilot.memory, chooser.hunting
    assert state.balls == 0
    chooser.costs.rivals = lambda leave_out: ()  # type: ignore[method-assign]
    assert hunting.hunt([QUILLET], "hunt", "catch", state, memory, around) is None
    assert hunting.hunt([], "hunt", "catch", state, memory, around) is None
    del chooser.costs.rivals  # type: ignore[attr-defined]
    alone(environment, grown(environment, chooser, 30))
    catch = PlannedGoal(CATCH, "", "catch", species=(QUILLET,))
    earned = chooser.training.follow(catch, environment.state, memory, around)
    assert earned is not None
    assert earned.kind != PACE
    assert "money" in earned.why


def test_money_is_earned_from_trainers_who_are_easily_beaten(environment: PokemonEnvironment) -> None:
    _, chooser, _ = playing(environment)
    gym = Rival(*CAIRN[0], TRAIL, 1, 0, 5)
    readiness = chooser.planner.readiness
    assert not readiness.is_sure(gym)
    alone(environment, grown(environment, chooser, 60))
    assert readiness.is_sure(gym)


def test_a_hunt_keeps_to_the_ground_of_its_plan_and_forgets_it_when_given_up(environment: PokemonEnvironment) -> None:
    pilot, chooser, around = playing(environment)
    there = ((Slot(100, 3, QUILLET),),) * 3
    environment.game.cartridge.__dict__["wild"] = tuple(
        WildTable(one, False, (25,) * 3, there) for one in (TRAIL, WOOD)
    )
    state, memory = environment.state._replace(balls=3), pilot.memory
    asked: list[int] = []
    chooser.hunting.fights.on_ground = lambda ground, *_: asked.append(ground)  # type: ignore[method-assign, func-returns-value]
    for where in (f"{TRAIL}/{GRASS}", f"{WOOD}/{GRASS}"):
        chooser.hunting.hunt([QUILLET], "hunt", "catch", state, memory, around, where)
    assert asked == [TRAIL, WOOD]
    assert memory.hunt.grounds == {}
    memory.hunt.grounds = {str(QUILLET): f"{WOOD}/{GRASS}"}
    plans.keep(memory.strength.plans, Plan(CATCH, CAIRN, party=1, until=9, ground=WOOD, species=(QUILLET,)))
    chooser.planner.readiness.give_up(CAIRN)
    assert (memory.hunt.grounds, memory.strength.plans) == ({}, {})
    # The ground is not at fault, so training there stays possible.
    assert f"{WOOD}/{GRASS}" not in memory.strength.poor_grounds
    assert chooser.costs.recruits() == ()


def test_the_first_ball_may_take_all_the_money(environment: PokemonEnvironment) -> None:
    _, chooser, _ = playing(environment)
    price = environment.game.cartridge.items[CAPSULE].price
    assert environment.state.balls == 0
    state = environment.state._replace(money=price)
    assert chooser.shopping.wanted(FEN_SHOP, state) == [(CAPSULE, 1)]
    assert chooser.shopping.wanted(FEN_SHOP, state._replace(money=price - 1)) == []


def test_an_hour_counts_only_for_grounds_within_reach(environment: PokemonEnvironment) -> None:
    _, chooser, _ = playing(environment)
    nobody, there = (Slot(100, 3, LUMEWISP),), (Slot(100, 3, QUILLET),)
    environment.game.cartridge.__dict__["wild"] = (
        WildTable(TRAIL, False, (25,) * 3, (nobody, nobody, there)),
        WildTable(0xFF01, False, (25,) * 3, (there, there, nobody)),
    )
    assert GoalOrientedPlanner(environment.game).times_of((QUILLET,)) == {0, 1, 2}
    assert chooser.planner.times_of((QUILLET,)) == {2}


def test_a_rival_who_cannot_be_reached_is_given_up_alone(environment: PokemonEnvironment) -> None:
    pilot, chooser, around = playing(environment)
    memory = pilot.memory
    plans.keep(memory.strength.plans, Plan(TRAIN, THORN, party=1, until=99, level=9, ground=TRAIL))
    plans.keep(memory.strength.plans, Plan(RIVAL, CAIRN, party=1, until=99, ground=0xFF01, person=1))
    wanted = PlannedGoal(RIVAL, "", "fight", target=Target(0xFF01, person=1), foes=CAIRN)
    assert chooser.training.follow(wanted, environment.state, memory, around) is None
    assert list(memory.strength.plans) == [plans.name_of(THORN)]
