"""Effects of jokers outside of the scoring of hands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pkmn_balatro.simulator.cards import (
    ACE,
    DEBUFFED,
    GLASS,
    JACK,
    KING,
    RANK_MASK,
    SPADES,
    STONE,
    SUIT_SHIFT,
    enhancement_of,
    make_card,
)
from pkmn_balatro.simulator.consumables import NEGATIVE, PLANETS, TAROTS, has_consumable_room
from pkmn_balatro.simulator.hands import SUITS_OF, identify
from pkmn_balatro.simulator.jokers.create import (
    choose_consumable,
    choose_hand,
    empty_slots,
    has,
    make_joker,
    pool,
    sell_value,
    whole_deck,
)
from pkmn_balatro.simulator.jokers.hooks import OPTIONS, Event, notify, on
from pkmn_balatro.simulator.jokers.kinds import COMMON, JOKERS, kind_named
from pkmn_balatro.simulator.jokers.passive import happens
from pkmn_balatro.simulator.run import Joker, Run

NINE: Final = 7

_PAREIDOLIA: Final = kind_named("Pareidolia")
_SMEARED: Final = kind_named("Smeared Joker")


def is_face(run: Run, card: int) -> bool:
    """Return True if a card counts as a face card."""
    plain = JACK <= card & RANK_MASK <= KING and enhancement_of(card) != STONE
    return plain or has(run, _PAREIDOLIA)


def counts_as(run: Run, card: int, suit: int) -> bool:
    """Return True if a card, taken as not debuffed, is of a suit."""
    return SUITS_OF[has(run, _SMEARED)][card >> SUIT_SHIFT & 63] >> suit & 1 == 1


def _remove(run: Run, joker: Joker) -> None:
    run.jokers = [other for other in run.jokers if other is not joker]


def _add_tarot(run: Run) -> None:
    if has_consumable_room(run):
        choose_consumable(run, run.random, TAROTS, run.consumables)


# A blind begins.


@on(Event.BLIND_SELECTED, "Ceremonial Dagger", own=True)
def _ceremonial_dagger(run: Run, joker: Joker, data: Any) -> None:
    place = next(place for place, other in enumerate(run.jokers) if other is joker)
    if place + 1 < len(run.jokers) and not run.jokers[place + 1].eternal:
        victim = run.jokers.pop(place + 1)
        joker.value += 2 * sell_value(run, victim)


@on(Event.BLIND_SELECTED, "Marble Joker")
def _marble_joker(run: Run, joker: Joker, data: Any) -> None:
    card = make_card(run.random.randrange(13), run.random.randrange(4), STONE)
    run.draw.insert(run.random.randrange(len(run.draw) + 1), card)
    notify(run, Event.CARD_ADDED, [card])


@on(Event.BLIND_SELECTED, "Burglar")
def _burglar(run: Run, joker: Joker, data: Any) -> None:
    run.hands_left += 3
    run.discards_left = 0


@on(Event.BLIND_SELECTED, "Madness", own=True)
def _madness(run: Run, joker: Joker, data: Any) -> None:
    if run.blind == 2:
        return
    joker.value += 1
    others = [other for other in run.jokers if other is not joker and not other.eternal]
    if others:
        _remove(run, run.random.choice(others))


@on(Event.BLIND_SELECTED, "Riff-Raff")
def _riff_raff(run: Run, joker: Joker, data: Any) -> None:
    for _ in range(min(2, empty_slots(run))):
        run.jokers.append(make_joker(run, run.random.choice(pool(run, COMMON))))


@on(Event.BLIND_SELECTED, "Cartomancer")
def _cartomancer(run: Run, joker: Joker, data: Any) -> None:
    _add_tarot(run)


@on(Event.FIRST_HAND_DRAWN, "Certificate")
def _certificate(run: Run, joker: Joker, data: Any) -> None:
    luck = run.random
    card = make_card(luck.randrange(13), luck.randrange(4), seal=luck.randrange(1, 5))
    run.hand.append(card)
    notify(run, Event.CARD_ADDED, [card])


# A discard.


@on(Event.DISCARDED, "Green Joker", own=True)
def _green_joker(run: Run, joker: Joker, cards: list[int]) -> None:
    joker.value = max(0, joker.value - 1)


@on(Event.DISCARDED, "Faceless Joker")
def _faceless_joker(run: Run, joker: Joker, cards: list[int]) -> None:
    if sum(is_face(run, card) and _has_effect(card) for card in cards) >= 3:
        run.money += 5


@on(Event.DISCARDED, "Mail-In Rebate")
def _mail_in_rebate(run: Run, joker: Joker, cards: list[int]) -> None:
    rank = run.counters.get("mail rank", ACE)
    run.money += 5 * sum(
        card & RANK_MASK == rank and enhancement_of(card) != STONE and _has_effect(card) for card in cards
    )


@on(Event.DISCARDED, "Trading Card", own=True)
def _trading_card(run: Run, joker: Joker, cards: list[int]) -> None:
    if len(cards) == 1 and run.discards_used == 0:
        run.money += 3
        destroyed = cards.pop()
        notify(run, Event.CARD_DESTROYED, [destroyed])


@on(Event.DISCARDED, "Ramen", own=True)
def _ramen(run: Run, joker: Joker, cards: list[int]) -> None:
    joker.value += len(cards)
    if joker.value >= 100:
        _remove(run, joker)


@on(Event.DISCARDED, "Castle", own=True)
def _castle(run: Run, joker: Joker, cards: list[int]) -> None:
    suit = run.counters.get("castle suit", SPADES)
    joker.value += 3 * sum(_has_effect(card) and counts_as(run, card, suit) for card in cards)


@on(Event.DISCARDED, "Hit the Road", own=True)
def _hit_the_road(run: Run, joker: Joker, cards: list[int]) -> None:
    joker.value += sum(
        card & RANK_MASK == JACK and enhancement_of(card) != STONE and _has_effect(card) for card in cards
    )


@on(Event.DISCARD_CHOSEN, "Burnt Joker")
def _burnt_joker(run: Run, joker: Joker, cards: list[int]) -> None:
    if run.discards_used == 0:
        options = 0
        for other in run.jokers:
            options |= 0 if other.debuffed else OPTIONS[other.kind]
        run.levels[identify(cards, options)[0]] += 1


@on(Event.DISCARDED, "Yorick", own=True)
def _yorick(run: Run, joker: Joker, cards: list[int]) -> None:
    joker.value += len(cards)


def _has_effect(card: int) -> bool:
    return not card & DEBUFFED


# The end of a round.


@on(Event.BOSS_BEATEN, "Rocket", own=True)
def _rocket(run: Run, joker: Joker, data: Any) -> None:
    joker.value += 2


@on(Event.BOSS_BEATEN, "Campfire", own=True)
def _campfire_ends(run: Run, joker: Joker, data: Any) -> None:
    joker.value = 0


@on(Event.ROUND_ENDED, "Gros Michel", own=True)
def _gros_michel(run: Run, joker: Joker, data: Any) -> None:
    if happens(run, 6):
        _remove(run, joker)
        run.counters["gros_michel_extinct"] = 1


@on(Event.ROUND_ENDED, "Cavendish", own=True)
def _cavendish(run: Run, joker: Joker, data: Any) -> None:
    if happens(run, 1000):
        _remove(run, joker)


@on(Event.ROUND_ENDED, "Egg", own=True)
def _egg(run: Run, joker: Joker, data: Any) -> None:
    joker.more_sell += 3


@on(Event.ROUND_ENDED, "To Do List", own=True)
def _to_do_list(run: Run, joker: Joker, data: Any) -> None:
    joker.value = choose_hand(run, joker.value)


@on(Event.ROUND_ENDED, "Gift Card", own=True)
def _gift_card(run: Run, joker: Joker, data: Any) -> None:
    for other in run.jokers:
        other.more_sell += 1


@on(Event.ROUND_ENDED, "Turtle Bean", "Invisible Joker", "Popcorn", own=True)
def _count_rounds(run: Run, joker: Joker, data: Any) -> None:
    name = JOKERS[joker.kind].name
    joker.value += {"Turtle Bean": -1, "Invisible Joker": 1, "Popcorn": -4}[name]
    if joker.value <= 0:
        _remove(run, joker)


@on(Event.ROUND_ENDED, "Hit the Road", own=True)
def _hit_the_road_ends(run: Run, joker: Joker, data: Any) -> None:
    joker.value = 0


def _pays(name: str, dollars: Callable[[Run, Joker], int]) -> None:
    @on(Event.ROUND_ENDED, name, own=True)
    def pay(run: Run, joker: Joker, data: Any) -> None:
        run.money += dollars(run, joker)


_pays("Delayed Gratification", lambda run, joker: 0 if run.discards_used else 2 * run.discards_left)
_pays(
    "Cloud 9",
    lambda run, joker: sum(card & RANK_MASK == NINE and enhancement_of(card) != STONE for card in whole_deck(run)),
)
_pays("Rocket", lambda run, joker: joker.value)
_pays("Golden Joker", lambda run, joker: 4)
_pays("Satellite", lambda run, joker: len(run.planets_used))


# The shop, packs, and what is bought, used, sold.


@on(Event.SHOP_LEFT, "Perkeo")
def _perkeo(run: Run, joker: Joker, data: Any) -> None:
    if run.consumables:
        run.consumables.append(run.random.choice(run.consumables) | NEGATIVE)


@on(Event.REROLLED, "Flash Card", own=True)
def _flash_card(run: Run, joker: Joker, data: Any) -> None:
    joker.value += 2


@on(Event.PACK_SKIPPED, "Red Card", own=True)
def _red_card(run: Run, joker: Joker, data: Any) -> None:
    joker.value += 3


@on(Event.PACK_OPENED, "Hallucination")
def _hallucination(run: Run, joker: Joker, data: Any) -> None:
    if has_consumable_room(run) and happens(run, 2):
        _add_tarot(run)


@on(Event.CONSUMABLE_USED, "Constellation", own=True)
def _constellation(run: Run, joker: Joker, item: int) -> None:
    if item in PLANETS:
        joker.value += 1


@on(Event.SOLD, "Campfire", own=True)
def _campfire(run: Run, joker: Joker, sold: Joker | None) -> None:
    joker.value += 1


# Cards that come and go.


@on(Event.CARD_ADDED, "Hologram", own=True)
def _hologram(run: Run, joker: Joker, cards: list[int]) -> None:
    joker.value += len(cards)


@on(Event.CARD_DESTROYED, "Glass Joker", own=True)
def _glass_joker(run: Run, joker: Joker, cards: list[int]) -> None:
    joker.value += sum(enhancement_of(card) == GLASS for card in cards)


@on(Event.CARD_DESTROYED, "Canio", own=True)
def _canio(run: Run, joker: Joker, cards: list[int]) -> None:
    joker.value += sum(is_face(run, card) and _has_effect(card) for card in cards)
