"""Readiness for the next fights: forecast growth, grounds, the cheapest plan, PP, supplies, catches by hour."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable

import pytest
from support.planned_goals import goal, tell
from support.variants import long_after

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.battle import tactics
from pkmn_pyboy.pilot.battle.tactics import RUN, SWITCH, Situation, Tactician
from pkmn_pyboy.pilot.goals import plans
from pkmn_pyboy.pilot.goals.choosing import GoalChooser
from pkmn_pyboy.pilot.goals.goal_planner import GoalOrientedPlanner
from pkmn_pyboy.pilot.goals.grounds import NEVER, Ground, Reached
from pkmn_pyboy.pilot.goals.plans import NOTHING, RIVAL, TRAIN, Plan
from pkmn_pyboy.pilot.goals.readiness import Readiness
from pkmn_pyboy.pilot.memory import FLOOR, GRASS, WATER, PilotMemory
from pkmn_pyboy.pilot.notes import StrengthNotes
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.walking.surroundings import Lookout
from pkmn_pyboy.profile.milestones import Foe, Requirements
from pkmn_pyboy.rules_gen2.records import Slot, WildTable
from pkmn_pyboy.state.bag import Bag
from pkmn_pyboy.state.game_state import Battle, Battler, Party, PartyMember, Phase
from pkmn_pyboy.world.records import Place

MakeEnvironment = Callable[..., PokemonEnvironment]

# Numbers of the bundled game.
QUILLET, PYRELYNX, PEBBLOT, LUMEWISP = 4, 11, 7, 16
BUMP, SPARK_LICK = 1, 5
CAPSULE, SALVE, TONIC = 1, 2, 3
TRAIL, GLADE, WOOD, CAVE, HIGHCAIRN, TOWN = 513, 514, 515, 517, 1281, 257
LAB = 260
THORN, CAIRN = ((1, 1),), ((1, 3),)
FEN_SHOP = 1


def chooser_of(environment: PokemonEnvironment, **settings: object) -> GoalChooser:
    """Return the pilot's chooser after its first look."""
    pilot = RulesPilot(environment, PilotSettings(**settings))  # type: ignore[arg-type]
    pilot.reset(1)
    pilot.act()
    return pilot.chooser


def partner(environment: PokemonEnvironment, **changes: object) -> PartyMember:
    return dataclasses.replace(environment.state.party.members[0], **changes)  # type: ignore[arg-type]


def at_level(chooser: GoalChooser, environment: PokemonEnvironment, level: int) -> PartyMember:
    growth = chooser.planner.readiness.growth
    grown = growth.member_at(environment.state.party.members[0], level)
    return dataclasses.replace(grown, experience=growth.experience(grown.species, level))


# Growth -----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_forecast_level_equals_that_of_the_game(make: MakeEnvironment) -> None:
    environment = make(observation_type="state", max_steps_per_episode=1200)
    pilot = RulesPilot(environment)
    environment.reset(seed=0)
    pilot.reset(0)
    growth = pilot.chooser.planner.readiness.growth
    first: PartyMember | None = None
    while environment.steps < 1100:
        environment.advance(pilot.act().action)
        members = environment.state.party.members
        if members and first is None and environment.state.phase is Phase.FREE:
            first = members[0]
        if first is not None and members[0].level >= first.level + 3 and environment.state.phase is Phase.FREE:
            break
    assert first is not None
    now = environment.state.party.members[0]
    foreseen = growth.member_at(first, now.level)
    assert now.level >= first.level + 3
    assert (foreseen.stats, foreseen.max_hp, foreseen.moves) == (now.stats, now.max_hp, now.moves)
    assert growth.experience(now.species, now.level) <= now.experience
    assert now.experience < growth.experience(now.species, now.level + 1)


def test_growth_foresees_evolution_and_new_moves(environment: PokemonEnvironment) -> None:
    chooser = chooser_of(environment)
    later = at_level(chooser, environment, 16)
    learns = {move for level, move in environment.game.cartridge.species[PYRELYNX].learns if level == 16}
    assert later.species == PYRELYNX
    assert learns & set(later.moves)
    assert min(later.stats) > 2 * min(environment.state.party.members[0].stats)


# Grounds ----------------------------------------------------------------------------------------------------


def test_a_ground_that_cannot_reach_the_level_is_refused(environment: PokemonEnvironment) -> None:
    chooser = chooser_of(environment)
    costs = chooser.costs
    strong = at_level(chooser, environment, 90)
    # Pokemon near the start yield next to nothing at level 90.
    assert costs.training(environment.state.party.members[0], 7, None) is not None
    assert costs.training(strong, 91, None) is None


