"""Vouchers: what each changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from support.balatro import beat, in_shop

from pkmn_balatro.simulator import consumables, packs, pools, shop, vouchers
from pkmn_balatro.simulator.cards import edition_of, enhancement_of
from pkmn_balatro.simulator.game import Game
from pkmn_balatro.simulator.run import Category, IllegalActionError, Offer, Phase, Run
from pkmn_balatro.simulator.vouchers import VOUCHERS

NUMBER = {kind.name: number for number, kind in enumerate(VOUCHERS)}


def with_voucher(name: str, money: int = 100, **options: object) -> Game:
    """Return a game in the shop that has bought a voucher, and the one that it needs."""
    game = in_shop(money, **options)  # type: ignore[arg-type]
    number = NUMBER[name]
    for voucher in (number - 1, number) if number % 2 else (number,):
        game.run.shop_vouchers = [Offer(Category.VOUCHER, voucher, 0)]
        game.buy_voucher(0)
    return game


def offered(game: Game, count: int = 600) -> Counter[str]:
    """Return how often each kind of card comes in the shop."""
    run = game.run
    kinds: Counter[str] = Counter()
    for _ in range(count):
        run.shop = []
        shop.fill_cards(run, 1)
        offer = run.shop[0]
        if offer.category == Category.CONSUMABLE:
            kinds["planet" if offer.item < 12 else "tarot" if offer.item < 34 else "spectral"] += 1
        else:
            kinds["joker" if offer.category == Category.JOKER else "card"] += 1
    return kinds


def more_cards(name: str, count: int) -> None:
    game = with_voucher(name)
    assert len(game.run.shop) == count
    game.reroll()
    assert len(game.run.shop) == count


def cheaper(name: str, prices: list[int]) -> None:
    game = in_shop()
    game.run.shop_packs = [Offer(Category.PACK, packs.ARCANA + size, 4 + 2 * size) for size in range(3)]
    number = NUMBER[name]
    for voucher in (number - 1, number) if number % 2 else (number,):
        game.run.shop_vouchers = [Offer(Category.VOUCHER, voucher, 0), Offer(Category.VOUCHER, 10, 10)]
        game.buy_voucher(0)
    assert [offer.price for offer in game.run.shop_packs + game.run.shop_vouchers] == prices


def editions(name: str, share: float) -> None:
    run = with_voucher(name).run
    drawn = Counter(pools.draw_edition(run) for _ in range(6000))
    found = sum(drawn[edition] for edition in (1, 2, 3)) / 6000
    assert 0.8 * share < found < 1.2 * share


def rerolls(name: str, price: int) -> None:
    game = with_voucher(name)
    assert game.reroll_price() == price
    game.reroll()
    assert game.reroll_price() == price + 1


def number(name: str, read: Callable[[Run], int], before: int, after: int) -> None:
    assert read(in_shop().run) == before
    assert read(with_voucher(name).run) == after


def omen_globe() -> None:
    run = with_voucher("Omen Globe").run
    kinds = [offer.item for _ in range(200) for offer in packs.items_of(run, 0)]
    spectral = sum(kind in consumables.SPECTRALS for kind in kinds) / len(kinds)
    assert 0.12 < spectral < 0.28


def telescope() -> None:
    run = with_voucher("Telescope").run
    run.played[5] = 40
    assert all(packs.items_of(run, 3 * packs.CELESTIAL)[0].item == 5 for _ in range(20))


def observatory() -> None:
    game = with_voucher("Observatory")
    game.leave_shop()
    game.select_blind()
    run = game.run
    run.hand = [11, 11 + 16, 3, 4]
    run.consumables = []
    plain = game.copy().play([0, 1]).total
    run.consumables = [1, 1, 5]
    assert game.copy().play([0, 1]).total == int(plain * 1.5 * 1.5)


def merchants(name: str, kind: str, share: float) -> None:
    found = offered(with_voucher(name))[kind] / 600
    assert share - 0.07 < found < share + 0.07


def interest(name: str, most: int) -> None:
    game = with_voucher(name)
    game.leave_shop()
    game.select_blind()
    game.run.money, game.run.hands_left = 1000, 1
    beat(game)
    assert game.run.money == 1000 + 4 + most


def blank() -> None:
    game = in_shop()
    before = game.copy().run
    game.run.shop_vouchers = [Offer(Category.VOUCHER, vouchers.BLANK, 0)]
    game.buy_voucher(0)
    run = game.run
    assert run.vouchers == [vouchers.BLANK]
    for name in ("joker_slots", "consumable_slots", "hands_per_round", "base_hand_size", "money", "ante"):
        assert getattr(run, name) == getattr(before, name)
    assert vouchers.ANTIMATTER in vouchers.available(run)


def magic_trick() -> None:
    game = with_voucher("Magic Trick")
    share = offered(game)["card"] / 600
    assert 0.07 < share < 0.19  # 4 of 32
    game.run.shop = [Offer(Category.CARD, 5, 1)]
    game.buy(0)
    assert len(game.run.draw) == 53


def illusion() -> None:
    run = with_voucher("Illusion").run
    found = []
    while len(found) < 200:
        run.shop = []
        shop.fill_cards(run, 1)
        if run.shop[0].category == Category.CARD:
            found.append(run.shop[0].item)
    assert 50 < sum(enhancement_of(card) > 0 for card in found) < 110
    assert 15 < sum(edition_of(card) > 0 for card in found) < 70


def boss_rerolls(name: str, times: int) -> None:
    game = with_voucher(name)
    game.leave_shop()
    game.run.money = 35
    for _ in range(times):
        before = game.run.boss
        game.reroll_boss()
        assert game.run.boss != before
    assert game.run.money == 35 - 10 * times
    with pytest.raises(IllegalActionError):
        game.reroll_boss()


EFFECTS: dict[str, Callable[[], None]] = {
    "Overstock": lambda: more_cards("Overstock", 3),
    "Overstock Plus": lambda: more_cards("Overstock Plus", 4),
    "Clearance Sale": lambda: cheaper("Clearance Sale", [3, 4, 6, 7]),
    "Liquidation": lambda: cheaper("Liquidation", [2, 3, 4, 5]),
    "Hone": lambda: editions("Hone", 0.077),
    "Glow Up": lambda: editions("Glow Up", 0.157),
    "Reroll Surplus": lambda: rerolls("Reroll Surplus", 3),
    "Reroll Glut": lambda: rerolls("Reroll Glut", 1),
    "Crystal Ball": lambda: number("Crystal Ball", lambda run: run.consumable_slots, 2, 3),
    "Omen Globe": omen_globe,
    "Telescope": telescope,
    "Observatory": observatory,
    "Grabber": lambda: number("Grabber", lambda run: run.hands_per_round, 4, 5),
    "Nacho Tong": lambda: number("Nacho Tong", lambda run: run.hands_per_round, 4, 6),
    "Wasteful": lambda: number("Wasteful", lambda run: run.discards_per_round, 4, 5),
    "Recyclomancy": lambda: number("Recyclomancy", lambda run: run.discards_per_round, 4, 6),
    "Tarot Merchant": lambda: merchants("Tarot Merchant", "tarot", 9.6 / 33.6),
    "Tarot Tycoon": lambda: merchants("Tarot Tycoon", "tarot", 32 / 56),
    "Planet Merchant": lambda: merchants("Planet Merchant", "planet", 9.6 / 33.6),
    "Planet Tycoon": lambda: merchants("Planet Tycoon", "planet", 32 / 56),
    "Seed Money": lambda: interest("Seed Money", 10),
    "Money Tree": lambda: interest("Money Tree", 20),
    "Blank": blank,
    "Antimatter": lambda: number("Antimatter", lambda run: run.joker_slots, 5, 6),
    "Magic Trick": magic_trick,
    "Illusion": illusion,
    "Hieroglyph": lambda: number("Hieroglyph", lambda run: 10 * run.ante + run.hands_per_round, 14, 3),
    "Petroglyph": lambda: number("Petroglyph", lambda run: 10 * run.ante + run.discards_per_round, 14, -7),
    "Director's Cut": lambda: boss_rerolls("Director's Cut", 1),
    "Retcon": lambda: boss_rerolls("Retcon", 3),
    "Paint Brush": lambda: number("Paint Brush", lambda run: run.hand_size, 8, 9),
    "Palette": lambda: number("Palette", lambda run: run.hand_size, 8, 10),
}


@pytest.mark.parametrize("name", NUMBER)
def test_a_voucher_has_its_effect(name: str) -> None:
    EFFECTS[name]()


def test_an_upgrade_is_offered_once_its_base_is_had() -> None:
    run = Game(1).run
    assert vouchers.available(run) == list(range(0, 32, 2))
    vouchers.redeem(run, vouchers.GRABBER)
    assert vouchers.NACHO_TONG in vouchers.available(run)
    assert vouchers.GRABBER not in vouchers.available(run)


def test_a_voucher_costs_10_dollars_and_stays_until_the_ante_ends() -> None:
    game = in_shop(10)
    run = game.run
    voucher = run.voucher
    game.leave_shop()
    game.select_blind()
    beat(game)
    assert [offer.item for offer in run.shop_vouchers] == [voucher]
    run.money = 10
    game.buy_voucher(0)
    assert run.money == 0
    game.leave_shop()
    run.boss = 15
    game.select_blind()
    beat(game)
    assert run.phase == Phase.SHOP
    assert [offer.item for offer in run.shop_vouchers] == [run.voucher]  # a new ante, a new voucher
    assert run.voucher != voucher
