"""Damage, the chart of types, critical hits, accuracy and stages, against the formula worked out here."""

from __future__ import annotations

import pytest
from support.battle_bench import ACCURACY, ASLEEP, ATTACK, DEFENSE, EVASION, SPEED, BattleBench, Creature, data
from support.variants import long_after

SPECIAL = {"FIRE", "WATER", "GRASS", "ELECTRIC", "DARK"}
TRIES = 150


def damage_range(own: Creature, foe: Creature, name: str, critical: bool = False) -> tuple[int, int]:
    """Least and most hit points that a move takes."""
    _, _, power, kind, *_ = next(row for row in data("creatures")["moves"] if row[0] == name)
    attack, defense = (own.stats[3], foe.stats[4]) if kind in SPECIAL else (own.stats[0], foe.stats[1])
    value = (own.level * 2 // 5 + 2) * power * attack // defense // 50
    value = min(value * 2 if critical else value, 997) + 2
    if kind in own.types:
        value += value // 2
    factors = [
        factor for attacker, type_, factor in data("creatures")["chart"] if attacker == kind and type_ in foe.types
    ]
    for factor in factors:
        value = value * factor // 10
    least = 0 if 0 in factors else 1
    return max(value * 217 // 255, least), max(value, least)


CASES = {
    "plain": (Creature(("BUMP",), ("WATER", "WATER")), ASLEEP, 10),
    "own type": (Creature(("BUMP",)), ASLEEP, 10),
    "physical stats": (Creature(("BUMP",), stats=(120, 1, 60, 1, 1)), Creature(status=7, stats=(9, 40, 9, 9, 999)), 10),
    "special stats": (
        Creature(("SPARK LICK",), stats=(1, 1, 60, 130, 1)),
        Creature(status=7, stats=(9, 999, 9, 9, 50)),
        10,
    ),
    "twice": (Creature(("SPARK LICK",)), Creature(types=("GRASS", "GRASS"), status=7), 20),
    "half": (Creature(("SPARK LICK",)), Creature(types=("WATER", "WATER"), status=7), 5),
    "four times": (Creature(("SPARK LICK",)), Creature(types=("GRASS", "BUG"), status=7), 40),
    "twice and half": (Creature(("SPARK LICK",)), Creature(types=("GRASS", "ROCK"), status=7), 10),
    "a quarter": (Creature(("LEAF LASH",), level=60), Creature(types=("GRASS", "POISON"), status=7), 2),
    "a quarter of bug and flying": (Creature(("LEAF LASH",), level=60), Creature(types=("BUG", "FLYING"), status=7), 2),
    "a quarter of fire": (Creature(("SPARK LICK",), level=60), Creature(types=("FIRE", "ROCK"), status=7), 2),
    "immune": (Creature(("ZAPPET",)), Creature(types=("ROCK", "ROCK"), status=7), 0),
    "immune though the other type is weak": (Creature(("ZAPPET",)), Creature(types=("WATER", "ROCK"), status=7), 0),
    "poison on rock": (Creature(("SLUDGE DAB",)), Creature(types=("ROCK", "ROCK"), status=7), 0),
    "dark on normal": (Creature(("MURK BITE",)), Creature(status=7), 20),
    "fire on dark": (Creature(("SPARK LICK",)), Creature(types=("DARK", "DARK"), status=7), 20),
    "low level": (Creature(("BUMP",), level=3, stats=(7, 7, 7, 7, 7)), Creature(status=7, hp=15, max_hp=15), 10),
    "high level": (
        Creature(("FULL WEIGHT",), level=99, stats=(250, 9, 99, 9, 9)),
        Creature(status=7, hp=900, max_hp=900),
        10,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_blow_takes_what_the_formula_says(wild: BattleBench, case: str) -> None:
    own, foe, modifier = CASES[case]
    for delay in range(0, 40, 5):
        wild.again().pit(own, foe)
        wild.wait(delay)
        turn = wild.use()
        if not turn.missed:
            break
    low, high = damage_range(own, foe, own.moves[0], turn.critical)
    assert low <= turn.foe_lost <= high
    assert turn.modifier == modifier
    assert ("does nothing" in turn.words) == (modifier == 0)
    assert ("weak spot" in turn.words) == (modifier > 10)
    assert ("shrugged off" in turn.words) == (0 < modifier < 10)


def test_a_quarter_is_a_quarter(wild: BattleBench) -> None:
    own = Creature(("LEAF LASH",), level=60, stats=(60, 60, 60, 200, 60))
    low, high = damage_range(own, Creature(types=("NORMAL", "NORMAL")), "LEAF LASH")
    for delay in range(0, 40, 5):
        wild.again().pit(own, Creature(types=("GRASS", "POISON"), status=7))
        wild.wait(delay)
        turn = wild.use()
        if not turn.critical:
            break
    assert low // 4 - 1 <= turn.foe_lost <= high // 4
    assert turn.foe_lost > high // 5, "a fifth would be less"


@pytest.mark.long
def test_a_critical_hit_doubles_and_passes_by_the_stages(wild: BattleBench) -> None:
    own = Creature(("BUMP",), ("WATER", "WATER"), stages=(1, 7, 7, 7, 7, 7, 7))
    foe = Creature(status=7, stages=(7, 13, 7, 7, 7, 7, 7))
    seen = 0
    for delay in range(TRIES):
        wild.again().pit(own, foe)
        wild.wait(delay)
        turn = wild.use()
        if turn.critical:
            low, high = damage_range(own, foe, "BUMP", critical=True)
            assert low <= turn.foe_lost <= high
            assert "went deep" in turn.words
            seen += 1
    assert 2 <= seen <= 30, "one in fifteen"


@pytest.mark.parametrize(
    ("name", "mine", "stat", "change"),
    [
        ("WAR CRY", True, ATTACK, (1.5, 1)),
        ("BRACE", True, DEFENSE, (1.5, 1)),
        ("SCURRY", True, SPEED, (1.5, 1)),
        ("GRUMBLE", False, ATTACK, (0.66, -1)),
        ("STARE", False, DEFENSE, (0.66, -1)),
        ("TANGLE", False, SPEED, (0.66, -1)),
    ],
)
def test_stages_change_a_stat(wild: BattleBench, name: str, mine: bool, stat: int, change: tuple[float, int]) -> None:
    side, stages = ("wBattleMon", "wPlayerStatLevels") if mine else ("wEnemyMon", "wEnemyStatLevels")
    for delay in range(20):
        wild.again().pit(Creature((name,), stats=(100,) * 5), Creature(status=7, stats=(100,) * 5))
        wild.wait(delay)
        if not wild.use().missed:
            break
    share, by = change
    value = wild.read(side, 32)[20 + 2 * stat : 22 + 2 * stat]
    assert int.from_bytes(value, "big") == int(100 * share)
    assert wild.read(stages)[stat] == 7 + by
    assert wild.read("wCurDamage", 2) == b"\0\0"
    assert wild.read("wTypeModifier", 1) == b"\0"


def test_a_stage_at_its_end_goes_no_further(wild: BattleBench) -> None:
    wild.pit(Creature(("WAR CRY",), stages=(13, 7, 7, 7, 7, 7, 7)), ASLEEP)
    assert "Nothing comes of it" in wild.use().words
    assert wild.read("wPlayerStatLevels")[ATTACK] == 13


def stages(index: int, value: int) -> tuple[int, ...]:
    return tuple(value if place == index else 7 for place in range(7))


@pytest.mark.parametrize(
    ("own_stages", "foe_stages", "share"),
    long_after(
        1,
        [
            (stages(ACCURACY, 6), stages(EVASION, 7), 0.75),
            (stages(ACCURACY, 7), stages(EVASION, 8), 0.75),
            (stages(ACCURACY, 1), stages(EVASION, 7), 0.33),
            (stages(ACCURACY, 7), stages(EVASION, 7), 1.0),
            (stages(ACCURACY, 6), stages(EVASION, 6), 0.99),
        ],
    ),
)
def test_accuracy_and_evasion(
    wild: BattleBench, own_stages: tuple[int, ...], foe_stages: tuple[int, ...], share: float
) -> None:
    hits, tries = 0, 60
    for delay in range(tries):
        wild.again().pit(Creature(stages=own_stages), Creature(status=7, stages=foe_stages))
        wild.wait(delay)
        turn = wild.use()
        assert turn.missed == (turn.foe_lost == 0) == ("goes wide" in turn.words)
        hits += not turn.missed
    assert abs(hits / tries - share) < 0.17
    assert share < 1 or hits == tries


def test_the_faster_one_is_first_and_fast_paw_before_all(wild: BattleBench) -> None:
    weak = Creature(hp=1, stats=(60, 60, 50, 60, 60))
    wild.pit(weak, Creature(stats=(60, 60, 90, 60, 60)))
    assert wild.use().foe_lost == 0
    wild.again().pit(Creature(("FAST PAW",), hp=1, stats=(60, 60, 50, 60, 60)), Creature(stats=(60, 60, 90, 60, 60)))
    assert wild.use().foe_lost > 0
