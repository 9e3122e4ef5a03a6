"""The pilot in battles: damage as the game deals it, status moves, switches, items, balls, new moves."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Callable

import pytest

from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.pilot.battle import forecast as strength
from pkmn_pyboy.pilot.battle import move_worth, tactics
from pkmn_pyboy.pilot.battle.tables import BattleTables
from pkmn_pyboy.pilot.battle.tactics import Situation, Tactician
from pkmn_pyboy.pilot.pilot import RulesPilot
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.rules_gen2.combatant import Combatant
from pkmn_pyboy.state.bag import Bag
from pkmn_pyboy.state.game_state import Battle, Battler, Party, PartyMember, Phase
from pkmn_pyboy.world.cartridge import Cartridge
from pkmncli.api import Action

MakeEnvironment = Callable[..., PokemonEnvironment]

# Numbers of the bundled game.
BUMP, SNARL, SPARK_LICK, SPLOOSH, BRACE, QUILL_STAB, FAST_PAW = 1, 2, 5, 6, 11, 12, 14
SLEEP_DUST, MEND, SHEAR = 25, 33, 36
NORMAL, FIRE, WATER, GRASS = 0, 20, 21, 22
CAPSULE, SALVE, WAKE_HERB = 1, 2, 5
STATS = (20, 20, 20, 20, 20)


@pytest.fixture(scope="module")
def cartridge(quillwood: GameProfile) -> Cartridge:
    assert quillwood.bundled_rom is not None
    return Cartridge(quillwood.bundled_rom.read_bytes(), quillwood)


@pytest.fixture(scope="module")
def tables(cartridge: Cartridge) -> BattleTables:
    return BattleTables(cartridge)


@pytest.fixture
def tactician(tables: BattleTables, quillwood: GameProfile) -> Tactician:
    return Tactician(tables, PilotSettings(), quillwood.item_uses)


def battler(kind: int, moves: tuple[int, ...], hp: int = 40, level: int = 10, status: int = 0) -> Battler:
    padded = (*moves, 0, 0, 0, 0)[:4]
    return Battler(1, level, hp, 40, status, (kind, kind), padded, tuple(10 if move else 0 for move in padded), STATS)


def member(species: int, moves: tuple[int, ...], hp: int = 40, level: int = 10) -> PartyMember:
    padded = (*moves, 0, 0, 0, 0)[:4]
    points = tuple(10 if move else 0 for move in padded)
    return PartyMember(species, level, hp, 40, 0, 0, 1000, padded, points, False, STATS)


def situation(own: Battler, foe: Battler, kind: int = tactics.TRAINER, **more: object) -> Situation:
    party = Party((member(own.species, own.moves, own.hp),), own.level, 1.0)
    return Situation(Battle(kind, 0, 0, foe, own, 1.0), party, 0, Bag(), **more)  # type: ignore[arg-type]


@pytest.mark.long
def test_hits_do_what_the_formula_says(make: MakeEnvironment, tables: BattleTables) -> None:
    environment = make(observation_type="state", max_steps_per_episode=2000)
    pilot = RulesPilot(environment)
    environment.reset(seed=2)
    pilot.reset(2)
    hits, aimed = 0, None
    while hits < 8:
        assert environment.steps < 1500
        state = environment.state
        battle = state.battle
        if battle is not None and aimed is not None and battle.opponent is not None:
            own, number, foe = aimed
            lost = foe.hp - battle.opponent.hp
            if lost > 0 and battle.opponent.max_hp == foe.max_hp:
                ranges = [
                    (
                        tables.min_damage(own, number, foe, critical=critical),
                        tables.max_damage(own, number, foe, critical=critical),
                    )
                    for critical in (False, True)
                ]
                within = any(min(least, foe.hp) <= lost <= min(most, foe.hp) for least, most in ranges)
                assert within, (own, number, foe, lost, ranges)
                hits += 1
                aimed = None
        decision = pilot.act()
        if state.phase is Phase.BATTLE_MOVES and decision.action == Action.A and battle is not None:
            assert battle.own is not None and battle.opponent is not None
            number = battle.own.moves[state.menu.cursor_row - 1]
            sides = tables.sides(battle)
            assert sides is not None
            aimed = (sides[0], number, sides[1])
        environment.advance(decision.action)


def test_types_power_and_accuracy_count(tables: BattleTables) -> None:
    own = tables.battler(battler(WATER, (SPLOOSH, BUMP)))
    fire, grass = tables.battler(battler(FIRE, (BUMP,))), tables.battler(battler(GRASS, (BUMP,)))
    # Level 10, power 45, equal stats: (10 * 2 / 5 + 2) * 45 / 50 + 2, and half more for the own type.
    assert tables.moves[SPLOOSH].power == 45
    assert tables.max_damage(own, SPLOOSH, fire) == (5 + 2 + 3) * 2
    assert tables.max_damage(own, SPLOOSH, grass) == (5 + 2 + 3) // 2
    assert tables.damage(own, SNARL, fire) == 0
    assert tables.max_damage(own, BUMP, fire) == 6 * 35 // 50 + 2


def test_the_surest_win_comes_before_the_strongest_hit(tables: BattleTables, tactician: Tactician) -> None:
    own, foe = battler(NORMAL, (QUILL_STAB, FAST_PAW)), battler(NORMAL, (BUMP,), hp=3)
    assert tactician.ranked(tables.battler(own), tables.battler(foe))[0] == 1
    strong = dataclasses.replace(foe, hp=40)
    assert tactician.ranked(tables.battler(own), tables.battler(strong))[0] == 0


def test_sleep_pays_in_a_long_fight_only(tactician: Tactician) -> None:
    own = battler(GRASS, (BUMP, SLEEP_DUST))
    long_fight = tactician.plan(situation(own, battler(WATER, (BUMP,), hp=40)))
    assert (long_fight.kind, long_fight.number) == (tactics.MOVE, 1)
    assert tactician.plan(situation(own, battler(WATER, (BUMP,), hp=5))).number == 0
    assert tactician.plan(situation(own, battler(WATER, (BUMP,), status=3))).number == 0
    tired = situation(own, battler(WATER, (BUMP,)), used={SLEEP_DUST: 3})
    assert tactician.plan(tired).number == 0


def test_a_healing_move_is_used_when_hurt(tactician: Tactician) -> None:
    hurt = tactician.plan(situation(battler(NORMAL, (BUMP, MEND), hp=15), battler(NORMAL, (BUMP,))))
    assert hurt.number == 1
    assert tactician.plan(situation(battler(NORMAL, (BUMP, MEND)), battler(NORMAL, (BUMP,)))).number == 0


def test_switches_to_a_better_member_but_not_endlessly(tactician: Tactician) -> None:
    own, foe = battler(GRASS, (BUMP,), hp=20), battler(FIRE, (SPARK_LICK,), level=12)
    party = Party((member(1, (BUMP,), hp=20), member(3, (SPLOOSH,)), member(2, (BUMP,))), 30, 1.0)
    now = Situation(Battle(tactics.TRAINER, 0, 0, foe, own, 1.0), party, 0, Bag())
    assert tactician.plan(now)[:2] == (tactics.SWITCH, 1)
    assert tactician.plan(dataclasses.replace(now, switches=2)).kind == tactics.MOVE
    assert tactician.best_member(party, None, leave_out=1) in (0, 2)


def test_items_are_used_when_they_decide(tactician: Tactician) -> None:
    own, foe = battler(NORMAL, (BUMP,), hp=6), battler(NORMAL, (BUMP,))
    with_salve = dataclasses.replace(situation(own, foe), bag=Bag(items={SALVE: 1}))
    assert tactician.plan(with_salve)[:3] == (tactics.ITEM, SALVE, 0)
    assert tactician.plan(dataclasses.replace(with_salve, failed=(tactics.ITEM,))).kind == tactics.MOVE
    asleep = dataclasses.replace(situation(battler(NORMAL, (BUMP,), status=3), foe), bag=Bag(items={WAKE_HERB: 1}))
    assert tactician.plan(asleep)[:2] == (tactics.ITEM, WAKE_HERB)


def test_weakens_first_then_throws(tactician: Tactician) -> None:
    bag = Bag(balls={CAPSULE: 2})
    foe = dataclasses.replace(battler(NORMAL, (BUMP,)), species=1)  # hard to catch
    fresh = dataclasses.replace(situation(battler(NORMAL, (BUMP,)), foe, tactics.WILD, wanted=True), bag=bag)
    assert tactician.plan(fresh).kind == tactics.MOVE
    weak = dataclasses.replace(fresh, battle=dataclasses.replace(fresh.battle, opponent=dataclasses.replace(foe, hp=9)))
    assert tactician.plan(weak)[:2] == (tactics.BALL, CAPSULE)
    assert tactician.plan(dataclasses.replace(weak, bag=Bag())).kind == tactics.MOVE


def test_a_new_move_replaces_the_least_useful(tables: BattleTables) -> None:
    full = member(3, (SPLOOSH, BUMP, SNARL, BRACE))
    place = move_worth.to_forget(tables, full, QUILL_STAB, ())
    assert place is not None and full.moves[place] in (BUMP, SNARL, BRACE)
    assert move_worth.to_forget(tables, member(3, (SPLOOSH, QUILL_STAB, FAST_PAW, MEND)), SNARL, ()) is None


def test_field_moves_are_never_given_up(tables: BattleTables) -> None:
    full = member(3, (SHEAR, SHEAR, SHEAR, SHEAR))
    assert move_worth.to_forget(tables, full, QUILL_STAB, (SHEAR,)) is None
    weak = member(3, (SPLOOSH, QUILL_STAB, FAST_PAW, MEND))
    assert move_worth.to_forget(tables, weak, SHEAR, (SHEAR,)) is not None


def test_leaders_parties_come_from_the_image(
    tables: BattleTables, cartridge: Cartridge, quillwood: GameProfile
) -> None:
    book = strength.TrainerBook(cartridge, tables)
    classes = tomllib.loads((quillwood.folder / "data" / "trainers.toml").read_text(encoding="utf-8"))["class"]
    numbers = {name: number for number, name in quillwood.names.species.items()}
    for trainer_class, entry in enumerate(classes, 1):
        for number, (_, *members) in enumerate(entry["trainers"], 1):
            party = book.party(trainer_class, number)
            assert [foe.level for foe in party] == [level for level, _ in members]
            assert [foe.types for foe in party] == [tables.types_of(numbers[name]) for _, name in members]
    assert book.party(0, 1) == ()


def test_a_forecast_grows_with_the_party(tables: BattleTables, cartridge: Cartridge) -> None:
    book = strength.TrainerBook(cartridge, tables)
    foes = book.party(1, 1)

    def score(level: int, care: float = 1.0) -> float:
        own: Combatant = book.foe(level, 2)
        return strength.Forecaster(tables).forecast([own], foes, care).score

    assert score(3) < 1.0 < score(20)
    assert score(3) <= score(8) <= score(20)
    assert score(10, care=3.0) <= score(10)
