"""Random jokers, consumables and editions, and prices."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from typing import Final

from pkmn_balatro.simulator import consumables, stakes, vouchers
from pkmn_balatro.simulator.cards import FOIL, HOLOGRAPHIC, NEGATIVE, NO_EDITION, POLYCHROME
from pkmn_balatro.simulator.jokers.create import (
    CONDITIONAL,
    EDITION_PRICES,
    OF_RARITY,
    discounted,
    has,
    known_hands,
    make_joker,
    pool,
)
from pkmn_balatro.simulator.jokers.kinds import JOKERS
from pkmn_balatro.simulator.jokers.passive import ASTRONOMER, SHOWMAN
from pkmn_balatro.simulator.run import HANDS, Category, Joker, Offer, Run

_RARITY_UP_TO: Final = (0.7, 0.95)
PERISHABLE_ROUNDS: Final = 5
_NEVER_ETERNAL: Final = frozenset(
    {
        "Cavendish",
        "Diet Cola",
        "Gros Michel",
        "Ice Cream",
        "Invisible Joker",
        "Luchador",
        "Mr. Bones",
        "Popcorn",
        "Ramen",
        "Seltzer",
        "Turtle Bean",
    }
)
_NEVER_PERISHABLE: Final = frozenset(
    {
        "Ceremonial Dagger",
        "Castle",
        "Constellation",
        "Fortune Teller",
        "Flash Card",
        "Glass Joker",
        "Green Joker",
        "Hologram",
        "Lucky Cat",
        "Madness",
        "Obelisk",
        "Red Card",
        "Ride the Bus",
        "Rocket",
        "Runner",
        "Spare Trousers",
        "Square Joker",
        "Vampire",
        "Wee Joker",
        "Campfire",
        "Hit the Road",
        "Yorick",
        "Canio",
    }
)


def has_astronomer(run: Run) -> bool:
    """Return True if planets and celestial packs are free."""
    return bool(run.jokers) and has(run, ASTRONOMER)


def consumable_price(run: Run, kind: int) -> int:
    """Return the price of a consumable."""
    if kind in consumables.PLANETS and has_astronomer(run):
        return 0
    return discounted(run, consumables.CONSUMABLES[kind].cost)


def consumable_sell_value(run: Run, consumable: int) -> int:
    """Return the dollars that a consumable is sold for."""
    negative = EDITION_PRICES[NEGATIVE] if consumable & consumables.NEGATIVE else 0
    return max(1, discounted(run, consumables.CONSUMABLES[consumable & 0xFF].cost + negative) // 2)


def add_consumable(run: Run, kind: int) -> bool:
    """Give the player a consumable if there is a place for it; return True if so."""
    if not consumables.has_consumable_room(run):
        return False
    run.consumables.append(kind)
    return True


def most_played(run: Run) -> int:
    """Return the hand played most in this run, the strongest of equals."""
    return max(range(len(HANDS)), key=lambda hand: (run.played[hand], hand))


def _edition_rate(run: Run) -> int:
    """Return the factor of vouchers on the odds of editions."""
    if not run.vouchers:
        return 1
    return 4 if vouchers.GLOW_UP in run.vouchers else 2 if vouchers.HONE in run.vouchers else 1


def draw_edition(run: Run) -> int:
    """Choose a random edition for a joker."""
    luck = run.random.random()
    return NEGATIVE if luck > 0.997 else _edition_of_luck(luck, _edition_rate(run))


def draw_card_edition(run: Run) -> int:
    """Choose a random edition for a playing card: twice as often as for a joker, but never negative."""
    return _edition_of_luck(run.random.random(), 2 * _edition_rate(run))


def _edition_of_luck(luck: float, rate: int) -> int:
    if luck > 1 - 0.006 * rate:
        return POLYCHROME
    if luck > 1 - 0.02 * rate:
        return HOLOGRAPHIC
    return FOIL if luck > 1 - 0.04 * rate else NO_EDITION


def draw_sure_edition(run: Run) -> int:
    """Choose foil (50%), holographic (35%) or polychrome (15%)."""
    luck = run.random.random()
    return POLYCHROME if luck > 0.85 else HOLOGRAPHIC if luck > 0.5 else FOIL


def offered(run: Run, category: int) -> list[int]:
    """Return what the shop and the open pack offer of a category; none of it is offered a second time."""
    return [offer.item for offer in (*run.shop, *run.pack) if offer.category == category and not offer.sold]


def draw_joker(run: Run, rarity: int | None = None, besides: Sequence[int] = ()) -> int:
    """Choose a random kind of joker that is neither the player's nor offered; Joker itself if there is none left.

    Args:
        run: The run.
        rarity: 0 common to 3 legendary; None for a random one.
        besides: Other kinds that it must not be.
    """
    if rarity is None:
        rarity = bisect(_RARITY_UP_TO, run.random.random())
    again = bool(run.jokers) and has(run, SHOWMAN)
    taken: set[int] = set()
    if not again:
        taken = {joker.kind for joker in run.jokers}.union(besides, offered(run, Category.JOKER))
    kinds = OF_RARITY[rarity]
    for _ in range(4):  # nearly always enough, and faster than the list of all that are allowed
        kind = run.random.choice(kinds)
        if kind not in taken and (kind not in CONDITIONAL or kind in pool(run, rarity)):
            return kind
    return run.random.choice([kind for kind in pool(run, rarity) if kind not in taken] or [0])


def draw_joker_offer(run: Run, rarity: int | None = None, besides: Sequence[int] = ()) -> Offer:
    """Choose a random joker with edition and the stickers of the stake; it has no price yet."""
    kind = draw_joker(run, rarity, besides)
    offer = Offer(Category.JOKER.value, kind, edition=draw_edition(run))
    rules = stakes.RULES[run.stake]
    if rules.eternal:
        luck = run.random.random()
        name = JOKERS[kind].name
        if luck > 0.7:
            offer.eternal = name not in _NEVER_ETERNAL
        elif luck > 0.4 and rules.perishable:
            offer.perishable = name not in _NEVER_PERISHABLE
        if rules.rental and run.random.random() > 0.7:
            offer.rental = True
    return offer


def joker_of(run: Run, offer: Offer) -> Joker:
    """Return the joker that an offer is."""
    joker = make_joker(run, offer.item, offer.edition)
    joker.eternal = offer.eternal
    joker.perishable = PERISHABLE_ROUNDS if offer.perishable else 0
    joker.rental = offer.rental
    return joker


def _draw(run: Run, kinds: Sequence[int], besides: Sequence[int], last: int) -> int:
    """Choose a random consumable that is neither held nor offered; ``last`` if there is none left."""
    if run.jokers and has(run, SHOWMAN):
        return run.random.choice(kinds)
    held = run.consumables
    besides = (*besides, *offered(run, Category.CONSUMABLE))
    for _ in range(4):
        kind = run.random.choice(kinds)
        if kind not in held and kind + consumables.NEGATIVE not in held and kind not in besides:
            return kind
    allowed = [kind for kind in kinds if kind not in {item & 0xFF for item in held} and kind not in besides]
    return run.random.choice(allowed) if allowed else last


def draw_tarot(run: Run, besides: Sequence[int] = ()) -> int:
    """Choose a random tarot that the player doesn't hold."""
    return _draw(run, consumables.TAROTS, besides, consumables.STRENGTH)


def draw_planet(run: Run, besides: Sequence[int] = ()) -> int:
    """Choose a random planet that the player doesn't hold. The last three appear once their hands were played."""
    return _draw(run, known_hands(run), besides, 0)


def draw_spectral(run: Run, besides: Sequence[int] = ()) -> int:
    """Choose a random spectral card that the player doesn't hold; never The Soul or Black Hole."""
    return _draw(run, consumables.COMMON_SPECTRALS, besides, consumables.INCANTATION)
