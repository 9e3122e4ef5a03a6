"""Decks: the cards and rules that a run begins with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pkmn_balatro.simulator import vouchers
from pkmn_balatro.simulator.cards import HEARTS, JACK, KING, SPADES, make_card, standard_deck
from pkmn_balatro.simulator.consumables import FOOL, HEX
from pkmn_balatro.simulator.run import Run


@dataclass(frozen=True, slots=True)
class DeckKind:
    """A deck."""

    name: str
    words: str
    """Rules in a few words."""
    cards: int = 52
    """Number of cards that a run begins with."""
    hands: int = 0
    discards: int = 0
    money: int = 0
    hand_size: int = 0
    joker_slots: int = 0
    consumable_slots: int = 0
    """Changes of the numbers that a run begins with."""
    vouchers: tuple[int, ...] = ()
    consumables: tuple[int, ...] = ()


DECKS: Final = (
    DeckKind("red", "1 more discard each round", discards=1),
    DeckKind("blue", "1 more hand each round", hands=1),
    DeckKind("yellow", "$10 more at the start", money=10),
    DeckKind("green", "$2 for each hand and $1 for each discard left over; no interest"),
    DeckKind("black", "1 more place for jokers, 1 hand fewer each round", joker_slots=1, hands=-1),
    DeckKind(
        "magic", "begins with Crystal Ball and two Fools", vouchers=(vouchers.CRYSTAL_BALL,), consumables=(FOOL, FOOL)
    ),
    DeckKind(
        "nebula",
        "begins with Telescope, 1 place for consumables fewer",
        vouchers=(vouchers.TELESCOPE,),
        consumable_slots=-1,
    ),
    DeckKind("ghost", "spectral cards in the shop; begins with Hex", consumables=(HEX,)),
    DeckKind("abandoned", "no face cards", cards=40),
    DeckKind("checkered", "26 spades and 26 hearts"),
    DeckKind(
        "zodiac",
        "begins with Tarot Merchant, Planet Merchant and Overstock",
        vouchers=(vouchers.TAROT_MERCHANT, vouchers.PLANET_MERCHANT, vouchers.OVERSTOCK),
    ),
    DeckKind("painted", "hand size +2, 1 place for jokers fewer", hand_size=2, joker_slots=-1),
    DeckKind("anaglyph", "a Double Tag after each boss"),
    DeckKind("plasma", "chips and mult are balanced; twice the score is needed"),
    DeckKind("erratic", "random ranks and suits"),
)
"""All decks. A deck is a place in this list."""
NAMES: Final = tuple(kind.name for kind in DECKS)
"""Names of the decks."""
_STANDARD: Final = tuple(standard_deck())

(RED, BLUE, YELLOW, GREEN, BLACK, MAGIC, NEBULA, GHOST, ABANDONED, CHECKERED, ZODIAC, PAINTED, ANAGLYPH, PLASMA) = (
    range(14)
)
ERRATIC: Final = 14


def cards_of(run: Run) -> list[int]:
    """Return the cards that the run's deck begins with."""
    if run.deck_kind == ABANDONED:
        return [card for card in _STANDARD if not JACK <= card & 0xF <= KING]
    if run.deck_kind == CHECKERED:
        return [make_card(rank, suit) for suit in (SPADES, HEARTS) * 2 for rank in range(13)]
    if run.deck_kind == ERRATIC:
        return [make_card(run.random.randrange(13), run.random.randrange(4)) for _ in range(52)]
    return list(_STANDARD)


def apply_deck(run: Run) -> None:
    """Set the numbers, vouchers, consumables and cards that the run's deck begins with."""
    kind = DECKS[run.deck_kind]
    run.hands_per_round += kind.hands
    run.discards_per_round += kind.discards
    run.money += kind.money
    run.base_hand_size += kind.hand_size
    run.joker_slots += kind.joker_slots
    run.consumable_slots += kind.consumable_slots
    for voucher in kind.vouchers:
        vouchers.redeem(run, voucher)
    run.consumables.extend(kind.consumables)
    run.draw = cards_of(run)
