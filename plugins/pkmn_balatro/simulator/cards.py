"""Playing cards as whole numbers, so that a hand is a short list of numbers.

A card is ``rank | suit << 4 | enhancement << 6 | edition << 10 | seal << 13 | flags | extra chips << 20``.
"""

from __future__ import annotations

from typing import Final

RANKS: Final = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")
"""Names of the ranks 0 to 12, in ascending order."""
SUITS: Final = ("spades", "hearts", "clubs", "diamonds")
SUIT_SIGNS: Final = ("♠", "♥", "♣", "♦")
ENHANCEMENTS: Final = ("", "bonus", "mult", "wild", "glass", "steel", "stone", "gold", "lucky")
EDITIONS: Final = ("", "foil", "holographic", "polychrome", "negative")
SEALS: Final = ("", "gold", "red", "blue", "purple")

TEN: Final = 8
JACK: Final = 9
QUEEN: Final = 10
KING: Final = 11
ACE: Final = 12
SPADES, HEARTS, CLUBS, DIAMONDS = range(4)
NO_ENHANCEMENT, BONUS, MULT, WILD, GLASS, STEEL, STONE, GOLD, LUCKY = range(9)
NO_EDITION, FOIL, HOLOGRAPHIC, POLYCHROME, NEGATIVE = range(5)
NO_SEAL, GOLD_SEAL, RED_SEAL, BLUE_SEAL, PURPLE_SEAL = range(5)

RANK_MASK: Final = 0xF
SUIT_SHIFT: Final = 4
ENHANCEMENT_SHIFT: Final = 6
EDITION_SHIFT: Final = 10
SEAL_SHIFT: Final = 13
EXTRA_SHIFT: Final = 20

DEBUFFED: Final = 1 << 16
"""Flag of a card without effect in this round."""
FACE_DOWN: Final = 1 << 17
"""Flag of a card whose face is hidden."""
FORCED: Final = 1 << 18
"""Flag of a card that must be part of the next play or discard."""
PLAYED: Final = 1 << 19
"""Flag of a card that was played in this ante."""
ROUND_FLAGS: Final = DEBUFFED | FACE_DOWN | FORCED
"""Flags that end with the round."""

CHIPS: Final = (2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 11)
"""Chips of each rank."""


def make_card(rank: int, suit: int, enhancement: int = 0, edition: int = 0, seal: int = 0, extra_chips: int = 0) -> int:
    """Return a card."""
    return (
        rank
        | suit << SUIT_SHIFT
        | enhancement << ENHANCEMENT_SHIFT
        | edition << EDITION_SHIFT
        | seal << SEAL_SHIFT
        | extra_chips << EXTRA_SHIFT
    )


def rank_of(card: int) -> int:
    """Return the rank, 0 (two) to 12 (ace)."""
    return card & RANK_MASK


def suit_of(card: int) -> int:
    """Return the suit as printed, 0 to 3 in the order of :data:`SUITS`."""
    return card >> SUIT_SHIFT & 3


def enhancement_of(card: int) -> int:
    """Return the enhancement, a place in :data:`ENHANCEMENTS`."""
    return card >> ENHANCEMENT_SHIFT & 0xF


def edition_of(card: int) -> int:
    """Return the edition, a place in :data:`EDITIONS`."""
    return card >> EDITION_SHIFT & 7


def seal_of(card: int) -> int:
    """Return the seal, a place in :data:`SEALS`."""
    return card >> SEAL_SHIFT & 7


def with_rank(card: int, rank: int) -> int:
    """Return the card with another rank."""
    return card & ~RANK_MASK | rank


def with_suit(card: int, suit: int) -> int:
    """Return the card with another suit."""
    return card & ~(3 << SUIT_SHIFT) | suit << SUIT_SHIFT


def with_enhancement(card: int, enhancement: int) -> int:
    """Return the card with another enhancement."""
    return card & ~(0xF << ENHANCEMENT_SHIFT) | enhancement << ENHANCEMENT_SHIFT


def with_edition(card: int, edition: int) -> int:
    """Return the card with another edition."""
    return card & ~(7 << EDITION_SHIFT) | edition << EDITION_SHIFT


def with_seal(card: int, seal: int) -> int:
    """Return the card with another seal."""
    return card & ~(7 << SEAL_SHIFT) | seal << SEAL_SHIFT


def card_name(card: int) -> str:
    """Return a card's short name, such as ``10♥`` or ``K♠ (glass, red seal)``; ``?`` if it is face down."""
    if card & FACE_DOWN:
        return "?"
    stone = enhancement_of(card) == STONE
    name = "stone" if stone else f"{RANKS[rank_of(card)]}{SUIT_SIGNS[suit_of(card)]}"
    notes = [EDITIONS[edition_of(card)], "" if stone else ENHANCEMENTS[enhancement_of(card)]]
    notes += [f"{SEALS[seal_of(card)]} seal" if seal_of(card) else "", "debuffed" if card & DEBUFFED else ""]
    told = ", ".join(note for note in notes if note)
    return f"{name} ({told})" if told else name


def standard_deck() -> list[int]:
    """Return the 52 plain cards."""
    return [make_card(rank, suit) for suit in range(4) for rank in range(13)]
