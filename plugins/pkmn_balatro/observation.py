"""Layout of observations: the arrays, and the place of each number. :mod:`pkmn_balatro.observer` writes them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np
from gymnasium import spaces

from pkmn_balatro.actions import MOST_CONSUMABLES, MOST_JOKERS, PACK_ITEMS, PACK_SLOTS, SHOP_SLOTS, VOUCHER_SLOTS
from pkmn_balatro.simulator.cards import EDITIONS, ENHANCEMENTS, RANKS, SEALS, SUITS
from pkmn_balatro.simulator.run import HANDS, Category, Phase

# Kinds ---------------------------------------------------------------------------------------------------------

FIRST_JOKER: Final = 1
FIRST_CONSUMABLE: Final = 161
FIRST_VOUCHER: Final = 221
FIRST_PACK: Final = 261
PLAYING_CARD: Final = 281
"""Kind of a playing card that is offered; ``offered_cards`` shows it."""
KINDS: Final = 282
"""Number of kinds: 0 for an empty place, jokers, consumables, vouchers, packs, a playing card. It leaves room."""
OFFERS: Final = max(SHOP_SLOTS, PACK_ITEMS)
"""Places of offers: the items of an opened pack, else the cards of the shop."""
KIND_PLACES: Final = MOST_JOKERS + MOST_CONSUMABLES + OFFERS + VOUCHER_SLOTS + PACK_SLOTS
"""Numbers of the array ``kinds``: jokers, consumables, offers, vouchers and packs."""

# Numbers -------------------------------------------------------------------------------------------------------

CARD_FEATURES: Final = (
    5 + len(RANKS) + len(SUITS) + (len(ENHANCEMENTS) - 1) + (len(EDITIONS) - 1) + (len(SEALS) - 1) + 1
)
"""Numbers of a card: present, face down, forced, debuffed, played in this ante; rank, suit, enhancement, edition and
seal as one-hot codes; extra chips."""
JOKER_FEATURES: Final = 6 + len(EDITIONS) - 1
OFFER_FEATURES: Final = len(Category) + 6 + len(EDITIONS) - 1
PLACE_FEATURES: Final = 3
"""Numbers of a voucher or pack in the shop: present, price, affordable."""

BOSS_ROOM, DECK_ROOM, STAKE_ROOM, TAG_ROOM, VOUCHER_ROOM, JOKER_ROOM = 32, 16, 8, 24, 32, 160
"""Sizes of one-hot codes and counts. They leave room for kinds that are added later."""

SCALARS: Final = {
    "ante": 1 / 8,
    "ante_of_win": 1 / 8,
    "rounds": 1 / 24,
    "target": 1.0,
    "score": 1.0,
    "share": 1.0,
    "missing": 1.0,
    "hands": 1 / 4,
    "discards": 1 / 4,
    "hand_size": 1 / 8,
    "money": 1 / 25,
    "debt": 1 / 25,
    "interest": 1 / 5,
    "joker_slots": 1 / 5,
    "consumable_slots": 1 / 5,
    "draw_pile": 1 / 52,
    "deck_size": 1 / 52,
    "reroll_price": 1 / 10,
    "free_rerolls": 1 / 5,
    "picks": 1 / 5,
    "fewest_targets": 1 / 3,
    "most_targets": 1 / 3,
    "hands_played": 1 / 50,
    "skips": 1 / 8,
    "won": 1.0,
    "free_actions": 1.0,
}
"""Single numbers, in order, each with the factor that brings it near 0..1.

``target`` is the score that this blind, or the next one, needs. It, ``score`` and ``missing`` are a sixth of the
decimal logarithm; ``share`` is the share of the target that is scored.
"""

_SIZES: Final = {
    "scalars": len(SCALARS),
    "situation": len(Phase) + 3 + 1 + BOSS_ROOM + DECK_ROOM + STAKE_ROOM,
    "hands": 4 * len(HANDS),
    "tags": 2 * TAG_ROOM,
    "vouchers": VOUCHER_ROOM,
    "deck": len(RANKS) + len(SUITS) + len(ENHANCEMENTS) - 1,
    "joker_set": JOKER_ROOM,
    "jokers": MOST_JOKERS * JOKER_FEATURES,
    "offers": OFFERS * OFFER_FEATURES,
    "shop": (VOUCHER_SLOTS + PACK_SLOTS) * PLACE_FEATURES,
}
_ENDS: Final = [sum(list(_SIZES.values())[:count]) for count in range(len(_SIZES) + 1)]
PARTS: Final = {name: slice(*ends) for name, ends in zip(_SIZES, pairwise(_ENDS), strict=True)}
"""Place of each part in the array ``numbers``.

``situation`` is phase, blind, active boss, boss, deck and stake as one-hot codes. ``hands`` are level and the product
of chips and mult, times played in the run and in the round, of each poker hand. ``tags`` are those that wait, and the
one for skipping. ``deck`` counts the cards that may still be drawn. ``joker_set`` counts the jokers by kind.
"""
NUMBERS: Final = _ENDS[-1]
MOST: Final = 8.0
"""Largest number of an observation."""


def observation_spaces(hand_positions: int, actions: int) -> dict[str, spaces.Space[Any]]:
    """Return the space of each array of an observation.

    Args:
        hand_positions: places of the hand.
        actions: number of actions.
    """
    return {
        "hand": spaces.Box(0.0, 4.0, (hand_positions, CARD_FEATURES), np.float32),
        "offered_cards": spaces.Box(0.0, 4.0, (OFFERS, CARD_FEATURES), np.float32),
        "numbers": spaces.Box(-MOST, MOST, (NUMBERS,), np.float32),
        "kinds": spaces.MultiDiscrete([KINDS] * KIND_PLACES, dtype=np.int16),
        "action_mask": spaces.Box(0, 1, (actions,), np.int8),
    }
