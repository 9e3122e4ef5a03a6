"""The shop: what it offers, and at what price."""

from __future__ import annotations

from typing import Final

from pkmn_balatro.simulator import decks, jokers, packs, pools, tags, vouchers
from pkmn_balatro.simulator.cards import FOIL, HOLOGRAPHIC, NEGATIVE, NO_EDITION, POLYCHROME, edition_of, make_card
from pkmn_balatro.simulator.jokers.create import EDITION_PRICES, discounted
from pkmn_balatro.simulator.run import Category, Offer, Run

JOKER_WEIGHT: Final = 20.0
CONSUMABLE_WEIGHT: Final = 4.0
MERCHANT_WEIGHT: Final = 9.6
TYCOON_WEIGHT: Final = 32.0
CARD_WEIGHT: Final = 4.0
SPECTRAL_WEIGHT: Final = 2.0
VOUCHER_COST: Final = 10
PACKS_OFFERED: Final = 2

_EDITION_TAGS: Final = (
    (tags.FOIL, FOIL),
    (tags.HOLOGRAPHIC, HOLOGRAPHIC),
    (tags.POLYCHROME, POLYCHROME),
    (tags.NEGATIVE, NEGATIVE),
)


def cards_offered(run: Run) -> int:
    """Return how many cards the shop offers."""
    return 2 + (vouchers.OVERSTOCK in run.vouchers) + (vouchers.OVERSTOCK_PLUS in run.vouchers)


def reroll_price(run: Run) -> int:
    """Return the price of the next reroll."""
    if run.free_rerolls > 0:
        return 0
    base = 5
    if run.vouchers:
        base -= 2 * (vouchers.REROLL_SURPLUS in run.vouchers) + 2 * (vouchers.REROLL_GLUT in run.vouchers)
    if run.counters.get("d6"):
        base = 0
    return base + run.rerolls


def open_shop(run: Run) -> None:
    """Fill the shop after a blind was beaten, with the tags that wait for a shop."""
    run.rerolls = 0
    run.free_rerolls = jokers.count(run, jokers.CHAOS_THE_CLOWN)
    run.counters["d6"] = int(tags.take(run, tags.D6))
    run.shop = []
    fill_cards(run, cards_offered(run))
    run.shop_vouchers = [_voucher_offer(run, run.voucher)] if run.voucher >= 0 else []
    while tags.take(run, tags.VOUCHER):
        offered = tuple(offer.item for offer in run.shop_vouchers)
        run.shop_vouchers.append(_voucher_offer(run, vouchers.draw_voucher(run, offered)))
    run.shop_packs = [_priced(run, Offer(Category.PACK.value, packs.draw_pack(run))) for _ in range(PACKS_OFFERED)]
    if tags.take(run, tags.COUPON):
        for offer in (*run.shop, *run.shop_packs):
            offer.price = 0


def fill_cards(run: Run, count: int) -> None:
    """Add cards to what the shop offers."""
    for _ in range(count):
        run.shop.append(_card_offer(run))


def reprice(run: Run) -> None:
    """Set prices again after a voucher that lowers them. What is free stays free."""
    for offer in (*run.shop, *run.shop_vouchers, *run.shop_packs):
        if offer.price > 0:
            _priced(run, offer)


def _price(run: Run, offer: Offer) -> int:
    category = offer.category
    if category == Category.JOKER:
        return 1 if offer.rental else jokers.cost(run, offer.item, offer.edition)
    if category == Category.CONSUMABLE:
        return pools.consumable_price(run, offer.item)
    if category == Category.VOUCHER:
        return discounted(run, VOUCHER_COST)
    if category == Category.PACK:
        kind = packs.PACKS[offer.item]
        if kind.content == packs.CELESTIAL and pools.has_astronomer(run):
            return 0
        return discounted(run, kind.cost)
    return discounted(run, 1 + EDITION_PRICES[edition_of(offer.item)])


def _priced(run: Run, offer: Offer) -> Offer:
    """Give an offer its price, and return it."""
    offer.price = _price(run, offer)
    return offer


def _voucher_offer(run: Run, voucher: int) -> Offer:
    return _priced(run, Offer(Category.VOUCHER.value, voucher))


def _card_offer(run: Run) -> Offer:
    """Choose a random card of the shop: a joker, a consumable or, with vouchers, a playing card."""
    if run.tags:
        for tag, rarity in ((tags.UNCOMMON, jokers.UNCOMMON), (tags.RARE, jokers.RARE)):
            if tags.take(run, tag):
                return _with_tagged_edition(run, pools.draw_joker_offer(run, rarity))
    tarots = planets = CONSUMABLE_WEIGHT
    cards = 0.0
    had = run.vouchers
    if had:
        if vouchers.TAROT_MERCHANT in had:
            tarots = TYCOON_WEIGHT if vouchers.TAROT_TYCOON in had else MERCHANT_WEIGHT
        if vouchers.PLANET_MERCHANT in had:
            planets = TYCOON_WEIGHT if vouchers.PLANET_TYCOON in had else MERCHANT_WEIGHT
        cards = CARD_WEIGHT if vouchers.MAGIC_TRICK in had else 0.0
    spectrals = SPECTRAL_WEIGHT if run.deck_kind == decks.GHOST else 0.0
    luck = run.random.random() * (JOKER_WEIGHT + tarots + planets + spectrals + cards) - JOKER_WEIGHT
    if luck < 0:
        return _with_tagged_edition(run, _priced(run, pools.draw_joker_offer(run)))
    if luck < tarots:
        offer = Offer(Category.CONSUMABLE.value, pools.draw_tarot(run))
    elif luck < tarots + planets:
        offer = Offer(Category.CONSUMABLE.value, pools.draw_planet(run))
    elif luck < tarots + planets + spectrals:
        offer = Offer(Category.CONSUMABLE.value, pools.draw_spectral(run))
    else:
        offer = Offer(Category.CARD.value, _playing_card(run))
    return _priced(run, offer)


def _with_tagged_edition(run: Run, offer: Offer) -> Offer:
    if run.tags and offer.edition == NO_EDITION:
        for tag, edition in _EDITION_TAGS:
            if tags.take(run, tag):
                offer.edition = edition
                offer.price = 0
                break
    return offer


def _playing_card(run: Run) -> int:
    chance = run.random
    rank, suit = chance.randrange(13), chance.randrange(4)
    if vouchers.ILLUSION not in run.vouchers:
        return make_card(rank, suit)
    enhancement = chance.randint(1, 8) if chance.random() > 0.6 else 0
    edition = pools.draw_sure_edition(run) if chance.random() > 0.8 else 0
    return make_card(rank, suit, enhancement, edition)
