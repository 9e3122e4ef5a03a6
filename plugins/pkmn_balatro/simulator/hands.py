"""Poker hands: which hand some cards make, which of them score, and what each hand is worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pkmn_balatro.simulator.cards import DEBUFFED, STONE, WILD

(
    HIGH_CARD,
    PAIR,
    TWO_PAIR,
    THREE,
    STRAIGHT,
    FLUSH,
    FULL_HOUSE,
    FOUR,
    STRAIGHT_FLUSH,
    FIVE,
    FLUSH_HOUSE,
    FLUSH_FIVE,
) = range(12)
"""Hands by their place in :data:`pkmn_balatro.simulator.run.HANDS`."""

WORTH: Final = (
    (5, 1, 10, 1),
    (10, 2, 15, 1),
    (20, 2, 20, 1),
    (30, 3, 20, 2),
    (30, 4, 30, 3),
    (35, 4, 15, 2),
    (40, 4, 25, 2),
    (60, 7, 30, 3),
    (100, 8, 40, 4),
    (120, 12, 35, 3),
    (140, 14, 40, 4),
    (160, 16, 50, 3),
)
"""Chips and mult of each hand at level 1, and what each further level adds to them."""

FOUR_FINGERS: Final = 1
"""Option: four cards are enough for a straight or a flush."""
SHORTCUT: Final = 2
"""Option: a straight may leave out single ranks between two cards."""
SMEARED: Final = 4
"""Option: spades and clubs are the same suit, hearts and diamonds too."""
SPLASH: Final = 8
"""Option: every played card scores."""

ALL_SUITS: Final = 15


def _suits(suit: int, enhancement: int, smeared: bool) -> int:
    if enhancement == STONE:
        return 0
    if enhancement == WILD:
        return ALL_SUITS
    return (5 if suit % 2 == 0 else 10) if smeared else 1 << suit


SUITS_OF: Final = tuple(tuple(_suits(code & 3, code >> 2, smeared) for code in range(64)) for smeared in (False, True))
"""Bits of the suits that a card counts as, by ``card >> 4 & 63``: without and with Smeared Joker."""
PRINTED_SUITS: Final = tuple(
    tuple(_suits(code & 3, STONE if code >> 2 == STONE else 0, smeared) for code in range(64))
    for smeared in (False, True)
)
"""The same for a debuffed card: a wild card counts only as its printed suit."""

_STONE_BITS: Final = STONE << 6
_ENHANCEMENT_BITS: Final = 0xF << 6
_ONE: Final = tuple(1 << 3 * rank for rank in range(13))
_CONTAINED: Final = {
    PAIR: 1 << PAIR,
    THREE: 1 << THREE | 1 << PAIR,
    FOUR: 1 << FOUR | 1 << THREE | 1 << PAIR,
    FIVE: 1 << FIVE | 1 << FOUR | 1 << THREE | 1 << PAIR,
}

_Pattern = tuple[int, int, int, int, int]
_patterns: tuple[dict[int, _Pattern], ...] = ({}, {}, {}, {})


def identify(cards: Sequence[int], options: int = 0) -> tuple[int, tuple[int, ...], int]:
    """Return the hand that 1 to 5 played cards make.

    Args:
        cards: The cards in the order in which they are played.
        options: Sum of :data:`FOUR_FINGERS`, :data:`SHORTCUT`, :data:`SMEARED` and :data:`SPLASH`.

    Returns:
        The hand; the places of the cards that score, in ascending order; and the hands that it contains as bits
        (``1 << PAIR`` and so on), which is what jokers such as Jolly Joker ask for.
    """
    total = 0
    stones = False
    for card in cards:
        if card & _ENHANCEMENT_BITS == _STONE_BITS:
            stones = True
        else:
            total += _ONE[card & 15]
    patterns = _patterns[options & 3]
    pattern = patterns.get(total)
    if pattern is None:
        pattern = patterns[total] = _pattern(total, options)
    hand, with_flush, contained, ranks, straight_ranks = pattern
    count = len(cards)
    flush: tuple[int, ...] = ()
    if count >= 4 and not (stones and count == 4):
        flush = _flush(cards, options)
    if flush:
        contained |= 1 << FLUSH
        hand = with_flush
        if hand in (FLUSH_HOUSE, FLUSH_FIVE) or options & SPLASH:
            scoring = tuple(range(count))
        elif hand == STRAIGHT_FLUSH and len(flush) < count:
            scoring = tuple(
                place for place, card in enumerate(cards) if place in flush or _scores(card, straight_ranks)
            )
        elif hand in (FLUSH, STRAIGHT_FLUSH):
            scoring = tuple(p for p in range(count) if p in flush or _scores(cards[p], 0)) if stones else flush
        else:  # four or five of a kind is worth more than the flush
            scoring = tuple(place for place, card in enumerate(cards) if _scores(card, ranks))
        if hand == STRAIGHT_FLUSH:
            contained |= 1 << STRAIGHT_FLUSH
        return hand, scoring, contained
    if options & SPLASH:
        return hand, tuple(range(count)), contained
    if stones:
        return hand, tuple(place for place, card in enumerate(cards) if _scores(card, ranks)), contained
    return hand, tuple([place for place in range(count) if ranks >> (cards[place] & 15) & 1]), contained


def _scores(card: int, ranks: int) -> bool:
    return card & _ENHANCEMENT_BITS == _STONE_BITS or ranks >> (card & 15) & 1 == 1


def _flush(cards: Sequence[int], options: int) -> tuple[int, ...]:
    """Return the places of the cards of a flush, or nothing."""
    smeared = options & SMEARED != 0
    table = SUITS_OF[smeared]
    fewest = 4 if options & FOUR_FINGERS else 5
    count = len(cards)
    if count < fewest:
        return ()
    masks = [PRINTED_SUITS[smeared][card >> 4 & 63] if card & DEBUFFED else table[card >> 4 & 63] for card in cards]
    common = ALL_SUITS
    for mask in masks:
        common &= mask
    if common:
        return tuple(range(count))
    if fewest < count:
        for suit in range(4):
            places = tuple([place for place in range(count) if masks[place] >> suit & 1])
            if len(places) >= fewest:
                return places
    return ()


def _pattern(total: int, options: int) -> _Pattern:
    """Return, of cards with these ranks, the hand without and with a flush, and what scores.

    Args:
        total: Count of each rank, in three bits for each.
        options: Of which :data:`FOUR_FINGERS` and :data:`SHORTCUT` matter here.

    Returns:
        The hand without a flush, the hand with one, the hands contained as bits (without those of a flush), the ranks
        that score as bits, and the ranks of the straight as bits (0 without one).
    """
    counts = [total >> 3 * rank & 7 for rank in range(13)]
    number = sum(counts)
    groups: list[list[int]] = [[rank for rank in range(13) if counts[rank] == size] for size in range(6)]
    straight = _straight(counts, options) if number >= (4 if options & FOUR_FINGERS else 5) else 0
    bits = 0
    for size, hand in ((2, PAIR), (3, THREE), (4, FOUR), (5, FIVE)):
        if groups[size]:
            bits |= _CONTAINED[hand]
    full_house = bool(groups[3] and groups[2])
    if full_house:
        bits |= 1 << FULL_HOUSE
    if full_house or len(groups[2]) == 2:
        bits |= 1 << TWO_PAIR
    if straight:
        bits |= 1 << STRAIGHT
    paired = sum(1 << rank for rank in range(13) if counts[rank] >= 2)
    if groups[5]:
        return FIVE, FLUSH_FIVE, bits, paired, straight
    if full_house:
        return FULL_HOUSE, FLUSH_HOUSE, bits, paired, straight
    if groups[4]:
        return FOUR, STRAIGHT_FLUSH if straight else FOUR, bits, paired, straight
    if straight:
        return STRAIGHT, STRAIGHT_FLUSH, bits, straight, straight
    if groups[3]:
        return THREE, FLUSH, bits, paired, 0
    if groups[2]:
        return (TWO_PAIR if len(groups[2]) == 2 else PAIR), FLUSH, bits, paired, 0
    highest = max((rank for rank in range(13) if counts[rank]), default=-1)
    return HIGH_CARD, FLUSH, bits, 1 << highest if highest >= 0 else 0, 0


def _straight(counts: list[int], options: int) -> int:
    """Return the ranks of a straight as bits, or 0. The ace is both below the two and above the king."""
    needed = 4 if options & FOUR_FINGERS else 5
    length = 0
    ranks = 0
    left_out = found = False
    for step in range(14):
        rank = 12 if step == 0 else step - 1
        if counts[rank]:
            length += 1
            left_out = False
            ranks |= 1 << rank
        elif options & SHORTCUT and not left_out and step != 13:
            left_out = True
        elif found:
            break
        else:
            length = ranks = 0
            left_out = False
        found = found or length >= needed
    return ranks if found else 0


def worth(hand: int, level: int) -> tuple[int, int]:
    """Return a hand's chips and mult at a level."""
    chips, mult, more_chips, more_mult = WORTH[hand]
    return chips + more_chips * (level - 1), mult + more_mult * (level - 1)
