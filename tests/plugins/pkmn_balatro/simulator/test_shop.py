"""Shop, packs, decks and stakes: what is offered, at which odds and prices."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from support.balatro import beat, in_blind, in_shop, joker

from pkmn_balatro.simulator import packs, pools, rounds, shop
from pkmn_balatro.simulator.cards import NEGATIVE, edition_of, enhancement_of, seal_of
from pkmn_balatro.simulator.consumables import FOOL, HEX, SOUL, SPECTRALS, TAROTS
from pkmn_balatro.simulator.decks import DECKS
from pkmn_balatro.simulator.game import Game
from pkmn_balatro.simulator.jokers import JOKERS
from pkmn_balatro.simulator.packs import PACKS
from pkmn_balatro.simulator.run import Category, IllegalActionError, Offer, Phase, Run
from pkmn_balatro.simulator.stakes import STAKES


def offers(run: Run, count: int) -> list[Offer]:
    """Return what the shop offers, each time with nothing else beside it."""
    found = []
    for _ in range(count):
        run.shop = []
        shop.fill_cards(run, 1)
        found += run.shop
    return found


def test_the_shop_offers_jokers_tarots_and_planets_at_20_to_4_to_4() -> None:
    found = offers(in_shop().run, 2800)
    jokers = sum(offer.category == Category.JOKER for offer in found)
    tarots = sum(offer.category == Category.CONSUMABLE and offer.item in TAROTS for offer in found)
    assert 1850 < jokers < 2150
    assert 320 < tarots < 480
    assert 320 < 2800 - jokers - tarots < 480


def test_jokers_have_their_rarities_and_editions() -> None:
    run = in_shop().run
    drawn = [pools.draw_joker_offer(run) for _ in range(4000)]
    rarities = Counter(JOKERS[offer.item].rarity for offer in drawn)
    assert 0.66 < rarities[0] / 4000 < 0.74
    assert 0.22 < rarities[1] / 4000 < 0.28
    assert 0.035 < rarities[2] / 4000 < 0.065
    assert rarities[3] == 0
    editions = Counter(offer.edition for offer in drawn)
    assert 0.012 < editions[1] / 4000 < 0.028
    assert 0.007 < editions[2] / 4000 < 0.021
    assert 0 < editions[3] < 28
    assert 0 < editions[4] < 28
    assert not any(offer.eternal or offer.perishable or offer.rental for offer in drawn)


def test_prices_include_the_edition() -> None:
    run = in_shop().run
    for offer in (offer for offer in offers(run, 1500) if offer.category == Category.JOKER):
        assert offer.price == JOKERS[offer.item].cost + (0, 2, 3, 5, 5)[offer.edition]


def test_a_joker_that_the_player_has_is_not_offered() -> None:
    run = in_shop(jokers=["Joker"]).run
    assert not any(offer.category == Category.JOKER and offer.item == 0 for offer in offers(run, 1500))


def test_showman_lets_jokers_be_offered_again() -> None:
    run = in_shop(jokers=["Joker", "Showman"]).run
    assert any(offer.category == Category.JOKER and offer.item == 0 for offer in offers(run, 1500))


def test_astronomer_makes_planets_and_celestial_packs_free() -> None:
    run = in_shop(jokers=["Astronomer"]).run
    planets = [offer for offer in offers(run, 300) if offer.category == Category.CONSUMABLE and offer.item < 12]
    assert planets
    assert all(offer.price == 0 for offer in planets)


def test_rerolls_cost_5_dollars_and_1_more_each_time() -> None:
    game = in_shop(100)
    prices = []
    for _ in range(3):
        prices.append(game.reroll_price())
        game.reroll()
    assert prices == [5, 6, 7]
    assert game.run.money == 100 - 18
    game.run.money = 7
    with pytest.raises(IllegalActionError):
        game.reroll()


def test_chaos_the_clown_gives_one_free_reroll_in_each_shop() -> None:
    game = in_shop(100, ["Chaos the Clown"])
    game.reroll()
    assert game.run.money == 100
    assert game.reroll_price() == 5


def test_a_card_is_bought_only_with_money_and_a_place() -> None:
    game = in_shop(5, ["Joker"] * 5)
    game.run.shop = [Offer(Category.JOKER, 3, 5), Offer(Category.CONSUMABLE, 20, 6)]
    assert not game.can_buy(0)
    assert not game.can_buy(1)
    game.run.shop[0].edition = NEGATIVE  # brings its own place
    game.buy(0)
    assert (len(game.run.jokers), game.run.money) == (6, 0)


def test_credit_card_allows_debt() -> None:
    game = in_shop(0, ["Credit Card"])
    game.run.shop = [Offer(Category.CONSUMABLE, 20, 20), Offer(Category.CONSUMABLE, 21, 1)]
    game.buy(0)
    assert game.run.money == -20
    assert not game.can_buy(0)


def test_an_eternal_joker_cannot_be_sold() -> None:
    game = in_shop()
    game.run.jokers = [joker("Joker", eternal=True)]
    with pytest.raises(IllegalActionError):
        game.sell_joker(0)


def test_the_first_pack_of_a_run_has_jokers() -> None:
    for seed in range(10):
        assert PACKS[in_shop(seed=seed).run.shop_packs[0].item].name == "buffoon pack"


def test_packs_come_at_their_odds() -> None:
    run = in_shop().run
    drawn = Counter(packs.draw_pack(run) for _ in range(4000))
    total = sum(kind.weight for kind in PACKS)
    for number, kind in enumerate(PACKS):
        assert abs(drawn[number] / 4000 - kind.weight / total) < 0.02
    assert drawn[14] > 0  # the mega spectral pack, the rarest


@pytest.mark.parametrize(
    ("name", "price", "items", "picks"),
    [
        ("arcana pack", 4, 3, 1),
        ("jumbo arcana pack", 6, 5, 1),
        ("mega celestial pack", 8, 5, 2),
        ("standard pack", 4, 3, 1),
        ("buffoon pack", 4, 2, 1),
        ("mega buffoon pack", 8, 4, 2),
        ("spectral pack", 4, 2, 1),
        ("jumbo spectral pack", 6, 4, 1),
    ],
)
def test_a_pack_has_its_price_items_and_picks(name: str, price: int, items: int, picks: int) -> None:
    number = [kind.name for kind in PACKS].index(name)
    game = in_shop(20)
    game.run.shop_packs = [Offer(Category.PACK, number, PACKS[number].cost)]
    game.open_pack(0)
    run = game.run
    assert (run.money, len(run.pack), run.picks_left, run.phase) == (20 - price, items, picks, Phase.PACK)
    assert len(run.hand) == (8 if "arcana" in name or "spectral" in name else 0)
    assert len({offer.item for offer in run.pack}) == items or "standard" in name
    game.skip_pack()
    assert (run.phase, len(run.hand), len(run.draw)) == (Phase.SHOP, 0, 52)


def opened(pack: str, item: int, category: Category) -> Game:
    game = in_shop(20)
    game.run.shop_packs = [Offer(Category.PACK, [kind.name for kind in PACKS].index(pack), 4)]
    game.open_pack(0)
    game.run.pack[0] = Offer(category, item)
    return game


def test_a_tarot_of_a_pack_is_used_on_the_dealt_hand_and_the_change_stays() -> None:
    game = opened("arcana pack", TAROTS[7], Category.CONSUMABLE)
    assert game.can_pick(0) == (1, 1)
    game.pick(0, [2])
    assert game.run.phase == Phase.SHOP
    assert sum(enhancement_of(card) > 0 for card in game.run.draw) == 1


def test_a_planet_of_a_pack_is_used_at_once() -> None:
    game = opened("celestial pack", 4, Category.CONSUMABLE)
    game.pick(0)
    assert game.run.levels[4] == 2
    assert game.run.consumables == []


def test_a_card_of_a_pack_joins_the_deck_and_a_joker_needs_a_place() -> None:
    game = opened("standard pack", 7, Category.CARD)
    game.pick(0)
    assert len(game.run.draw) == 53
    game = opened("buffoon pack", 7, Category.JOKER)
    game.run.joker_slots = 0
    assert game.can_pick(0) is None
    game.run.joker_slots = 1
    game.pick(0)
    assert [one.kind for one in game.run.jokers] == [7]


def test_a_mega_pack_gives_two_items_and_none_twice() -> None:
    game = opened("mega celestial pack", 4, Category.CONSUMABLE)
    game.pick(0)
    assert game.run.phase == Phase.PACK
    with pytest.raises(IllegalActionError):
        game.pick(0)
    game.pick(1)
    assert game.run.phase == Phase.SHOP


def test_own_consumables_can_be_used_while_a_pack_is_open() -> None:
    game = opened("arcana pack", TAROTS[7], Category.CONSUMABLE)
    game.run.consumables = [TAROTS[16]]
    game.use(0, [0])
    assert game.run.phase == Phase.PACK
    assert enhancement_of(game.run.hand[0]) > 0


def test_standard_cards_are_improved_at_their_odds() -> None:
    run = in_shop().run
    drawn = [packs.standard_card(run) for _ in range(4000)]
    assert 0.36 < sum(enhancement_of(card) > 0 for card in drawn) / 4000 < 0.44
    assert 0.06 < sum(edition_of(card) > 0 for card in drawn) / 4000 < 0.10
    assert 0.17 < sum(seal_of(card) > 0 for card in drawn) / 4000 < 0.23


def test_the_soul_and_black_hole_are_rare_in_packs() -> None:
    run = in_shop().run
    found: Counter[int] = Counter()
    for pack in (0, 3, 12):
        for _ in range(1500):
            found.update(offer.item for offer in packs.items_of(run, pack))
    assert 0 < found[SPECTRALS[-1]] < 60
    assert 0 < found[SPECTRALS[-2]] < 60


def deck(name: str) -> Run:
    return Game(3, deck=name).run


def test_decks_change_what_a_run_begins_with() -> None:
    blue, black, painted, magic, nebula = (deck(name) for name in ("blue", "black", "painted", "magic", "nebula"))
    assert (deck("red").discards_per_round, blue.discards_per_round, blue.hands_per_round) == (4, 3, 5)
    assert deck("yellow").money == 14
    assert (black.joker_slots, black.hands_per_round) == (6, 3)
    assert (painted.hand_size, painted.joker_slots) == (10, 4)
    assert (magic.consumables, magic.consumable_slots) == ([FOOL, FOOL], 3)
    assert nebula.consumable_slots == 1
    assert deck("ghost").consumables == [HEX]
    assert len(deck("zodiac").vouchers) == 3
    assert len(deck("abandoned").draw) == 40
    assert not any(9 <= card & 15 <= 11 for card in deck("abandoned").draw)
    assert Counter(card >> 4 & 3 for card in deck("checkered").draw) == {0: 26, 1: 26}
    assert len(deck("erratic").draw) == 52
    assert len(set(deck("erratic").draw)) < 45
    assert [len(deck(kind.name).draw) for kind in DECKS] == [kind.cards for kind in DECKS]


def test_to_the_moon_doubles_the_interest() -> None:
    game = in_blind(jokers=["To the Moon"])
    game.run.money, game.run.hands_left = 12, 1
    beat(game)
    assert game.run.money == 12 + 3 + 2 * 2


def test_the_green_deck_pays_for_hands_and_discards_and_no_interest() -> None:
    game = in_blind(deck="green")
    game.run.money = 25
    beat(game)
    assert game.run.money == 25 + 3 + 2 * 3 + 3


def test_the_ghost_deck_offers_spectral_cards() -> None:
    found = offers(in_shop(deck="ghost").run, 600)
    spectral = sum(offer.category == Category.CONSUMABLE and offer.item in SPECTRALS for offer in found)
    assert 20 < spectral < 65  # 2 of 30


def test_the_anaglyph_deck_gives_a_double_tag_after_a_boss() -> None:
    game = in_blind(blind=2, boss=15, deck="anaglyph")
    beat(game)
    assert game.run.tags == [17]


def test_the_plasma_deck_needs_twice_the_score_and_balances() -> None:
    game = in_blind(deck="plasma")
    assert game.run.target == 600
    game.run.hand = [11, 27, 3, 4]
    assert game.play([0, 1]).total == ((10 + 20 + 2) // 2) ** 2


def test_there_are_15_decks_and_8_stakes() -> None:
    assert (len(DECKS), len(STAKES)) == (15, 8)


def test_stakes_add_their_rules() -> None:
    red = Game(1, stake="red").run
    assert rounds.reward_of(red, 0) == 0
    assert rounds.reward_of(red, 1) == 4
    assert Game(1, stake="black").target_of(0) == 300
    assert Game(1, stake="blue").run.discards_per_round == Game(1).run.discards_per_round - 1
    for stake, target in (("red", 800), ("green", 900), ("purple", 1000)):
        game = Game(1, stake=stake)
        game.run.ante = 2
        assert game.target_of(0) == target


def stickers(stake: str) -> tuple[float, float, float]:
    run = Game(1, stake=stake).run
    run.random = random.Random(1)
    drawn = [pools.draw_joker_offer(run) for _ in range(2000)]
    return tuple(  # type: ignore[return-value]
        sum(getattr(offer, name) for offer in drawn) / 2000 for name in ("eternal", "perishable", "rental")
    )


def test_high_stakes_offer_eternal_perishable_and_rental_jokers() -> None:
    assert stickers("green") == (0, 0, 0)
    eternal, perishable, rental = stickers("black")
    assert (0.2 < eternal < 0.34, perishable, rental) == (True, 0, 0)
    eternal, perishable, rental = stickers("gold")
    assert 0.2 < eternal < 0.34
    assert 0.2 < perishable < 0.34
    assert 0.25 < rental < 0.35


def test_a_rental_joker_costs_1_dollar() -> None:
    run = Game(1, stake="gold").run
    rented = [offer for offer in offers(run, 200) if offer.rental]
    assert rented
    assert {offer.price for offer in rented} == {1}


def test_what_the_shop_offers_is_in_no_pack_and_is_not_created() -> None:
    run = in_shop().run
    run.shop = [Offer(Category.JOKER.value, kind) for kind in range(1, 150)]
    run.shop += [Offer(Category.CONSUMABLE.value, kind) for kind in TAROTS if kind not in (FOOL, FOOL + 1, FOOL + 2)]
    assert {offer.item for offer in packs.items_of(run, packs.BUFFOON_PACK)} == {0}
    assert {offer.item for offer in packs.items_of(run, 3 * packs.ARCANA)} <= {FOOL, FOOL + 1, FOOL + 2, SOUL}
    assert pools.draw_tarot(run) in (FOOL, FOOL + 1, FOOL + 2)
    run.jokers = [joker("Showman")]
    assert len({pools.draw_joker(run) for _ in range(50)}) > 5
