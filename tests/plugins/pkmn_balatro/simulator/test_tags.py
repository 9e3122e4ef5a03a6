"""Tags: what each does when its moment comes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.balatro import beat, in_blind, in_shop

from pkmn_balatro.simulator.cards import FOIL, HOLOGRAPHIC, NEGATIVE, POLYCHROME
from pkmn_balatro.simulator.game import Game
from pkmn_balatro.simulator.jokers import JOKERS
from pkmn_balatro.simulator.packs import PACKS
from pkmn_balatro.simulator.run import Category, Phase
from pkmn_balatro.simulator.tags import TAGS, draw_tag

NUMBER = {kind.name: number for number, kind in enumerate(TAGS)}


def skipped(name: str, *waiting: str, money: int = 4, seed: int = 1) -> Game:
    """Return a game whose small blind was skipped for this tag, with other tags waiting."""
    game = Game(seed)
    game.run.offered_tags[0] = NUMBER[name]
    game.run.tags = [NUMBER[tag] for tag in waiting]
    game.run.money = money
    game.skip_blind()
    return game


def to_shop(game: Game) -> Game:
    game.select_blind()
    beat(game)
    return game


def free_joker_of_rarity(name: str, rarity: int) -> None:
    game = to_shop(skipped(name))
    offer = game.run.shop[0]
    assert (offer.category, JOKERS[offer.item].rarity, offer.price) == (Category.JOKER, rarity, 0)
    assert NUMBER[name] not in game.run.tags


def free_joker_with_edition(name: str, edition: int) -> None:
    for seed in range(5):
        game = to_shop(skipped(name, seed=seed))
        while NUMBER[name] in game.run.tags:  # it waits for a plain joker
            game.run.money = 50
            game.reroll()
        offers = [offer for offer in game.run.shop if offer.category == Category.JOKER and offer.price == 0]
        assert [offer.edition for offer in offers] == [edition]


def pack(name: str, opened: str, picks: int) -> None:
    game = skipped(name)
    run = game.run
    assert (run.phase, PACKS[run.pack_kind].name, run.picks_left) == (Phase.PACK, opened, picks)
    game.skip_pack()
    assert (run.phase, run.blind) == (Phase.BLIND, 1)
    assert NUMBER[name] not in run.tags


def investment() -> None:
    game = in_blind(blind=1)
    game.run.tags = [NUMBER["Investment Tag"]]
    beat(game)
    assert game.run.tags == [NUMBER["Investment Tag"]]
    game.leave_shop()
    game.select_blind()
    game.run.hands_left, game.run.money = 1, 0
    game.run.boss = 15
    beat(game)
    assert game.run.money == 5 + 25
    assert game.run.tags == []


def voucher() -> None:
    game = to_shop(skipped("Voucher Tag"))
    offers = game.run.shop_vouchers
    assert len(offers) == 2
    assert offers[0].item != offers[1].item


def boss() -> None:
    game = Game(4)
    before = game.run.boss
    game.run.offered_tags[0] = NUMBER["Boss Tag"]
    game.skip_blind()
    assert game.run.boss != before
    assert game.run.tags == []


def handy() -> None:
    game = Game(1)
    game.run.offered_tags[0], game.run.hands_played = NUMBER["Handy Tag"], 9
    game.skip_blind()
    assert game.run.money == 13


def garbage() -> None:
    game = in_blind()
    beat(game)  # four discards are left over
    game.leave_shop()
    game.run.offered_tags[1], game.run.money = NUMBER["Garbage Tag"], 0
    game.skip_blind()
    assert game.run.money == 4


def coupon() -> None:
    game = to_shop(skipped("Coupon Tag"))
    assert [offer.price for offer in game.run.shop + game.run.shop_packs] == [0] * 4
    assert game.run.shop_vouchers[0].price == 10
    game.reroll()
    assert all(offer.price > 0 for offer in game.run.shop)


def double() -> None:
    game = skipped("Juggle Tag", "Double Tag", "Double Tag")
    assert game.run.tags == [NUMBER["Juggle Tag"]] * 3
    assert skipped("Double Tag", "Double Tag").run.tags == [NUMBER["Double Tag"]] * 2
    assert skipped("Economy Tag", "Double Tag", money=10).run.money == 40


def juggle() -> None:
    game = skipped("Juggle Tag")
    game.select_blind()
    assert len(game.run.hand) == 11
    beat(game)
    game.leave_shop()
    game.run.boss = 15
    game.select_blind()
    assert len(game.run.hand) == 8


def d6() -> None:
    game = to_shop(skipped("D6 Tag"))
    prices = []
    for _ in range(3):
        prices.append(game.reroll_price())
        game.reroll()
    assert prices == [0, 1, 2]


def top_up() -> None:
    game = skipped("Top-up Tag")
    assert [JOKERS[one.kind].rarity for one in game.run.jokers] == [0, 0]
    full = Game(1)
    full.run.joker_slots, full.run.offered_tags[0] = 1, NUMBER["Top-up Tag"]
    full.skip_blind()
    assert len(full.run.jokers) == 1


def speed() -> None:
    game = Game(1)
    game.run.offered_tags, game.run.money = [NUMBER["Speed Tag"]] * 2, 0
    game.skip_blind()
    assert game.run.money == 5
    game.skip_blind()
    assert game.run.money == 15


def orbital() -> None:
    assert sorted(skipped("Orbital Tag").run.levels) == [1] * 11 + [4]


def economy() -> None:
    for money, after in ((15, 30), (60, 100), (0, 0), (-5, -5)):
        assert skipped("Economy Tag", money=money).run.money == after


EFFECTS: dict[str, Callable[[], None]] = {
    "Uncommon Tag": lambda: free_joker_of_rarity("Uncommon Tag", 1),
    "Rare Tag": lambda: free_joker_of_rarity("Rare Tag", 2),
    "Negative Tag": lambda: free_joker_with_edition("Negative Tag", NEGATIVE),
    "Foil Tag": lambda: free_joker_with_edition("Foil Tag", FOIL),
    "Holographic Tag": lambda: free_joker_with_edition("Holographic Tag", HOLOGRAPHIC),
    "Polychrome Tag": lambda: free_joker_with_edition("Polychrome Tag", POLYCHROME),
    "Investment Tag": investment,
    "Voucher Tag": voucher,
    "Boss Tag": boss,
    "Standard Tag": lambda: pack("Standard Tag", "mega standard pack", 2),
    "Charm Tag": lambda: pack("Charm Tag", "mega arcana pack", 2),
    "Meteor Tag": lambda: pack("Meteor Tag", "mega celestial pack", 2),
    "Buffoon Tag": lambda: pack("Buffoon Tag", "mega buffoon pack", 2),
    "Handy Tag": handy,
    "Garbage Tag": garbage,
    "Ethereal Tag": lambda: pack("Ethereal Tag", "spectral pack", 1),
    "Coupon Tag": coupon,
    "Double Tag": double,
    "Juggle Tag": juggle,
    "D6 Tag": d6,
    "Top-up Tag": top_up,
    "Speed Tag": speed,
    "Orbital Tag": orbital,
    "Economy Tag": economy,
}


@pytest.mark.parametrize("name", NUMBER)
def test_a_tag_has_its_effect(name: str) -> None:
    EFFECTS[name]()


def test_several_packs_of_tags_open_one_after_the_other() -> None:
    game = skipped("Charm Tag", "Double Tag")
    game.skip_pack()
    assert game.run.phase == Phase.PACK
    game.skip_pack()
    assert game.run.phase == Phase.BLIND


def test_some_tags_come_from_ante_2_on() -> None:
    run = Game(1).run
    early = {draw_tag(run) for _ in range(600)}
    assert len(early) == 15
    assert all(TAGS[tag].lowest_ante == 1 for tag in early)
    run.ante = 2
    assert len({draw_tag(run) for _ in range(900)}) == 24


def test_diet_cola_is_sold_for_a_double_tag() -> None:
    game = in_shop(jokers=["Diet Cola"])
    game.sell_joker(0)
    assert game.run.tags == [NUMBER["Double Tag"]]
