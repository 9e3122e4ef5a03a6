"""A hand while it is scored, and the result."""

from __future__ import annotations

import random

from pkmn_balatro.simulator.cards import DEBUFFED, ENHANCEMENT_SHIFT, JACK, KING, RANK_MASK, STONE
from pkmn_balatro.simulator.consumables import has_consumable_room
from pkmn_balatro.simulator.run import Joker, Run


class Scored:
    """A hand while it is scored, and the result. The run itself isn't changed."""

    __slots__ = (
        "added",
        "blocked",
        "cards",
        "chance",
        "chips",
        "contained",
        "created",
        "destroyed",
        "doublings",
        "faces",
        "gone",
        "hand",
        "held",
        "jokers",
        "level",
        "lucky",
        "money",
        "mult",
        "positions",
        "run",
        "scoring",
        "suits",
        "total",
        "triggered",
        "values",
    )

    run: Run
    jokers: list[Joker]
    positions: tuple[int, ...]
    """Places of the played cards in the hand, in ascending order."""
    cards: list[int]
    """The played cards as they are after scoring."""
    held: list[int]
    """The cards that stay in the hand."""
    hand: int
    """The poker hand."""
    contained: int
    """Hands that it contains, as bits."""
    scoring: tuple[int, ...]
    """Places of the scoring cards within :attr:`cards`."""
    level: int
    """Level of the hand, with what this play has changed."""
    chips: float
    mult: float
    total: int
    """Score, ``chips`` times ``mult`` rounded down; 0 if the boss blocks the hand."""
    blocked: bool
    """True if the boss lets the hand score nothing."""
    triggered: bool
    """True if the hand met the effect of the boss."""
    money: int
    """Dollars that this play brings, or takes if negative."""
    destroyed: tuple[int, ...]
    """Places within :attr:`cards` of those that are destroyed."""
    created: list[int]
    """Consumables that jokers make."""
    added: list[int]
    """Cards that join the deck and the hand."""
    values: list[int]
    """The jokers' numbers after scoring."""
    gone: list[int]
    """Places of the jokers that are used up."""
    chance: random.Random | None
    """Source of luck; None for a preview, in which only certain luck happens."""
    doublings: int
    """Times that chances are doubled."""
    suits: tuple[int, ...]
    """Bits of the suits that a card counts as, by ``card >> 4 & 63``."""
    faces: bool
    """True if every card is a face card."""
    lucky: bool
    """True if the card that is scored now is a lucky one that has succeeded."""

    def happens(self, odds: int) -> bool:
        """Return True if luck of ``1 in odds`` happens."""
        favourable = 1 << self.doublings
        if favourable >= odds:
            return True
        return self.chance is not None and self.chance.random() * odds < favourable

    def is_face(self, card: int) -> bool:
        """Return True for a face card that has its effect."""
        if card & DEBUFFED:
            return False
        if self.faces:
            return True
        return JACK <= card & RANK_MASK <= KING and card >> ENHANCEMENT_SHIFT & 0xF != STONE

    def has_room(self) -> bool:
        """Return True if another consumable fits."""
        return has_consumable_room(self.run, len(self.created))
