"""Effects that a played hand leaves behind: numbers of jokers, levels, changed cards, consumables."""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.balatro import joker_names, play_hand, run_with

from pkmn_balatro.simulator import cards
from pkmn_balatro.simulator.run import HANDS
from pkmn_balatro.simulator.scoring import commit, score_hand

PAIR = HANDS.index("Pair")


@pytest.mark.parametrize(
    ("name", "positions", "after"),
    [
        ("Green Joker=2", (0, 1), 3),
        ("Ride the Bus=2", (2,), 3),
        ("Ride the Bus=2", (0,), 0),
        ("Square Joker", (0, 1, 2, 3), 4),
        ("Runner", (0, 1), 0),
        ("Ice Cream", (0,), 95),
        ("Seltzer", (0,), 9),
        ("Loyalty Card=4", (0,), 5),
        ("Wee Joker", (2,), 8),
        ("Obelisk=3", (0,), 0),
        ("Spare Trousers", (0, 1), 0),
    ],
)
def test_a_played_hand_changes_a_jokers_number(name: str, positions: tuple[int, ...], after: int) -> None:
    run = run_with(name)
    play_hand(run, *positions)
    assert run.jokers[0].value == after


def test_a_played_hand_is_counted() -> None:
    run = run_with("Joker")
    play_hand(run, 0, 1)
    play_hand(run, 0, 1)
    assert (run.played[PAIR], run.played_now[PAIR], sum(run.played)) == (2, 2, 2)


@pytest.mark.parametrize("name", ["Ice Cream=5", "Seltzer=1"])
def test_a_joker_that_is_used_up_is_gone_after_the_hand(name: str) -> None:
    run = run_with(f"Joker,{name}")
    play_hand(run, 0)
    assert joker_names(run) == ["Joker"]


def test_hiker_leaves_chips_on_scored_cards_only() -> None:
    run = run_with("Hiker")
    play_hand(run, 0, 1, 2)
    assert [owned >> cards.EXTRA_SHIFT for owned in run.hand[:3]] == [5, 5, 0]


def test_vampire_takes_enhancements_for_good() -> None:
    run = run_with("Vampire", hand="KS+glass KH+bonus 2D+bonus")
    play_hand(run, 0, 1, 2)
    assert [cards.enhancement_of(owned) for owned in run.hand] == [0, 0, cards.BONUS]
    assert run.jokers[0].value == 2


def test_midas_mask_turns_faces_to_gold() -> None:
    run = run_with("Midas Mask")
    play_hand(run, 0, 1)
    assert [cards.enhancement_of(owned) for owned in run.hand[:3]] == [cards.GOLD, cards.GOLD, 0]


def test_dna_copies_a_single_first_card() -> None:
    run = run_with("DNA,Hologram", hand="KS+glass KH")
    play_hand(run, 0)
    assert run.hand[2] == run.hand[0]
    assert run.jokers[1].value == 1
    play_hand(run, 1)
    assert len(run.hand) == 3


def test_sixth_sense_destroys_a_single_first_six_for_a_spectral() -> None:
    run = run_with("Sixth Sense", hand="6S 6H")
    scored = score_hand(run, (0,), chance=run.random)
    commit(run, scored)
    assert scored.destroyed == (0,)
    assert [34 <= kind < 50 for kind in run.consumables] == [True]
    assert score_hand(run, (1,), chance=run.random).destroyed == ()


@pytest.mark.parametrize(
    ("names", "hand", "kinds"),
    [
        ("Superposition", "AS 2H 3D 4C 5S", range(12, 34)),
        ("Séance", "4D 5D 6D 7D 8D", range(34, 50)),
        ("Vagabond", "KS", range(12, 34)),
        ("8 Ball,Oops! All 6s,Oops! All 6s", "8S", range(12, 34)),
    ],
)
def test_a_hand_makes_a_consumable_if_there_is_room(names: str, hand: str, kinds: range) -> None:
    run = run_with(names, hand=hand)
    positions = range(len(run.hand))
    assert score_hand(run, positions).created == []  # a preview doesn't know which
    play_hand(run, *positions)
    assert [kind in kinds for kind in run.consumables] == [True]
    run.consumables = [1, 2]
    play_hand(run, *positions)
    assert run.consumables == [1, 2]


@pytest.mark.parametrize(
    ("names", "hand", "state"),
    [
        ("Superposition", "2S 3H 4D 5C 6S", {}),
        ("Séance", "AS 2H 3D 4C 5S", {}),
        ("Vagabond", "KS", {"money": 5}),
        ("8 Ball,Oops! All 6s,Oops! All 6s", "7S", {}),
        ("Sixth Sense", "6S 6H", {}),
    ],
)
def test_no_consumable_without_the_right_hand(names: str, hand: str, state: dict[str, Any]) -> None:
    run = run_with(names, hand=hand, **state)
    play_hand(run, *range(len(run.hand)))
    assert run.consumables == []


def test_space_joker_changes_the_level_for_good() -> None:
    run = run_with("Space Joker,Oops! All 6s,Oops! All 6s")
    play_hand(run, 0, 1)
    assert run.levels[PAIR] == 2


def test_glass_breaks_one_time_in_four_and_glass_joker_counts_it() -> None:
    broken = 0
    for seed in range(400):
        run = run_with("Glass Joker", hand="KS+glass KH")
        play_hand(run, 0, seed=seed)
        broken += run.jokers[0].value
    assert 70 < broken < 130


def test_lucky_cards_succeed_as_often_as_they_should_and_lucky_cat_counts() -> None:
    mult = dollars = grown = 0
    for seed in range(1500):
        run = run_with("Lucky Cat", hand="KS+lucky")
        scored = score_hand(run, (0,), chance=random.Random(seed))
        mult += scored.mult > 20
        dollars += scored.money == 20
        grown += scored.values[0]
    assert 230 < mult < 370  # 1 in 5
    assert 60 < dollars < 140  # 1 in 15
    assert mult <= grown <= mult + dollars


def test_misprint_adds_0_to_23() -> None:
    seen = {score_hand(run_with("Misprint"), (2,), chance=random.Random(seed)).mult - 1 for seed in range(400)}
    assert seen == set(range(24))
