"""Effects of jokers outside of the scoring of hands."""

from __future__ import annotations

from typing import Any

import pytest
from support.balatro import card, joker_names, play_hand, run_with
from support.balatro import cards as pile

from pkmn_balatro.simulator import cards, jokers
from pkmn_balatro.simulator.jokers import Event, notify
from pkmn_balatro.simulator.run import HANDS, Joker, Run

PAIR = HANDS.index("Pair")


def let_act(run: Run, event: Event, data: Any) -> None:
    """Let the jokers act on an event; lists are words of cards."""
    notify(run, event, [card(words) for words in data] if isinstance(data, list) else data)


VALUES: list[tuple[str, str, Event, Any, int]] = [
    ("a discard takes 1 from Green Joker", "Green Joker=3", Event.DISCARDED, ["KS", "2H"], 2),
    ("Green Joker stays at 0", "Green Joker=0", Event.DISCARDED, ["KS"], 0),
    ("Ramen counts discarded cards", "Ramen=10", Event.DISCARDED, ["KS", "2H", "3D"], 13),
    ("Castle: 3 chips for each spade", "Castle", Event.DISCARDED, ["KS", "2S", "3D"], 6),
    ("Castle: a debuffed spade doesn't count", "Castle", Event.DISCARDED, ["KS", "2S+debuffed"], 3),
    ("Hit the Road counts jacks", "Hit the Road", Event.DISCARDED, ["JS", "JH", "3D"], 2),
    ("Yorick counts cards", "Yorick=20", Event.DISCARDED, ["JS", "JH", "3D"], 23),
    ("Rocket pays $2 more after a boss", "Rocket", Event.BOSS_BEATEN, None, 3),
    ("Campfire ends with a boss", "Campfire=6", Event.BOSS_BEATEN, None, 0),
    ("Campfire grows with a sale", "Campfire=6", Event.SOLD, None, 7),
    ("Hit the Road ends with the round", "Hit the Road=4", Event.ROUND_ENDED, None, 0),
    ("Popcorn loses 4", "Popcorn", Event.ROUND_ENDED, None, 16),
    ("Turtle Bean loses 1", "Turtle Bean", Event.ROUND_ENDED, None, 4),
    ("Invisible Joker counts rounds", "Invisible Joker", Event.ROUND_ENDED, None, 1),
    ("Flash Card grows with a reroll", "Flash Card=2", Event.REROLLED, None, 4),
    ("Red Card grows with a skipped pack", "Red Card=3", Event.PACK_SKIPPED, None, 6),
    ("Constellation counts planets", "Constellation", Event.CONSUMABLE_USED, 5, 1),
    ("Constellation: a tarot is none", "Constellation", Event.CONSUMABLE_USED, 20, 0),
    ("Hologram counts cards", "Hologram", Event.CARD_ADDED, ["KS", "2H"], 2),
    ("Glass Joker counts broken glass", "Glass Joker", Event.CARD_DESTROYED, ["KS+glass", "2H"], 1),
    ("Canio counts faces", "Canio", Event.CARD_DESTROYED, ["KS", "QH", "2H"], 2),
    ("Canio: a debuffed face doesn't count", "Canio", Event.CARD_DESTROYED, ["KS+debuffed", "QH"], 1),
    ("Madness grows with a small blind", "Madness", Event.BLIND_SELECTED, None, 1),
]


@pytest.mark.parametrize(("why", "name", "event", "data", "after"), VALUES, ids=[case[0] for case in VALUES])
def test_a_jokers_number_changes_with_an_event(why: str, name: str, event: Event, data: Any, after: int) -> None:
    run = run_with(name)
    let_act(run, event, data)
    assert run.jokers[0].value == after


@pytest.mark.parametrize("case", [case for case in VALUES if case[1] != "Invisible Joker"], ids=lambda case: case[0])
def test_a_copying_joker_grows_nothing(case: tuple[str, str, Event, Any, int]) -> None:
    _, name, event, data, after = case
    run = run_with(f"Blueprint@negative,{name}")
    let_act(run, event, data)
    assert [owned.value for owned in run.jokers if jokers.JOKERS[owned.kind].name in name] == [after]


