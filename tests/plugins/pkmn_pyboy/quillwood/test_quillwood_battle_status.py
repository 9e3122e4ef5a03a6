"""Sleep, paralysis and poison in battle, and what PP has to do with them."""

from __future__ import annotations

import pytest
from support.battle_bench import ASLEEP, PARALYSIS, POISON, SLEEP, SPEED, BattleBench, Creature

TRIES = 80
TOUGH = Creature(("BRACE",), status=SLEEP, stats=(1, 60, 10, 1, 60))


def pp(bench: BattleBench, side: str = "wBattleMon") -> int:
    return bench.read(side, 32)[8]


def status(bench: BattleBench, side: str = "wBattleMon") -> int:
    return bench.read(side, 32)[14]


def test_a_move_costs_one_pp_in_battle_and_in_the_party(wild: BattleBench) -> None:
    wild.pit(Creature(pp=7), ASLEEP)
    wild.use()
    assert pp(wild) == wild.read("wPartyMon1", 48)[23] == 6


@pytest.mark.parametrize(("turns", "acts"), [(4, False), (2, False), (1, True)])
def test_who_sleeps_pays_nothing_and_acts_on_the_turn_of_waking(wild: BattleBench, turns: int, acts: bool) -> None:
    wild.pit(Creature(status=turns, pp=9), TOUGH)
    turn = wild.use()
    assert (turn.foe_lost > 0) == acts
    assert pp(wild) == (8 if acts else 9)
    assert status(wild) == turns - 1 == wild.read("wPartyMon1", 48)[32]
    assert ("is awake again" in turn.words) == acts
    assert ("sleeps on" in turn.words) or acts


@pytest.mark.long
def test_paralysis_stops_a_quarter_of_the_turns_without_pp_and_leaves_a_quarter_of_the_speed(wild: BattleBench) -> None:
    stopped = 0
    for delay in range(TRIES):
        wild.again().pit(Creature(status=PARALYSIS, pp=9), TOUGH)
        wild.wait(delay)
        turn = wild.use()
        if "is too numb" in turn.words:
            stopped += 1
            assert (turn.foe_lost, pp(wild)) == (0, 9)
        else:
            assert pp(wild) == 8
    assert 0.1 < stopped / TRIES < 0.4
    wild.again().pit(
        Creature(("STATIC FUR",)), Creature(("BUMP",), types=("WATER", "WATER"), stats=(9, 60, 100, 9, 60))
    )
    inflict(wild, "STATIC FUR", Creature(stats=(9, 60, 100, 9, 60)))
    assert status(wild, "wEnemyMon") == PARALYSIS
    assert int.from_bytes(wild.read("wEnemyMon", 32)[20 + 2 * SPEED : 22 + 2 * SPEED], "big") == 26


def inflict(bench: BattleBench, name: str, foe: Creature) -> str:
    """Uses a move until it doesn't miss; what the screen said."""
    for delay in range(30):
        bench.again().pit(Creature((name,), stats=(60, 60, 200, 60, 60)), foe)
        bench.wait(delay)
        words = bench.use().words
        if "goes wide" not in words:
            return words
    raise AssertionError(f"{name} always misses")


@pytest.mark.parametrize(
    ("name", "types", "expected"),
    [
        ("SLEEP DUST", ("ROCK", "POISON"), "nods off"),
        ("FOUL MIST", ("GRASS", "GRASS"), "takes in poison"),
        ("STATIC FUR", ("WATER", "FLYING"), "goes numb"),
        ("FOUL MIST", ("GRASS", "POISON"), "Nothing comes of it"),
        ("FOUL MIST", ("NORMAL", "ROCK"), "Nothing comes of it"),
        ("STATIC FUR", ("NORMAL", "ROCK"), "Nothing comes of it"),
    ],
)
def test_which_ailment_takes_hold_of_whom(wild: BattleBench, name: str, types: tuple[str, str], expected: str) -> None:
    assert expected in inflict(wild, name, Creature(("BRACE",), types=types))


