"""The actions of the environment as one flat list, with names."""

from __future__ import annotations

from itertools import combinations
from typing import Final

MOST_JOKERS: Final = 8
"""Jokers that can be observed, sold and moved, from the left."""
MOST_CONSUMABLES: Final = 4
"""Consumables that can be observed, used and sold."""
SHOP_SLOTS: Final = 4
VOUCHER_SLOTS: Final = 2
PACK_SLOTS: Final = 3
PACK_ITEMS: Final = 5
"""Items of an opened pack."""
MOST_PLAYED: Final = 5
"""Maximum cards of a play or discard."""
MOST_TARGETS: Final = 3
"""Maximum cards that a consumable is used on."""

SIMPLE: Final = (
    "select_blind",
    "skip_blind",
    "reroll_boss",
    "reroll_shop",
    "leave_shop",
    "skip_pack",
    "sort_by_rank",
    "sort_by_suit",
    "cancel",
    *(f"buy_{place}" for place in range(1, SHOP_SLOTS + 1)),
    *(f"buy_voucher_{place}" for place in range(1, VOUCHER_SLOTS + 1)),
    *(f"open_pack_{place}" for place in range(1, PACK_SLOTS + 1)),
    *(f"pick_{place}" for place in range(1, PACK_ITEMS + 1)),
    *(f"use_{place}" for place in range(1, MOST_CONSUMABLES + 1)),
    *(f"sell_joker_{place}" for place in range(1, MOST_JOKERS + 1)),
    *(f"sell_consumable_{place}" for place in range(1, MOST_CONSUMABLES + 1)),
    *(f"joker_left_{place}" for place in range(2, MOST_JOKERS + 1)),
)
"""Names of the actions that choose no cards. In names, places count from 1."""

SELECT_BLIND, SKIP_BLIND, REROLL_BOSS, REROLL_SHOP, LEAVE_SHOP, SKIP_PACK, SORT_BY_RANK, SORT_BY_SUIT, CANCEL = range(9)
BUY: Final = SIMPLE.index("buy_1")
BUY_VOUCHER: Final = SIMPLE.index("buy_voucher_1")
OPEN_PACK: Final = SIMPLE.index("open_pack_1")
PICK: Final = SIMPLE.index("pick_1")
USE: Final = SIMPLE.index("use_1")
SELL_JOKER: Final = SIMPLE.index("sell_joker_1")
SELL_CONSUMABLE: Final = SIMPLE.index("sell_consumable_1")
JOKER_LEFT: Final = SIMPLE.index("joker_left_2")


class ActionList:
    """List of all actions for a number of hand positions: the simple ones, then plays, discards and choices.

    ``play_1_2_5`` plays the cards at the places 1, 2 and 5 of the hand, ``discard_1_2_5`` discards them, and
    ``choose_1_2_5`` chooses them as targets of the consumable or item that was named before.

    Args:
        hand_positions: places of the hand that can be named.
    """

    def __init__(self, hand_positions: int) -> None:
        self.hand_positions = hand_positions
        self.plays = _subsets(hand_positions, MOST_PLAYED)
        """Positions, from 0, of each play and of each discard."""
        self.choices = _subsets(hand_positions, MOST_TARGETS)
        """Positions, from 0, of each choice of targets."""
        self.play = len(SIMPLE)
        """Number of the first play."""
        self.discard = self.play + len(self.plays)
        """Number of the first discard."""
        self.choose = self.discard + len(self.plays)
        """Number of the first choice of targets."""
        self.count = self.choose + len(self.choices)
        self.names = (
            *SIMPLE,
            *_names("play", self.plays),
            *_names("discard", self.plays),
            *_names("choose", self.choices),
        )
        """Names of the actions, in order."""
        self._places = {positions: place for place, positions in enumerate(self.plays)}

    def play_of(self, positions: tuple[int, ...]) -> int:
        """Return the action that plays the cards at these positions, from 0 and ascending."""
        return self.play + self._places[positions]

    def discard_of(self, positions: tuple[int, ...]) -> int:
        """Return the action that discards the cards at these positions, from 0 and ascending."""
        return self.discard + self._places[positions]

    def choice_of(self, positions: tuple[int, ...]) -> int:
        """Return the action that chooses the cards at these positions, from 0 and ascending."""
        return self.choose + self._places[positions]


def _subsets(positions: int, most: int) -> tuple[tuple[int, ...], ...]:
    return tuple(chosen for size in range(1, most + 1) for chosen in combinations(range(positions), size))


def _names(verb: str, subsets: tuple[tuple[int, ...], ...]) -> list[str]:
    return ["_".join([verb, *(str(place + 1) for place in positions)]) for positions in subsets]