MONEY: list[tuple[str, str, Event, Any, dict[str, Any], int]] = [
    ("Golden Joker: $4", "Golden Joker", Event.ROUND_ENDED, None, {}, 4),
    ("two Golden Jokers: $8", "Golden Joker,Golden Joker", Event.ROUND_ENDED, None, {}, 8),
    ("Blueprint copies no payout", "Blueprint,Golden Joker", Event.ROUND_ENDED, None, {}, 4),
    ("Rocket: $1 at first", "Rocket", Event.ROUND_ENDED, None, {}, 1),
    ("Rocket: $5 after two bosses", "Rocket=5", Event.ROUND_ENDED, None, {}, 5),
    ("Cloud 9: two nines owned", "Cloud 9", Event.ROUND_ENDED, None, {"draw": [7, 7 + 16, 5]}, 2),
    ("Satellite: three planets", "Satellite", Event.ROUND_ENDED, None, {"planets_used": [1, 2, 5]}, 3),
    ("Delayed Gratification: 3 discards left", "Delayed Gratification", Event.ROUND_ENDED, None, {}, 6),
    ("Delayed Gratification: one used", "Delayed Gratification", Event.ROUND_ENDED, None, {"discards_used": 1}, 0),
    ("Faceless Joker: three faces", "Faceless Joker", Event.DISCARDED, ["KS", "QH", "JD"], {}, 5),
    ("Faceless Joker: two faces", "Faceless Joker", Event.DISCARDED, ["KS", "QH", "2D"], {}, 0),
    ("Faceless Joker with Pareidolia", "Faceless Joker,Pareidolia", Event.DISCARDED, ["2S", "2H", "2D"], {}, 5),
    ("Blueprint copies Faceless Joker", "Blueprint,Faceless Joker", Event.DISCARDED, ["KS", "QH", "JD"], {}, 10),
    ("Mail-In Rebate: two aces", "Mail-In Rebate", Event.DISCARDED, ["AS", "AH", "2D"], {}, 10),
    ("Trading Card: first discard", "Trading Card", Event.DISCARDED, ["AS"], {}, 3),
    ("Trading Card: second discard", "Trading Card", Event.DISCARDED, ["AS"], {"discards_used": 1}, 0),
    ("Trading Card: two cards", "Trading Card", Event.DISCARDED, ["AS", "KS"], {}, 0),
]


@pytest.mark.parametrize("case", MONEY, ids=[case[0] for case in MONEY])
def test_a_joker_pays(case: tuple[str, str, Event, Any, dict[str, Any], int]) -> None:
    _, names, event, data, state, dollars = case
    run = run_with(names, **state)
    before = run.money
    let_act(run, event, data)
    assert run.money - before == dollars


def test_trading_card_takes_the_card_out_of_the_discard() -> None:
    run = run_with("Trading Card,Canio")
    discarded = pile("KS")
    notify(run, Event.DISCARDED, discarded)
    assert discarded == []
    assert run.jokers[1].value == 1


def test_the_dagger_destroys_the_joker_to_the_right_for_twice_its_sell_value() -> None:
    run = run_with("Joker,Ceremonial Dagger,Baron,Joker")
    notify(run, Event.BLIND_SELECTED)
    assert joker_names(run) == ["Joker", "Ceremonial Dagger", "Joker"]
    assert run.jokers[1].value == 2 * 4


def test_the_dagger_spares_eternal_jokers() -> None:
    run = run_with("Ceremonial Dagger,Baron")
    run.jokers[1].eternal = True
    notify(run, Event.BLIND_SELECTED)
    assert joker_names(run) == ["Ceremonial Dagger", "Baron"]
    assert run.jokers[0].value == 0