def test_a_ground_where_every_fight_would_be_lost_is_no_ground(environment: PokemonEnvironment) -> None:
    chooser = chooser_of(environment)
    known = chooser.costs.grounds.known(PilotMemory())
    hard = next(ground for ground in known if ground.map_id == HIGHCAIRN)
    easy = next(ground for ground in known if ground.map_id == TRAIL)
    grounds, own = chooser.costs.grounds, environment.state.party.members[0]
    assert grounds.steps_for(hard, own, 6, None, 0) == NEVER
    assert grounds.steps_for(easy, own, 6, None, 0) < 500
    helped = grounds.steps_for(hard, own, 6, at_level(chooser, environment, 30), 0)
    assert helped < NEVER


def test_caves_are_grounds_on_their_floor_and_water_with_surf(environment: PokemonEnvironment) -> None:
    chooser = chooser_of(environment)
    grounds = chooser.costs.grounds
    found = {(ground.map_id, ground.on) for ground in grounds.known(PilotMemory())}
    assert (CAVE, FLOOR) in found
    assert (TRAIL, GRASS) in found
    assert not any(on == WATER for _, on in found)
    poor = PilotMemory(strength=StrengthNotes(poor_grounds={f"{CAVE}/{FLOOR}": environment.steps + 1}))
    assert (CAVE, FLOOR) not in {(ground.map_id, ground.on) for ground in grounds.known(poor)}


def test_the_pilot_paces_on_the_floor_of_a_cave(environment: PokemonEnvironment) -> None:
    around = Lookout(environment.game).look(environment.state, PilotMemory())
    assert around is not None
    nearest = around.nearest_ground(FLOOR)
    assert nearest is not None
    assert around.is_ground(nearest[0], FLOOR)
    assert around.nearest_ground(GRASS) is None


# The cheapest plan ------------------------------------------------------------------------------------------


def judged(environment: PokemonEnvironment, **settings: object) -> tuple[Readiness, dict[str, object]]:
    """Return the readiness, and the plans that it keeps."""
    readiness = chooser_of(environment, **settings).planner.readiness
    kept: dict[str, object] = {}
    readiness.load = lambda: kept
    return readiness, kept


def test_the_level_that_is_enough_is_found_at_once_and_kept(environment: PokemonEnvironment) -> None:
    readiness, kept = judged(environment, catch="none", shop="never", train_most_steps=100_000)
    plan = readiness.plan_for(CAIRN)
    assert kept == {}
    assert readiness.plan_for(CAIRN, keep=True) == plan
    assert plan is not None
    own = environment.state.party.members[0]
    foes = readiness.foes(CAIRN)
    if plan.kind == TRAIN:
        assert plan.level > own.level + 3
    level = readiness.level_for(0, [own], [readiness.growth.rested(own)], foes, ())
    assert level is not None
    scores = [
        readiness.forecaster.forecast([readiness.growth.at(own, one)], foes, readiness.care).score
        for one in (level - 1, level)
    ]
    assert scores[0] < readiness.enough <= scores[1]
    assert readiness.plan_for(CAIRN) == plan
    assert plans.kept(json.loads(json.dumps(kept)), CAIRN) == plan


def test_without_a_ground_for_the_level_the_fight_is_tried(environment: PokemonEnvironment) -> None:
    readiness, kept = judged(environment, catch="none", shop="never", train_most_steps=100)
    assert readiness.costs.training(environment.state.party.members[0], 6, None) is None
    assert readiness.plan_for(CAIRN, keep=True) is None
    # The result that there is none is kept for a while, too.
    readiness.cheapest = lambda *_: pytest.fail("it looks again")  # type: ignore[method-assign]
    assert readiness.plan_for(CAIRN, keep=True) is None
    standing = plans.kept(kept, CAIRN)
    assert standing is not None
    assert (standing.kind, standing.until > environment.steps) == (NOTHING, True)


def test_a_plan_that_did_not_work_in_time_gives_its_ground_up(environment: PokemonEnvironment) -> None:
    chooser = chooser_of(environment, catch="none", shop="never")
    memory = chooser.costs.memory
    own = environment.state.party.members[0]
    old = Plan(TRAIN, CAIRN, party=1, until=-1, dvs=own.dvs, level=50, ground=TRAIL)
    plans.keep(memory.strength.plans, old)
    chooser.planner.readiness.plan_for(CAIRN, keep=True)
    # nobody had begun with it: that is nothing against the ground
    assert f"{TRAIL}/{GRASS}" not in memory.strength.poor_grounds
    plans.keep(memory.strength.plans, dataclasses.replace(old, begun=True))
    chooser.planner.readiness.plan_for(CAIRN)
    assert memory.strength.poor_grounds == {}
    chooser.planner.readiness.plan_for(CAIRN, keep=True)
    assert f"{TRAIL}/{GRASS}" in memory.strength.poor_grounds
    new = plans.kept(memory.strength.plans, CAIRN)
    assert new is not None
    assert new.until > environment.steps