def test_one_ailment_keeps_another_away(wild: BattleBench) -> None:
    assert "Nothing comes of it" in inflict(wild, "SLEEP DUST", Creature(("BRACE",), status=POISON))
    assert status(wild, "wEnemyMon") == POISON


@pytest.mark.parametrize(("most", "loss"), [(200, 25), (23, 2), (7, 1)])
def test_poison_takes_an_eighth_a_turn(wild: BattleBench, most: int, loss: int) -> None:
    wild.pit(Creature(("BRACE",), hp=most, max_hp=most, status=POISON), TOUGH)
    turn = wild.use()
    assert turn.own_lost == loss
    assert "aches with poison" in turn.words


def test_poison_bites_the_foe_too_and_may_decide_the_battle(wild: BattleBench) -> None:
    wild.pit(Creature(("BRACE",)), Creature(("BRACE",), hp=30, max_hp=200, status=POISON, stats=(1, 60, 10, 1, 60)))
    assert wild.use().foe_lost == 25
    wild.use()
    assert wild.over
    assert wild.result == 0


def test_poison_bites_when_a_thing_is_used(wild: BattleBench) -> None:
    wild.pit(Creature(("BRACE",), hp=100, status=POISON), TOUGH)
    wild.give("SALVE", 2)
    wild.press("up left . down . a . . . . . . a . . . a . . . . . . a . . . . . .")
    wild.play_on()
    assert wild.state.party.lead is not None
    assert wild.state.party.lead.hp == 100 + 20 - 25
    assert wild.read("wNumItems", 3)[2] == 1


def test_poison_bites_when_a_flight_fails(wild: BattleBench) -> None:
    for delay in range(40):
        wild.again().pit(
            Creature(hp=100, status=POISON, stats=(60, 60, 20, 60, 60)),
            Creature(("BRACE",), status=SLEEP, stats=(1, 60, 200, 1, 60)),
        )
        wild.wait(delay)
        wild.press("up left . down right . a")
        words = wild.play_on()
        if "no gap" in words:
            break
    assert "no gap" in words
    assert wild.state.party.lead is not None
    assert wild.state.party.lead.hp == 75


def test_poison_bites_who_comes_out(wild: BattleBench) -> None:
    wild.pit(Creature(("BRACE",)), TOUGH)
    wild.join(1, Creature(("BRACE",), hp=100, status=POISON))
    wild.press("up left . right . a . . . . . . down . a . . . . . .")
    wild.play_on()
    assert wild.state.party.members[1].hp == 75
    assert wild.read("wCurBattleMon", 1) == b"\1"


def test_without_pp_a_creature_strikes_and_hurts_itself(wild: BattleBench) -> None:
    wild.pit(Creature(("LEAF LASH",), pp=0), ASLEEP)
    wild.press("up left . a")
    words = wild.play_on()
    foe = int.from_bytes(wild.read("wEnemyMon", 18)[16:], "big")
    own = int.from_bytes(wild.read("wBattleMon", 18)[16:], "big")
    assert foe < 200
    assert own == 200 - (200 - foe) // 4
    assert "hurts itself" in words
    assert pp(wild) == 0


def test_a_foe_without_pp_hurts_itself_too(wild: BattleBench) -> None:
    wild.pit(Creature(("BRACE",)), Creature(pp=0))
    turn = wild.use()
    assert turn.own_lost > 0
    assert turn.foe_lost == max(turn.own_lost // 4, 1)


def test_both_falling_is_a_loss_when_nobody_is_left(wild: BattleBench) -> None:
    wild.pit(Creature(("BUMP",), hp=1, pp=0, stats=(200, 60, 200, 60, 60)), Creature(hp=1))
    wild.press("up left . a")
    words = wild.play_on()
    assert wild.over
    assert wild.result == 1
    assert "Nobody with you can stand" in words