def test_madness_destroys_a_joker_but_not_at_a_boss() -> None:
    run = run_with("Madness,Joker")
    run.blind = 2
    notify(run, Event.BLIND_SELECTED)
    assert joker_names(run) == ["Madness", "Joker"]
    run.blind = 1
    notify(run, Event.BLIND_SELECTED)
    assert joker_names(run) == ["Madness"]


def test_marble_joker_adds_a_stone_and_hologram_sees_it() -> None:
    run = run_with("Marble Joker,Hologram")
    notify(run, Event.BLIND_SELECTED)
    assert [cards.enhancement_of(added) for added in run.draw] == [cards.STONE]
    assert run.jokers[1].value == 1


def test_burglar_gives_hands_for_discards() -> None:
    run = run_with("Burglar")
    notify(run, Event.BLIND_SELECTED)
    assert (run.hands_left, run.discards_left) == (7, 0)


def test_riff_raff_makes_common_jokers_as_far_as_there_is_room() -> None:
    run = run_with("Riff-Raff,Joker,Joker,Joker")
    notify(run, Event.BLIND_SELECTED)
    assert len(run.jokers) == 5
    assert jokers.JOKERS[run.jokers[4].kind].rarity == jokers.COMMON
    assert joker_names(run)[4] not in ("Joker", "Riff-Raff", "Cavendish")


def test_cartomancer_makes_a_tarot_if_there_is_room() -> None:
    run = run_with("Cartomancer,Blueprint,Cartomancer")
    notify(run, Event.BLIND_SELECTED)
    assert len(run.consumables) == run.consumable_slots
    assert all(12 <= kind < 34 for kind in run.consumables)
    assert len(set(run.consumables)) == 2


def test_certificate_adds_a_card_with_a_seal() -> None:
    run = run_with("Certificate")
    notify(run, Event.FIRST_HAND_DRAWN)
    assert len(run.hand) == 6
    assert cards.seal_of(run.hand[5])


def test_burnt_joker_raises_the_level_of_the_first_discard() -> None:
    run = run_with("Burnt Joker")
    notify(run, Event.DISCARD_CHOSEN, pile("KS KH"))
    run.discards_used = 1
    notify(run, Event.DISCARD_CHOSEN, pile("KS KH"))
    assert run.levels[PAIR] == 2


def test_ramen_is_used_up() -> None:
    run = run_with("Ramen=98")
    notify(run, Event.DISCARDED, pile("KS KH"))
    assert run.jokers == []


@pytest.mark.parametrize("name", ["Popcorn=4", "Turtle Bean=1"])
def test_jokers_that_run_out_are_gone(name: str) -> None:
    run = run_with(name)
    notify(run, Event.ROUND_ENDED)
    assert run.jokers == []


def test_gros_michel_dies_once_in_six_rounds_and_cavendish_follows_it() -> None:
    run = run_with("Gros Michel")
    cavendish, michel = jokers.kind_named("Cavendish"), jokers.kind_named("Gros Michel")
    assert cavendish not in jokers.pool(run, jokers.COMMON)
    rounds = 0
    lives = []
    for _ in range(600):
        run.jokers = run.jokers or [jokers.make_joker(run, michel)]
        notify(run, Event.ROUND_ENDED)
        rounds += 1
        if not run.jokers:
            lives.append(rounds)
            rounds = 0
    assert 70 < len(lives) < 130
    assert cavendish in jokers.pool(run, jokers.COMMON)
    assert michel not in jokers.pool(run, jokers.COMMON)


def test_egg_and_gift_card_raise_sell_values() -> None:
    run = run_with("Egg,Gift Card")
    before = [jokers.sell_value(run, owned) for owned in run.jokers]
    notify(run, Event.ROUND_ENDED)
    assert [jokers.sell_value(run, owned) for owned in run.jokers] == [before[0] + 4, before[1] + 1]


def test_to_do_list_names_another_hand_each_round() -> None:
    run = run_with("To Do List")
    for _ in range(50):
        before = run.jokers[0].value
        notify(run, Event.ROUND_ENDED)
        assert run.jokers[0].value != before
        assert run.jokers[0].value < HANDS.index("Five of a Kind")