def test_experience_goes_to_the_member_worth_most_in_the_end(environment: PokemonEnvironment) -> None:
    readiness = chooser_of(environment).planner.readiness
    own = environment.state.party.members[0]
    light = dataclasses.replace(readiness.recruit(LUMEWISP, own.level + 1), dvs=(1, 2, 3, 4))
    environment.game.state = environment.state._replace(party=Party((light, own), 11, 1.0))
    assert readiness.strongest() == 0
    assert readiness.carrier() == 1


def test_a_trainer_near_by_is_fought_for_the_experience(environment: PokemonEnvironment) -> None:
    chooser = chooser_of(environment, catch="none", shop="never", train_most_steps=100)
    growth = chooser.planner.readiness.growth
    one = at_level(chooser, environment, 20)
    one = dataclasses.replace(one, experience=growth.experience(one.species, 21) - 100)
    environment.game.state = environment.state._replace(party=Party((one,), 20, 1.0))
    found = chooser.costs.rivals(())
    assert found
    beaten = found[0].flag
    assert not chooser.costs.beaten(beaten)
    plan = chooser.planner.readiness.plan_for(CAIRN)
    assert plan is not None
    assert plan.kind == RIVAL
    assert plan.flag in {rival.flag for rival in found}
    flags = environment.profile.memory["wEventFlags"]
    environment.emulator.memory[flags.bank, flags.address + (beaten >> 3)] |= 1 << (beaten & 7)
    assert chooser.costs.beaten(beaten)
    assert beaten not in {rival.flag for rival in chooser.costs.rivals(())}


# In battle --------------------------------------------------------------------------------------------------


def against(environment: PokemonEnvironment, own: PartyMember, others: tuple[PartyMember, ...], foe: Battler,
            *, training: bool) -> str:  # fmt: skip
    """Return the plan against a foe in the wild."""
    tables = GoalOrientedPlanner(environment.game).tables
    out = Battler(own.species, own.level, own.hp, own.max_hp, 0, tables.types_of(own.species), own.moves, own.pp,
                  own.stats)  # fmt: skip
    party = Party((own, *others), own.level, 1.0)
    tactician = Tactician(tables, PilotSettings(), environment.profile.item_uses)
    return tactician.plan(Situation(Battle(tactics.WILD, 0, 0, foe, out, 1.0), party, 0, Bag(), training=training)).kind


def test_a_trained_member_leaves_a_lost_fight_to_a_stronger_one(environment: PokemonEnvironment) -> None:
    chooser = chooser_of(environment)
    own, strong = environment.state.party.members[0], at_level(chooser, environment, 40)
    made = chooser.planner.readiness.book.foe(15, PEBBLOT)
    foe = Battler(PEBBLOT, 15, made.hp, made.max_hp, 0, made.types, (*made.moves, 0, 0)[:4], (9,) * 4, made.stats)
    assert against(environment, own, (strong,), foe, training=True) == SWITCH
    assert against(environment, own, (), foe, training=True) == RUN
    assert against(environment, strong, (own,), foe, training=True) == tactics.MOVE


def test_a_loss_in_the_wild_closes_the_ground_and_counts_for_no_trainer(environment: PokemonEnvironment) -> None:
    pilot = RulesPilot(environment)
    pilot.reset(1)
    memory = pilot.memory
    memory.map_id, memory.strength.plans = GLADE, {"kind": TRAIN, "foes": []}
    pilot.learn_from_loss(5, memory)
    assert memory.strength.losses == memory.strength.train_to == 0
    assert memory.strength.plans == {}
    assert memory.strength.poor_grounds[f"{GLADE}/{GRASS}"] > environment.steps
    memory.strength.nemesis = (1, 1)
    pilot.learn_from_loss(5, memory)
    assert memory.strength.losses == 1


# PP, items, catches ----------------------------------------------------------------------------------------


def test_a_member_without_pp_is_weak_and_wins_nothing(environment: PokemonEnvironment) -> None:
    chooser = chooser_of(environment)
    own = at_level(chooser, environment, 20)
    empty = dataclasses.replace(own, pp=(0,) * len(own.pp))

    def weak(member: PartyMember) -> bool:
        return chooser.healing.is_weak(environment.state._replace(party=Party((member,), 20, 1.0)))

    assert not weak(dataclasses.replace(own, pp=tuple(20 if move else 0 for move in own.moves)))
    assert weak(empty)
    readiness = chooser.planner.readiness
    foes = readiness.foes(THORN)
    assert readiness.forecaster.forecast([readiness.growth.rested(own)], foes, 1.1).won
    assert not readiness.forecaster.forecast([readiness.tables.member(empty)], foes, 1.1).won


