"""Sets of cards of the hand in numbers: the poker hand that they make, and how near they are to a better one.

All is computed for many hands at once, from observations. Jokers that change the rules of hands do not count here, and
neither do the effects of jokers on the score: a network that reads these numbers has to learn them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import torch
from torch import Tensor, nn

from pkmn_balatro.observation import PARTS, SCALARS
from pkmn_balatro.simulator.cards import CHIPS, ENHANCEMENTS, RANKS, SUITS
from pkmn_balatro.simulator.hands import (
    FIVE,
    FLUSH,
    FLUSH_FIVE,
    FLUSH_HOUSE,
    FOUR,
    FULL_HOUSE,
    STRAIGHT,
    STRAIGHT_FLUSH,
    THREE,
    TWO_PAIR,
    WORTH,
)
from pkmn_balatro.simulator.run import HANDS

_DEBUFFED: Final = 3
_FIRST_RANK: Final = 5
_FIRST_SUIT: Final = _FIRST_RANK + len(RANKS)
_FIRST_ENHANCEMENT: Final = _FIRST_SUIT + len(SUITS)
_WILD: Final = _FIRST_ENHANCEMENT + ENHANCEMENTS.index("wild") - 1
_STONE: Final = _FIRST_ENHANCEMENT + ENHANCEMENTS.index("stone") - 1
_STONE_CHIPS: Final = 50.0
_CARDS: Final = 5
"""Cards of a straight and of a flush."""
_WINDOWS: Final = 10
"""Straights, from the one that begins with an ace."""

SET_FEATURES: Final = len(HANDS) + 6
"""Numbers of a set: its poker hand as a one-hot code, chips, mult, score, share of the score that is missing, True if
it beats the blind, cards."""
KEPT_FEATURES: Final = 8
"""Numbers of the cards that stay: pairs, threes, fours, suits with five, most of a suit, most of a straight, best
chips, cards."""
BEST_FEATURES: Final = len(HANDS) + 2
"""Numbers of all sets together: the poker hands that can be made, the best score, its share of what is missing."""


class _Counts(NamedTuple):
    """Cards of each set, counted. The sets come last: torch reduces over other axes much faster."""

    ranks: Tensor
    """Cards of each rank, (n, 13, sets)."""
    suits: Tensor
    """Cards of each suit, (n, 4, sets)."""
    chips: Tensor
    """Chips of the cards of each rank, (n, 13, sets)."""
    stones: Tensor
    """Chips of stone cards, (n, sets)."""
    size: Tensor
    """Number of cards, (n, sets)."""


class PokerFeatures(nn.Module):
    """Poker hands of sets of cards. It has no weights.

    Args:
        sets: positions of the cards of each set.
        places: positions of the hand.
    """

    members: Tensor
    """1 for the cards of each set, (sets, places)."""
    _windows: Tensor
    _order: Tensor
    _hands: Tensor
    _chips: Tensor
    _worth: Tensor

    def __init__(self, sets: Sequence[Sequence[int]], places: int) -> None:
        super().__init__()
        members = torch.zeros(len(sets), places)
        for row, positions in enumerate(sets):
            members[row, list(positions)] = 1
        windows = torch.zeros(_WINDOWS, len(RANKS))
        for window in range(_WINDOWS):
            windows[window, [rank - 1 for rank in range(window, window + _CARDS)]] = 1
        known = {
            "members": members,
            "_windows": windows,
            "_order": torch.arange(1.0, len(RANKS) + 1).unsqueeze(1),
            "_hands": torch.arange(float(len(HANDS))).unsqueeze(1),
            "_chips": torch.tensor(CHIPS, dtype=torch.float32),
            "_worth": torch.tensor(WORTH, dtype=torch.float32),
        }
        for name, numbers in known.items():
            self.register_buffer(name, numbers, persistent=False)

    def forward(self, cards: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the numbers of each set, of the cards that stay without it, and of all sets together.

        Args:
            cards: (n, places, numbers of a card) of :mod:`pkmn_balatro.observation`.
            numbers: (n, d), the array ``numbers``.

        Returns:
            (n, SET_FEATURES, sets), (n, KEPT_FEATURES, sets), (n, BEST_FEATURES).
        """
        ranks = cards[..., _FIRST_RANK:_FIRST_SUIT]
        active = 1 - cards[..., _DEBUFFED : _DEBUFFED + 1]
        suits = torch.maximum(cards[..., _FIRST_SUIT:_FIRST_ENHANCEMENT], cards[..., _WILD : _WILD + 1] * active)
        stones = cards[..., _STONE : _STONE + 1] * active * _STONE_CHIPS
        counted = torch.cat((ranks, suits, ranks * self._chips * active, stones, cards[..., :1]), dim=2)
        counted = counted.transpose(1, 2)
        taken = counted @ self.members.t()
        stay = counted.sum(dim=2, keepdim=True) - taken
        sets = self._scored(_split(taken), numbers)
        best = torch.cat((sets[:, : len(HANDS)], sets[:, -4:-2]), dim=1).amax(dim=2)
        return sets, self._kept(_split(stay)), best

    def _scored(self, taken: _Counts, numbers: Tensor) -> Tensor:
        """Return the poker hand and the score of each set; zeros if the hand lacks one of its cards."""
        ranks, chips = taken.ranks, taken.chips
        dtype = ranks.dtype
        groups = ranks >= 2
        most, pairs = ranks.amax(dim=1), groups.sum(dim=1)
        flush = taken.suits.amax(dim=1) >= _CARDS
        straight = self._longest(ranks) >= _CARDS
        house = (most >= 3) & (pairs > 1)
        strongest = (pairs > 0).to(dtype)
        for hand, made in (
            (TWO_PAIR, pairs > 1),
            (THREE, most >= 3),
            (STRAIGHT, straight),
            (FLUSH, flush),
            (FULL_HOUSE, house),
            (FOUR, most >= 4),
            (STRAIGHT_FLUSH, straight & flush),
            (FIVE, most >= 5),
            (FLUSH_HOUSE, flush & house),
            (FLUSH_FIVE, flush & (most >= 5)),
        ):
            strongest = torch.where(made, hand, strongest)
        highest = ((ranks > 0) * self._order).amax(dim=1, keepdim=True)
        scoring = torch.where((pairs > 0).unsqueeze(1), groups, self._order == highest)
        scoring = scoring | (straight | flush | house).unsqueeze(1)
        levels = (5 * numbers[:, PARTS["hands"]][:, : len(HANDS)] - 1).clamp(min=0)
        found = strongest.to(torch.int64)
        base = (self._worth[:, 0] + self._worth[:, 2] * levels).gather(1, found)
        mult = (self._worth[:, 1] + self._worth[:, 3] * levels).gather(1, found)
        base = base + (chips * scoring).sum(dim=1) + taken.stones
        score = torch.log10(base * mult + 1)
        missing = 6 * numbers[:, PARTS["scalars"].start + list(SCALARS).index("missing")].unsqueeze(1)
        share = torch.pow(10.0, (score - missing).clamp(-4, 0.2)) * (missing > 0)
        described = (base / 100, mult / 10, score / 6, share, (share >= 1).to(dtype), taken.size / 5)
        sets = torch.cat(((strongest.unsqueeze(1) == self._hands).to(dtype), torch.stack(described, dim=1)), dim=1)
        return sets * (taken.size == self.members.sum(dim=1)).unsqueeze(1)

    def _kept(self, stay: _Counts) -> Tensor:
        """Return the numbers of the cards that stay."""
        groups = stay.ranks >= 2
        numbers = (
            groups.sum(dim=1) / 2,
            (stay.ranks >= 3).sum(dim=1),
            (stay.ranks >= 4).sum(dim=1),
            (stay.suits >= _CARDS).sum(dim=1),
            stay.suits.amax(dim=1) / 5,
            self._longest(stay.ranks) / 5,
            (stay.chips * groups).amax(dim=1) / 20,
            stay.size / 8,
        )
        return torch.stack([number.to(stay.size.dtype) for number in numbers], dim=1)

    def _longest(self, ranks: Tensor) -> Tensor:
        """Return the most ranks of a straight that are there, (n, sets), for counts (n, 13, sets)."""
        return (self._windows @ ranks.clamp(max=1)).amax(dim=1)


def _split(counted: Tensor) -> _Counts:
    """Return the parts of counts (n, parts, sets)."""
    ranks, suits, chips, stones, size = torch.split(counted, [len(RANKS), len(SUITS), len(RANKS), 1, 1], dim=1)
    return _Counts(ranks, suits, chips, stones[:, 0], size[:, 0])