def test_perkeo_copies_a_consumable_as_negative() -> None:
    run = run_with("Perkeo", consumables=[4])
    notify(run, Event.SHOP_LEFT)
    assert run.consumables == [4, 4 | 256]


def test_hallucination_makes_a_tarot_about_every_second_pack() -> None:
    made = 0
    run = run_with("Hallucination")
    for _ in range(400):
        run.consumables = []
        notify(run, Event.PACK_OPENED)
        made += len(run.consumables)
    assert 150 < made < 250


def test_the_cards_of_the_round_come_from_the_deck() -> None:
    run = run_with("The Idol", hand="9C 9C 9C")
    jokers.new_targets(run)
    assert (run.counters["idol rank"], run.counters["idol suit"]) == (7, cards.CLUBS)
    assert run.counters["mail rank"] == 7
    assert run.counters["castle suit"] == cards.CLUBS


def test_a_debuffed_joker_does_nothing() -> None:
    run = run_with("Golden Joker@debuffed,Juggler@debuffed")
    notify(run, Event.ROUND_ENDED)
    assert run.money == 4
    assert jokers.hand_size_bonus(run) == 0


@pytest.mark.parametrize(
    ("names", "hand_size", "hands", "discards", "debt"),
    [
        ("Juggler", 1, 0, 0, 0),
        ("Drunkard", 0, 0, 1, 0),
        ("Merry Andy", -1, 0, 3, 0),
        ("Troubadour", 2, -1, 0, 0),
        ("Stuntman", -2, 0, 0, 0),
        ("Turtle Bean", 5, 0, 0, 0),
        ("Turtle Bean=2", 2, 0, 0, 0),
        ("Credit Card", 0, 0, 0, 20),
        ("Juggler,Drunkard,Blueprint,Juggler", 2, 0, 1, 0),
    ],
)
def test_jokers_change_sizes_while_they_are_there(
    names: str, hand_size: int, hands: int, discards: int, debt: int
) -> None:
    run = run_with(names)
    assert jokers.hand_size_bonus(run) == hand_size
    assert jokers.hands_bonus(run) == hands
    assert jokers.discards_bonus(run) == discards
    assert jokers.debt_allowed(run) == debt


def test_held_repeats_count_mime_and_its_copies() -> None:
    assert jokers.held_repeats(run_with("Blueprint,Mime,Brainstorm")) == 3  # Brainstorm copies what Blueprint copies
    assert jokers.held_repeats(run_with("Joker")) == 0


def test_chances_and_interest_follow_the_jokers() -> None:
    run = run_with("Oops! All 6s,To the Moon,Oops! All 6s,To the Moon@debuffed")
    assert all(jokers.happens(run, 4) for _ in range(100))
    assert 20 < sum(jokers.happens(run, 8) for _ in range(100)) < 80
    assert jokers.interest_times(run) == 2


def test_a_copy_of_a_negative_joker_is_plain() -> None:
    copied = jokers.copy_of(Joker(3, cards.NEGATIVE, 12, 4))
    assert (copied.kind, copied.edition, copied.value, copied.more_sell) == (3, 0, 12, 4)


def test_every_joker_meets_every_event_beside_a_copying_one() -> None:
    data: dict[Event, Any] = {Event.CARD_ADDED: pile("KS"), Event.CARD_DESTROYED: pile("KS"), Event.CONSUMABLE_USED: 1}
    for kind in range(len(jokers.JOKERS)):
        run = run_with("Brainstorm", hand="KS+glass KH+lucky 8D 6C 2S+stone AH")
        run.draw = cards.standard_deck()[:20]
        run.jokers = [jokers.make_joker(run, kind), *run.jokers, jokers.make_joker(run, (kind * 7 + 3) % 150)]
        for event in Event:
            notify(run, event, pile("KS QS JS") if "DISCARD" in event.name else data.get(event))
            play_hand(run, 0, 1, 2)
        assert all(owned.value >= 0 for owned in run.jokers)
