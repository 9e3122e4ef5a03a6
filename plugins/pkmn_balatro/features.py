"""Numbers that describe a card, a joker or an offer in an observation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from pkmn_balatro.observation import (
    CARD_FEATURES,
    FIRST_CONSUMABLE,
    FIRST_JOKER,
    FIRST_PACK,
    FIRST_VOUCHER,
    PLAYING_CARD,
)
from pkmn_balatro.simulator.cards import (
    DEBUFFED,
    EDITIONS,
    ENHANCEMENTS,
    EXTRA_SHIFT,
    FACE_DOWN,
    FORCED,
    PLAYED,
    RANKS,
    SEALS,
    STONE,
    SUITS,
    edition_of,
    enhancement_of,
    rank_of,
    seal_of,
    suit_of,
)
from pkmn_balatro.simulator.consumables import NEGATIVE
from pkmn_balatro.simulator.run import Category, Joker, Offer

_FIRST_OF: Final = {
    Category.JOKER: FIRST_JOKER,
    Category.CONSUMABLE: FIRST_CONSUMABLE,
    Category.VOUCHER: FIRST_VOUCHER,
    Category.PACK: FIRST_PACK,
}


def kind_of(offer: Offer) -> int:
    """Return an offer's place in the list of kinds."""
    first = _FIRST_OF.get(Category(offer.category))
    return PLAYING_CARD if first is None else first + offer.item % NEGATIVE


def card_features(card: int) -> list[float]:
    """Return the numbers of a card."""
    hidden = bool(card & FACE_DOWN)
    row = [1.0, float(hidden), float(card & FORCED != 0)]
    if hidden:
        return row + [0.0] * (CARD_FEATURES - len(row))
    stone = enhancement_of(card) == STONE
    return [
        *row,
        float(card & DEBUFFED != 0),
        float(card & PLAYED != 0),
        *one_hot(-1 if stone else rank_of(card), len(RANKS)),
        *one_hot(-1 if stone else suit_of(card), len(SUITS)),
        *one_hot(enhancement_of(card) - 1, len(ENHANCEMENTS) - 1),
        *one_hot(edition_of(card) - 1, len(EDITIONS) - 1),
        *one_hot(seal_of(card) - 1, len(SEALS) - 1),
        min((card >> EXTRA_SHIFT) / 50, 4.0),
    ]


def joker_features(joker: Joker, sell: int) -> list[float]:
    """Return the numbers of a joker that is sold for ``sell`` dollars."""
    return [
        float(joker.debuffed),
        float(joker.eternal),
        min(max(joker.perishable, 0), 5) / 5,
        float(joker.rental),
        math.copysign(min(math.log1p(abs(joker.value)), 8.0), joker.value),
        min(sell, 80) / 10,
        *one_hot(joker.edition - 1, len(EDITIONS) - 1),
    ]


def offer_features(offer: Offer, affordable: bool) -> list[float]:
    """Return the numbers of an offer."""
    return [
        *one_hot(offer.category, len(Category)),
        1.0,
        min(offer.price, 80) / 10,
        float(affordable),
        float(offer.eternal),
        float(offer.perishable),
        float(offer.rental),
        *one_hot(offer.edition - 1, len(EDITIONS) - 1),
    ]


def one_hot(place: int, size: int) -> list[float]:
    """Return zeros with a 1 at a place; only zeros for a negative place."""
    return [float(place == one) for one in range(size)]


def counts(kinds: Sequence[int], size: int) -> list[float]:
    """Return how often each kind is there, at most 8."""
    row = [0.0] * size
    for kind in kinds:
        row[kind] = min(row[kind] + 1.0, 8.0)
    return row


def log(amount: int) -> float:
    """Return a sixth of the decimal logarithm of an amount plus 1."""
    return math.log10(amount + 1) / 6
