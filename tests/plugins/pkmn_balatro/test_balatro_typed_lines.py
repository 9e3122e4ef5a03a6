"""Typed lines: each plays what the game's own method plays, and a mistake changes nothing."""

from __future__ import annotations

import random

import pytest
from support.balatro import beat, cards, hold, in_blind, in_shop, joker

from pkmn_balatro.play.typed_lines import MistakeError, TypedGame, lines_now
from pkmn_balatro.simulator.blinds import BELL, HOOK
from pkmn_balatro.simulator.cards import FORCED
from pkmn_balatro.simulator.consumables import DEATH, MAGICIAN
from pkmn_balatro.simulator.game import Game
from pkmn_balatro.simulator.opened_packs import open_pack
from pkmn_balatro.simulator.run import Phase


def pack_of_arcana() -> Game:
    game = in_shop()
    open_pack(game.run, 2, from_shop=True)
    return game


def test_lines_do_what_the_methods_of_the_game_do() -> None:
    typed, game = TypedGame(Game(5)), Game(5)
    game.select_blind()
    game.play([0, 2])
    game.discard([1, 3, 4])
    game.sort_hand(by_suit=True)
    for line in ("select", "play 1, 3", "Discard 2 4 5", "sort suit"):
        typed.take(line)
    assert typed.game.save() == game.save()


def test_the_shop_sells_by_lines() -> None:
    game = in_shop(money=50)
    price = game.run.shop[1].price
    typed = TypedGame(game)
    assert f"${price}" in typed.take("buy 2")[0]
    assert game.run.money == 50 - price
    typed.take("buy voucher 1")
    assert len(game.run.vouchers) == 1
    typed.take("reroll")
    typed.take("open pack 1")
    assert game.run.phase == Phase.PACK
    typed.take("skip")
    typed.take("next")
    assert game.run.phase == Phase.BLIND
    typed.take("n")
    assert game.run.phase == Phase.PLAY


def test_consumables_are_used_on_the_named_cards_in_their_order() -> None:
    game = in_blind()
    hold(game, "KS 9H 4D")
    game.run.consumables = [DEATH]
    TypedGame(game).take("use 1 on 3 1")
    assert game.run.hand == cards("KS 9H KS")


def test_jokers_are_moved_and_sold() -> None:
    game = in_shop(money=0, jokers=("Joker", "Banner"))
    typed = TypedGame(game)
    typed.take("move joker 2 to 1")
    assert typed.take("sell joker 1") == ["Sold Banner for $2."]
    assert len(game.run.jokers) == 1 and game.run.money == 2


def test_what_happened_is_told() -> None:
    game = in_blind()
    hold(game, "KS KH 4D 3C 2D")
    assert TypedGame(game).take("play 1 2") == ["Pair, level 1: 30 chips x 2 = 60."]
    game.run.score = game.run.target
    assert "The small blind is beaten" in TypedGame(game).take("play 1")[-1]


def test_the_end_of_a_run_is_told() -> None:
    game = in_blind()
    game.run.hands_left = 1
    assert TypedGame(game).take("play 1")[-1].startswith("The run is lost at ante 1, small blind: ")
    game = in_blind(2, HOOK, win_ante=1)
    game.run.score = game.run.target
    assert TypedGame(game).take("play 1")[-1] == "The run is won at ante 1."


