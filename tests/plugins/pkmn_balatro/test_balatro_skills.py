"""Skills as actions: by name, with arguments, and only if they are allowed now."""

from __future__ import annotations

from typing import Any

import pytest

from pkmn_balatro.environment import BalatroEnvironment
from pkmn_balatro.settings import BalatroSettings
from pkmn_balatro.simulator.cards import HEARTS, make_card
from pkmn_balatro.simulator.consumables import CONSUMABLES
from pkmn_balatro.simulator.run import HANDS, Category, Joker, Offer, Phase
from pkmn_balatro.skills import SKILLS, action_of
from pkmncli.llm.replies import ReplyForm


def playing(seed: int = 0) -> BalatroEnvironment:
    environment = BalatroEnvironment(BalatroSettings())
    environment.reset(seed=seed)
    environment.advance(0)
    return environment


def named(environment: BalatroEnvironment, skill: str, **arguments: Any) -> str | None:
    action = action_of(environment, skill, arguments)
    return None if action is None else environment.actions.names[action]


def test_a_reply_may_ask_for_each_skill() -> None:
    environment = playing()
    form = ReplyForm(SKILLS, environment.action_names)
    assert set(form.skill_names) >= {skill.name for skill in SKILLS}


@pytest.mark.parametrize(
    ("ranks", "hand", "cards"),
    [
        ((12, 12, 9, 7, 5, 3, 2, 0), "pair", {0, 1}),
        ((12, 11, 10, 9, 8, 3, 3, 0), "straight", {0, 1, 2, 3, 4}),
        ((12, 11, 10, 9, 8, 3, 3, 0), "Pair", {5, 6}),
    ],
)
def test_the_best_play_of_a_poker_hand_is_found(ranks: tuple[int, ...], hand: str, cards: set[int]) -> None:
    environment = playing()
    environment.game.run.hand = [make_card(rank, place % 4) for place, rank in enumerate(ranks)]
    environment.load_state(environment.save_state())
    action = action_of(environment, "play_hand", {"hand": hand})
    assert action is not None
    positions = environment.actions.plays[action - environment.actions.play]
    assert cards <= set(positions)
    environment.advance(action)
    assert environment.game.run.played[[one.casefold() for one in HANDS].index(hand.casefold())] == 1


def test_a_hand_that_is_not_there_cannot_be_played() -> None:
    environment = playing()
    environment.game.run.hand = [make_card(rank, place % 4) for place, rank in enumerate((12, 10, 8, 6, 4, 2, 0))]
    assert named(environment, "play_hand", hand="flush") is None
    assert named(environment, "play_hand", hand="best") is not None
    assert named(environment, "play_hand", hand="nonsense") is None


def test_cards_are_named_by_place() -> None:
    environment = playing()
    assert named(environment, "play_hand", cards="1, 3 5") == "play_1_3_5"
    assert named(environment, "discard_cards", cards="8") == "discard_8"
    assert named(environment, "discard_cards", cards="9") is None
    assert named(environment, "play_hand", cards="1 2 3 4 5 6") is None
    assert named(environment, "discard_cards", cards="ace") is None


def test_offers_are_bought_by_name() -> None:
    environment = playing()
    run = environment.game.run
    run.phase = Phase.SHOP.value
    run.money = 20
    run.shop = [Offer(Category.JOKER.value, 0, 2), Offer(Category.CONSUMABLE.value, 7, 3)]
    run.shop_vouchers = []
    run.shop_packs = [Offer(Category.PACK.value, 0, 4)]
    environment.load_state(environment.save_state())
    assert named(environment, "buy_item", item="joker") == "buy_1"
    assert named(environment, "buy_item", item=CONSUMABLES[7].name) == "buy_2"
    assert named(environment, "buy_item", item="arcana pack") == "open_pack_1"
    assert named(environment, "buy_item", item="Blueprint") is None
    assert named(environment, "leave") == "leave_shop"
    assert named(environment, "skip_next") is None
    environment.game.run.money = 0
    environment.load_state(environment.save_state())
    assert named(environment, "buy_item", item="joker") is None


def test_items_are_used_on_cards_and_sold() -> None:
    environment = playing()
    run = environment.game.run
    run.consumables = [next(number for number, kind in enumerate(CONSUMABLES) if kind.name == "The Sun")]
    run.jokers = [Joker(0)]
    environment.load_state(environment.save_state())
    arguments = {"item": "the sun", "cards": "1 2 3"}
    assert named(environment, "sell_item", item="joker") == "sell_joker_1"
    for name in ("use_1", "choose_1_2_3"):
        assert named(environment, "use_item", **arguments) == name
        action = action_of(environment, "use_item", arguments)
        assert action is not None
        environment.advance(action)
    assert [card >> 4 & 3 for card in environment.game.run.hand[:3]] == [HEARTS] * 3