def test_healing_items_count_before_a_close_fight(environment: PokemonEnvironment) -> None:
    readiness, _ = judged(environment)
    own, foes = environment.state.party.members[0], readiness.foes(CAIRN)
    level = readiness.level_for(0, [own], [readiness.growth.rested(own)], foes, ())
    with_things = readiness.level_for(0, [own], [readiness.growth.rested(own)], foes, (50,) * 6)
    assert level is not None
    assert with_things is not None
    assert with_things < level


def test_supplies_are_bought_first_as_far_as_the_money_goes(environment: PokemonEnvironment) -> None:
    shopping = chooser_of(environment).shopping
    prices = {item: environment.game.cartridge.items[item].price for item in (SALVE, TONIC)}
    state = environment.state._replace(money=2 * prices[TONIC] + prices[SALVE])
    assert shopping.wanted(FEN_SHOP, state, supplies={TONIC: 9, SALVE: 1}) == [(TONIC, 2), (SALVE, 1)]
    assert CAPSULE in dict(shopping.wanted(FEN_SHOP, state))


def test_the_story_says_what_is_carried(environment: PokemonEnvironment) -> None:
    tell(environment, goal(environment, "league", supplies=((TONIC, 4),)))
    pilot = RulesPilot(environment)
    pilot.reset(1)
    pilot.act()
    assert pilot.memory.shop.supplies == {TONIC: 4}


def test_balls_are_bought_at_any_distance_before_a_hunt(environment: PokemonEnvironment) -> None:
    pilot = RulesPilot(environment, PilotSettings(shop_steps=0))
    pilot.reset(1)
    assert environment.state.balls == 0
    around = Lookout(environment.game).look(environment.state, pilot.memory)
    assert around is not None
    environment.game.state = state = environment.state._replace(money=3000)
    found = pilot.chooser.hunting.hunt([QUILLET], "hunt", "catch", state, pilot.memory, around)
    assert found is not None
    assert "shop" in found.why
    assert pilot.chooser.shopping.choose(state, pilot.memory, around) is None


@pytest.mark.parametrize(("time", "where"), long_after(1, [(1, GLADE), (2, WOOD)]))
def test_a_hunt_goes_where_the_species_lives_at_this_hour(
    environment: PokemonEnvironment, time: int, where: int
) -> None:
    chooser = chooser_of(environment)
    grounds = chooser.costs.grounds
    there, nobody = (Slot(100, 3, QUILLET),), (Slot(100, 3, LUMEWISP),)
    environment.game.cartridge.__dict__["wild"] = (
        WildTable(GLADE, False, (25,) * 3, (nobody, there, nobody)),
        WildTable(WOOD, False, (25,) * 3, (nobody, nobody, there)),
    )
    grounds.time_of_day = lambda: time  # type: ignore[method-assign]
    grounds.way = lambda map_id, *_: Reached(40, Place(map_id, 1, 1))  # type: ignore[method-assign]
    memory = PilotMemory()
    found = chooser.hunting.ground([QUILLET], environment.state, memory)
    assert isinstance(found, Ground)
    assert found.map_id == where
    grounds.time_of_day = lambda: 0  # type: ignore[method-assign]
    assert chooser.hunting.ground([QUILLET], environment.state, memory) is None


def test_a_species_needed_for_a_later_field_move_is_worth_a_ball(environment: PokemonEnvironment) -> None:
    move = environment.profile.field_moves["surf"]
    planner = GoalOrientedPlanner(environment.game)
    own = environment.state.party.members[0]
    able = {one for one in environment.game.cartridge.species if planner.field_moves.learns(one, move)}
    tell(environment, goal(environment, "lake", requires=Requirements(field_moves=("surf",))))
    environment.game.state = environment.state._replace(
        party=Party((dataclasses.replace(own, species=QUILLET),), 5, 1.0)
    )
    assert set(GoalOrientedPlanner(environment.game).field_moves.learners_to_come()) == (
        able if QUILLET not in able else set()
    )
    swimmer = dataclasses.replace(own, species=min(able))
    environment.game.state = environment.state._replace(party=Party((swimmer,), 5, 1.0))
    assert GoalOrientedPlanner(environment.game).field_moves.learners_to_come() == ()


def test_foes_of_the_story_are_not_fought_for_training(environment: PokemonEnvironment) -> None:
    chooser = chooser_of(environment)
    story = {(foe.trainer_class, foe.number) for one in environment.profile.milestones for foe in one.requires.foes}
    assert Foe(1, 1)[:2] in story
    assert not story & {(one.trainer_class, one.trainer) for _, one in chooser.costs.trainers()}