@pytest.mark.parametrize(
    ("game", "line", "words"),
    [
        (in_blind(), "play", "1 to 5 numbers needed; write for example 'play 1 3 5'"),
        (in_blind(), "play 1 2 3 4 5 6", "1 to 5 numbers needed"),
        (in_blind(), "play 9", "there is no card 9: the hand has 8"),
        (in_blind(), "play 0", "'0' is not understood"),
        (in_blind(), "play -1", "'-1' is not understood"),
        (in_blind(), "play 1 1", "named twice"),
        (in_blind(), "play ace", "'ace' is not understood"),
        (in_blind(), "plya 1", "did you mean 'play'?"),
        (in_blind(), "se", "may be select or sell"),
        (in_blind(), "buy 1", "things are bought in the shop. Now: play 1 3 5"),
        (in_blind(), "sell 1", "write 'sell joker 1' or 'sell consumable 1'"),
        (in_blind(), "sell joker 1", "you have none"),
        (in_blind(), "use 1", "there is no consumable 1: you have none"),
        (in_blind(), "sort colour", "write 'sort rank' or 'sort suit'"),
        (in_blind(jokers=["Joker"]), "move 1 2", "there is no joker 2: you have 1"),
        (Game(1), "play 1", "cards are played in a blind. Now: select, skip"),
        (Game(1), "reroll", "Director's Cut"),
        (in_shop(money=0), "buy 1", "and you have $0"),
        (in_shop(money=0), "reroll", "a reroll costs $5, and you have $0"),
        (in_shop(), "buy 5", "there is no card 5: the shop has 2"),
        (in_shop(), "buy pack", "write for example 'buy pack 1'"),
        (in_shop(), "next 1", "'next' takes no numbers"),
        (pack_of_arcana(), "next", "'skip' closes it"),
        (pack_of_arcana(), "pick 9", "there is no item 9"),
    ],
)
def test_a_mistake_is_explained_and_changes_nothing(game: Game, line: str, words: str) -> None:
    before = game.save()
    with pytest.raises(MistakeError) as mistake:
        TypedGame(game).take(line)
    assert words in str(mistake.value) and "\n" not in str(mistake.value)
    assert game.save() == before


def test_targets_are_counted_and_fit() -> None:
    game = in_blind()
    game.run.consumables = [MAGICIAN]
    for line, words in (("use 1", "is used on 1 to 2 cards"), ("use 1 on 1 2 3", "1 to 2 cards")):
        with pytest.raises(MistakeError, match=words):
            TypedGame(game).take(line)
    assert game.run.consumables == [MAGICIAN]


def test_no_place_for_a_joker_is_a_reason() -> None:
    game = in_shop(jokers=["Joker"] * 5)
    game.run.shop[0].category, game.run.shop[0].item = 0, joker("Banner").kind
    with pytest.raises(MistakeError, match="all 5 places for jokers are taken"):
        TypedGame(game).take("buy 1")


def test_the_card_of_a_boss_must_be_chosen() -> None:
    game = in_blind(2, BELL, ante=8)
    place = next(place for place, card in enumerate(game.run.hand) if card & FORCED)
    with pytest.raises(MistakeError, match=f"card {place + 1} to be among them"):
        TypedGame(game).take(f"discard {place % 8 + 2 if place < 7 else 1}")


def test_random_lines_never_break_the_game() -> None:
    choose = random.Random(3)
    verbs = "play,discard,use,sell joker,sell consumable,buy,buy voucher,open pack,pick,skip,next,reroll,move,sort suit"
    typed = TypedGame(Game(3))
    followed = 0
    for _ in range(6000):
        if typed.game.run.phase == Phase.OVER:
            typed.game = Game(choose.randrange(1000))
        if typed.game.run.phase == Phase.PLAY and choose.random() < 0.05:
            beat(typed.game)
            continue
        try:
            places = [str(place) for place in choose.choices(range(1, 9), k=choose.randint(0, 3))]
            typed.take(" ".join([choose.choice(verbs.split(",")), *places]))
            followed += 1
        except MistakeError as mistake:
            assert "\n" not in str(mistake)
    assert followed > 200


def test_the_lines_below_the_table_are_those_that_play_now() -> None:
    assert lines_now(in_blind().run) == ["play 1 3 5", "discard 2 4", "sort rank"]
    assert "skip" not in lines_now(in_blind(2, HOOK).run)
    boss = Game(1)
    boss.run.blind = 2
    assert lines_now(boss.run) == ["select"]
