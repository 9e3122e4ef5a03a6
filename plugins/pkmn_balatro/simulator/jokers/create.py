"""Jokers and consumables that come into being, what they sell for, and what may be offered."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import chain
from typing import Final

from pkmn_balatro.simulator.cards import (
    ENHANCEMENT_SHIFT,
    GLASS,
    GOLD,
    LUCKY,
    NEGATIVE,
    STEEL,
    STONE,
    enhancement_of,
    rank_of,
    suit_of,
)
from pkmn_balatro.simulator.hands import FIVE
from pkmn_balatro.simulator.jokers.kinds import JOKERS, LEGENDARY, kind_named
from pkmn_balatro.simulator.jokers.passive import SHOWMAN
from pkmn_balatro.simulator.run import HANDS, Joker, Run

EDITION_PRICES: Final = (0, 2, 3, 5, 5)
"""Dollars that each edition adds to a joker's cost."""

_ENHANCEMENT: Final = 0xF << ENHANCEMENT_SHIFT
_STONE: Final = STONE << ENHANCEMENT_SHIFT
_TO_DO_LIST: Final = kind_named("To Do List")
_GROS_MICHEL: Final = kind_named("Gros Michel")
_CAVENDISH: Final = kind_named("Cavendish")
_NEEDED: Final = {
    kind_named("Steel Joker"): STEEL,
    kind_named("Stone Joker"): STONE,
    kind_named("Lucky Cat"): LUCKY,
    kind_named("Golden Ticket"): GOLD,
    kind_named("Glass Joker"): GLASS,
}
"""Jokers that are offered only if the deck has a card with this enhancement."""
OF_RARITY: Final = tuple(
    tuple(kind for kind, joker in enumerate(JOKERS) if joker.rarity == rarity) for rarity in range(LEGENDARY + 1)
)
"""Kinds of jokers by rarity."""
CONDITIONAL: Final = frozenset({*_NEEDED, _GROS_MICHEL, _CAVENDISH})
"""Jokers that are offered only at some times."""


def whole_deck(run: Run) -> Iterator[int]:
    """Iterate over all playing cards that the player owns."""
    return chain(run.draw, run.hand, run.discarded)


def has(run: Run, kind: int) -> bool:
    """Return True if the player has a joker of this kind that has its effect."""
    return any(joker.kind == kind and not joker.debuffed for joker in run.jokers)


def empty_slots(run: Run) -> int:
    """Return how many jokers still fit; negative jokers take no slot."""
    return run.joker_slots - sum(joker.edition != NEGATIVE for joker in run.jokers)


def discounted(run: Run, full: int) -> int:
    """Return a price after the discount of vouchers (``run.counters["discount"]``, in %), at least $1."""
    return max(1, int((full + 0.5) * (100 - run.counters.get("discount", 0)) / 100))


def cost(run: Run, kind: int, edition: int = 0) -> int:
    """Return a joker's price in dollars, at least 1, after the discount."""
    return discounted(run, JOKERS[kind].cost + EDITION_PRICES[edition])


def sell_value(run: Run, joker: Joker) -> int:
    """Return how many dollars a joker sells for, at least 1."""
    price = 1 if joker.rental else cost(run, joker.kind, joker.edition)
    return max(1, price // 2) + joker.more_sell


def make_joker(run: Run, kind: int, edition: int = 0) -> Joker:
    """Return a new joker with its first value. It isn't in the run yet."""
    joker = Joker(kind, edition, JOKERS[kind].start)
    if kind == _TO_DO_LIST:
        joker.value = choose_hand(run, -1)
    return joker


def known_hands(run: Run) -> list[int]:
    """Return the hands that the player may know: the last three only once they were played."""
    return [hand for hand in range(len(HANDS)) if hand < FIVE or run.played[hand]]


def choose_hand(run: Run, but: int) -> int:
    """Return a random known hand for To Do List, not ``but``."""
    return run.random.choice([hand for hand in known_hands(run) if hand != but])


def pool(run: Run, rarity: int) -> list[int]:
    """Return the kinds of jokers of a rarity that may be offered now.

    Jokers that the player has are left out, unless Showman is there, and those that need cards which the deck
    doesn't have; Cavendish comes only after Gros Michel was destroyed (``run.counters["gros_michel_extinct"]``).
    """
    owned = set() if has(run, SHOWMAN) else {joker.kind for joker in run.jokers}
    gone = run.counters.get("gros_michel_extinct", 0)
    owned.add(_GROS_MICHEL if gone else _CAVENDISH)
    enhancements: set[int] | None = None
    kinds = []
    for kind in OF_RARITY[rarity]:
        if kind in owned:
            continue
        if kind in _NEEDED:
            if enhancements is None:
                enhancements = {enhancement_of(card) for card in whole_deck(run)}
            if _NEEDED[kind] not in enhancements:
                continue
        kinds.append(kind)
    return kinds or [0]


def choose_consumable(run: Run, chance: random.Random, kinds: range, into: list[int]) -> None:
    """Append a random consumable of ``kinds`` to ``into``: none that the player has, unless Showman is there."""
    known = set() if has(run, SHOWMAN) else {item & 255 for item in run.consumables} | set(into)
    left = [kind for kind in kinds if kind not in known]
    into.append(chance.choice(left or list(kinds)))


def new_targets(run: Run) -> None:
    """Choose the cards of the round for The Idol, Mail-In Rebate, Ancient Joker and Castle, from the deck."""
    counters, luck = run.counters, run.random
    cards = [card for card in whole_deck(run) if card & _ENHANCEMENT != _STONE]
    if cards:
        idol = luck.choice(cards)
        counters["idol rank"], counters["idol suit"] = rank_of(idol), suit_of(idol)
        counters["mail rank"] = rank_of(luck.choice(cards))
        counters["castle suit"] = suit_of(luck.choice(cards))
    now = counters.get("ancient suit", -1)
    counters["ancient suit"] = luck.choice([suit for suit in range(4) if suit != now])
