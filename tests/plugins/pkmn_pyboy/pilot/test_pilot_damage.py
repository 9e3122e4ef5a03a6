"""The damage formula, move by move, against values computed by hand from the rules of the second generation."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pkmn_pyboy.pilot.battle.tables import BattleTables
from pkmn_pyboy.pilot.battle.tactics import MOVE, TRAINER, Situation, Tactician
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.profile.model import ItemUses
from pkmn_pyboy.rules_gen2.combatant import Combatant
from pkmn_pyboy.rules_gen2.move_effects import RAIN, SUN, Effect, hidden_power, hidden_type, typical_power
from pkmn_pyboy.rules_gen2.records import MoveData
from pkmn_pyboy.state.bag import Bag
from pkmn_pyboy.state.game_state import Battle, Battler, Party
from pkmn_pyboy.world.cartridge import Cartridge

NORMAL, POISON, GROUND, GHOST, STEEL, FIRE, WATER, GRASS, ELECTRIC = 0, 3, 4, 8, 9, 20, 21, 22, 23
FACTORS = {(NORMAL, GHOST): 0.0, (WATER, FIRE): 2.0, (WATER, GRASS): 0.5, (FIRE, GRASS): 2.0, (FIRE, WATER): 0.5,
           (POISON, STEEL): 0.0, (ELECTRIC, GROUND): 0.0, (GRASS, WATER): 2.0}  # fmt: skip
ALL_HIT, HALF_HIT = 255, 128

ASLEEP = 3


def tables(*moves: MoveData) -> BattleTables:
    """Return the tables of a game with these moves, numbered from 1."""
    cartridge = SimpleNamespace(moves=dict(enumerate(moves, 1)), species={}, type_factors=FACTORS, trainers={})
    return BattleTables(cast("Cartridge", cartridge))


def move(effect: int = 0, power: int = 50, kind: int = NORMAL, accuracy: int = ALL_HIT) -> MoveData:
    return MoveData(1, "a move", effect, power, kind, accuracy, 10, 0)


def one(level: int = 30, hp: int = 100, types: tuple[int, ...] = (GHOST + 50,), **more: Any) -> Combatant:
    """Return a combatant with attack 60, defence 50, speed 40, special attack 70 and special defence 80 by default."""
    given: dict[str, Any] = {"status": 0, "stats": (60, 50, 40, 70, 80), "moves": (1,), "pp": (10,)} | more
    return Combatant(level, hp, 100, types=types, **given)


def max_damage(what: MoveData, attacker: Combatant, defender: Combatant, *, critical: bool = False) -> float:
    return tables(what).max_damage(attacker, 1, defender, critical=critical)


def test_the_plain_formula() -> None:
    # Level 30: 30 * 2 / 5 + 2 = 14; times 50 = 700; times 60 / 50 = 840; / 50 = 16; + 2
    assert max_damage(move(), one(), one()) == 18
    assert tables(move()).min_damage(one(), 1, one()) == 18 * 217 // 255
    # A special move: 700 * 70 / 80 = 612; / 50 = 12; + 2
    assert max_damage(move(kind=WATER), one(), one()) == 14
    # A critical hit doubles the value before the 2 is added.
    assert max_damage(move(), one(), one(), critical=True) == 16 * 2 + 2


@pytest.mark.parametrize(
    ("types", "expected"), [((FIRE,), 28), ((FIRE, FIRE), 28), ((GRASS,), 7), ((FIRE, GRASS), 14), ((NORMAL,), 14)]
)
def test_types_count_one_after_the_other(types: tuple[int, ...], expected: int) -> None:
    assert max_damage(move(kind=WATER), one(), one(types=types)) == expected


def test_the_own_type_adds_half_and_whole_numbers_stay_whole() -> None:
    assert max_damage(move(kind=WATER), one(types=(WATER,)), one(types=(GRASS,))) == (14 + 7) * 5 // 10
    assert max_damage(move(power=15), one(level=2), one(stats=(5, 200, 5, 5, 5))) == 2  # only the 2 is left


def test_stats_beyond_a_byte_are_quartered_and_the_most_is_capped() -> None:
    # 14 * 50 * (400 // 4) / (50 // 4) / 50
    assert max_damage(move(), one(stats=(400, 50, 40, 70, 80)), one()) == 14 * 50 * 100 // 12 // 50 + 2
    assert max_damage(move(power=250), one(level=100, stats=(999, 1, 1, 1, 1)), one(stats=(1, 4, 1, 1, 1))) == 999


def test_screens_double_the_defence_except_for_a_critical_hit() -> None:
    behind_reflect, behind_light = one(screens=1 << 4), one(screens=1 << 3)
    assert max_damage(move(), one(), behind_reflect) == 14 * 50 * 60 // 100 // 50 + 2
    assert max_damage(move(), one(), behind_light) == 18
    assert max_damage(move(kind=WATER), one(), behind_light) == 14 * 50 * 70 // 160 // 50 + 2
    assert max_damage(move(), one(), behind_reflect, critical=True) == 34


@pytest.mark.parametrize(
    ("kind", "effect", "weather", "expected"),
    [
        (WATER, 0, RAIN, 14 * 15 // 10), (FIRE, 0, RAIN, 7), (GRASS, Effect.SOLAR_BEAM, RAIN, 7),
        (FIRE, 0, SUN, 21), (WATER, 0, SUN, 7), (GRASS, Effect.SOLAR_BEAM, SUN, 14), (ELECTRIC, 0, RAIN, 14),
        (WATER, 0, 3, 14),
    ],
)  # fmt: skip
def test_weather(kind: int, effect: int, weather: int, expected: int) -> None:
    assert max_damage(move(effect, kind=kind), one(weather=weather), one()) == expected


@pytest.mark.parametrize(
    ("what", "attacker", "expected"),
    [
        (move(Effect.STATIC_DAMAGE, 40), one(), 40),
        (move(Effect.LEVEL_DAMAGE, 1), one(level=37), 37),
        (move(Effect.PSYWAVE, 1), one(level=40), 30),
        (move(Effect.SUPER_FANG, 1), one(), 50),
        (move(Effect.ONE_HIT_KO, 1), one(), 100),
        (move(Effect.ONE_HIT_KO, 1), one(level=29), 0),
        (move(Effect.RETURN, 1), one(happiness=255), 14 * 102 * 60 // 50 // 50 + 2),
        (move(Effect.RETURN, 1), one(happiness=0), 14 * 60 // 50 // 50 + 2),
        (move(Effect.FRUSTRATION, 1), one(happiness=0), 14 * 102 * 60 // 50 // 50 + 2),
        (move(Effect.REVERSAL, 1), one(hp=100), 14 * 20 * 60 // 50 // 50 + 2),
        (move(Effect.REVERSAL, 1), one(hp=3), 14 * 200 * 60 // 50 // 50 + 2),
        (move(Effect.REVERSAL, 1), one(hp=20), 14 * 100 * 60 // 50 // 50 + 2),
        (move(Effect.MAGNITUDE, 1), one(), 14 * 71 * 60 // 50 // 50 + 2),
        (move(Effect.SELF_DESTRUCT, 200), one(), 14 * 200 * 60 // 25 // 50 + 2),
        (move(Effect.COUNTER, 1), one(), 0),
        (move(Effect.MIRROR_COAT, 1), one(), 0),
        (move(Effect.DREAM_EATER, 100), one(), 0),
        (move(Effect.SNORE, 40), one(), 0),
        (move(Effect.SNORE, 40), one(status=ASLEEP), 14 * 40 * 60 // 50 // 50 + 2),
        (move(0, 0), one(), 0),
    ],
)  # fmt: skip
def test_moves_with_rules_of_their_own(what: MoveData, attacker: Combatant, expected: int) -> None:
    assert max_damage(what, attacker, one()) == expected


def test_moves_that_need_or_spare_the_opponent() -> None:
    assert max_damage(move(Effect.DREAM_EATER, 100), one(), one(status=ASLEEP)) > 0
    assert max_damage(move(Effect.FALSE_SWIPE), one(), one(hp=7)) == 6
    assert max_damage(move(Effect.FALSE_SWIPE), one(), one(hp=90)) == 18
    assert max_damage(move(Effect.LEVEL_DAMAGE, 1), one(), one(types=(GHOST,))) == 0
    assert max_damage(move(Effect.FUTURE_SIGHT, 50), one(), one(types=(GHOST,))) == 18


def test_hidden_power_depends_on_the_dvs() -> None:
    assert hidden_power((15, 15, 15, 15)) == 70
    assert hidden_power((0, 0, 0, 0)) == 31
    assert hidden_power((8, 0, 0, 3)) == (5 * 8 + 3) // 2 + 31
    assert hidden_type((0, 0, 9, 9)) == 1
    assert hidden_type((1, 1, 9, 9)) == 7  # the fifth type of the list is one that no Pokemon has
    assert hidden_type((2, 0, 9, 9)) == 20
    assert hidden_type((15, 15, 9, 9)) == 27
    strong = one(dvs=(14, 15, 15, 15))
    assert max_damage(move(Effect.HIDDEN_POWER, 1), strong, one(types=(WATER,))) > 0


def test_expected_damage_counts_misses_criticals_and_turns() -> None:
    plain = tables(move()).damage(one(), 1, one())
    share = 236
    blow, critical = 18 * share // 255, 34 * share // 255
    assert plain == pytest.approx(blow + 17 / 256 * (critical - blow))
    assert tables(move(accuracy=HALF_HIT)).damage(one(), 1, one()) == pytest.approx(plain / 2)
    assert tables(move(Effect.DOUBLE_HIT)).damage(one(), 1, one()) == pytest.approx(2 * plain)
    assert tables(move(Effect.RAZOR_WIND)).damage(one(), 1, one()) == pytest.approx(plain / 2)
    beam = tables(move(Effect.SOLAR_BEAM, kind=GRASS))
    assert beam.damage(one(weather=SUN), 1, one()) == pytest.approx(2 * beam.damage(one(), 1, one()))


@pytest.mark.parametrize(
    ("own", "foe", "byte"),
    [(0, 0, 128), (-1, 0, 96), (0, 1, 96), (-6, 0, 42), (0, -1, 170), (6, 0, 255)],
)
def test_stages_of_accuracy_and_evasion(own: int, foe: int, byte: int) -> None:
    attacker, defender = one(stages=(0, 0, 0, 0, 0, own, 0)), one(stages=(0, 0, 0, 0, 0, 0, foe))
    what = move(accuracy=HALF_HIT)
    expected = 1.0 if byte == ALL_HIT else byte / 256
    assert tables(what).accuracy(what, attacker, defender) == expected


def test_accuracy_of_moves_with_rules_of_their_own() -> None:
    low, high = one(stages=(0, 0, 0, 0, 0, -6, 0)), one(stages=(0, 0, 0, 0, 0, 0, 6))
    swift, storm, end = (
        move(Effect.ALWAYS_HIT),
        move(Effect.THUNDER, accuracy=178),
        move(Effect.ONE_HIT_KO, 1, NORMAL, 76),
    )
    asked = tables(swift, storm, end)
    assert asked.accuracy(swift, low, high) == 1.0
    assert asked.accuracy(storm, one(weather=RAIN), one()) == 1.0
    assert asked.accuracy(storm, one(weather=SUN), one()) == 127 / 256
    assert asked.accuracy(end, one(level=40), one(level=30)) == 96 / 256


def test_moves_to_be_learnt_are_compared_by_what_they_usually_do() -> None:
    assert typical_power(move(Effect.RETURN, 1)) > typical_power(move(0, 40)) > typical_power(move(Effect.COUNTER, 1))
    assert typical_power(move(Effect.SLEEP, 0)) == 0


CONDITIONED = [
    (Effect.POISON, POISON, {"types": (POISON,)}, (), False),
    (Effect.POISON, POISON, {"types": (STEEL,)}, (), False),
    (Effect.POISON, POISON, {"types": (GRASS,)}, (), True),
    (Effect.POISON, POISON, {"status": ASLEEP}, (), False),
    (Effect.TOXIC, POISON, {}, ("behind a substitute",), False),
    (Effect.LEECH_SEED, GRASS, {"types": (GRASS,)}, (), False),
    (Effect.LEECH_SEED, GRASS, {"types": (WATER,)}, ("seeded",), False),
    (Effect.LEECH_SEED, GRASS, {"types": (WATER,), "status": ASLEEP}, (), True),
    (Effect.PARALYZE, ELECTRIC, {"types": (GROUND,)}, (), False),
    (Effect.PARALYZE, ELECTRIC, {}, (), True),
    (Effect.SLEEP, NORMAL, {"types": (GHOST,)}, (), True),
    (Effect.SLEEP, NORMAL, {"screens": 1 << 2}, (), False),
    (Effect.CONFUSE, GHOST, {}, ("confused",), False),
    (18, NORMAL, {}, ("misted",), False),
    (10, NORMAL, {}, ("behind a substitute",), True),
]


@pytest.mark.parametrize(("effect", "kind", "foe", "conditions", "expected"), CONDITIONED)
def test_immunity_to_status_moves(
    effect: int, kind: int, foe: dict[str, Any], conditions: tuple[str, ...], expected: bool
) -> None:
    what = move(effect, 0, kind)
    tactician = Tactician(tables(what), PilotSettings(), ItemUses())
    assert tactician.can_affect(what, one(**foe), conditions) is expected


def test_a_long_fight_wastes_no_turns_on_an_immune_opponent() -> None:
    weak, poison = move(power=10), move(Effect.TOXIC, 0, POISON)
    tactician = Tactician(tables(weak, poison), PilotSettings(), ItemUses())

    def plan(types: tuple[int, int], conditions: tuple[str, ...] = ()) -> int:
        stats = (60, 50, 40, 70, 80)
        own = Battler(1, 30, 100, 100, 0, (NORMAL, NORMAL), (1, 2, 0, 0), (10, 10, 0, 0), stats)
        foe = replace(own, types=types, moves=(1, 0, 0, 0))
        battle = Battle(TRAINER, 0, 1, foe, own, 1.0)
        chosen = tactician.plan(Situation(battle, Party((), 30, 1.0), 0, Bag(), foe_conditions=conditions))
        assert chosen.kind == MOVE
        return chosen.number

    assert plan((WATER, WATER)) == 1
    assert plan((POISON, WATER)) == 0
    assert plan((WATER, WATER), ("behind a substitute",)) == 0


@pytest.mark.parametrize("left", [25, 38, 60])
def test_a_self_destructing_move_is_the_last_resort(left: int) -> None:
    known = tables(move(power=60), move(Effect.SELF_DESTRUCT, 200))
    tactician = Tactician(known, PilotSettings(), ItemUses())
    own, foe = one(moves=(1, 2), pp=(10, 5)), one(hp=left)
    assert tactician.ranked(own, foe) == [0, 1]
    assert tactician.ranked(replace(own, pp=(0, 5)), foe) == [1]


def test_the_gentle_move_counts_all_hits_and_never_self_destructs() -> None:
    known = tables(move(power=15), move(Effect.MULTI_HIT, 15), move(Effect.SELF_DESTRUCT, 40))
    tactician = Tactician(known, PilotSettings(), ItemUses())
    own = one(moves=(1, 2, 3), pp=(10, 10, 10))
    left = round(3 * known.max_damage(own, 1, one()))
    assert tactician.gentle(own, one(hp=left)) == 0, "five blows of the second could be too many"
    assert tactician.gentle(own, one(hp=100)) == 1
    assert tactician.gentle(own, one(hp=2)) is None


def test_a_sure_win_that_seldom_hits_or_takes_two_turns_comes_after_a_plain_move() -> None:
    known = tables(move(power=60), move(Effect.ONE_HIT_KO, 1, accuracy=76), move(Effect.SOLAR_BEAM, 200))
    tactician = Tactician(known, PilotSettings(), ItemUses())
    own = one(moves=(1, 2, 3), pp=(10, 5, 10))
    plain = known.min_damage(own, 1, one())
    assert tactician.ranked(own, one(hp=plain))[0] == 0, "it ends it at once"
    assert tactician.ranked(own, one(hp=100))[0] != 0, "it would take five of them"
