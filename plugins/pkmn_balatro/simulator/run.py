"""State of a run: plain numbers and lists, no more than is needed to continue."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, fields
from enum import IntEnum
from typing import Final

HANDS: Final = (
    "High Card",
    "Pair",
    "Two Pair",
    "Three of a Kind",
    "Straight",
    "Flush",
    "Full House",
    "Four of a Kind",
    "Straight Flush",
    "Five of a Kind",
    "Flush House",
    "Flush Five",
)
"""Names of the poker hands, the weakest first. A hand is a place in this list."""


class Phase(IntEnum):
    """Part of the game that decides which actions there are."""

    BLIND = 0
    """A blind is chosen, or skipped."""
    PLAY = 1
    SHOP = 2
    PACK = 3
    """An opened pack offers its items."""
    OVER = 4


class IllegalActionError(ValueError):
    """Action that the rules forbid now. Nothing has changed."""


@dataclass(slots=True)
class Joker:
    """A joker that the player has, or that is offered."""

    kind: int
    """Place in :data:`pkmn_balatro.simulator.jokers.JOKERS`."""
    edition: int = 0
    value: int = 0
    """Number that grows or counts down; its meaning and unit belong to the kind."""
    more_sell: int = 0
    """Dollars above the usual sell value."""
    debuffed: bool = False
    eternal: bool = False
    perishable: int = 0
    """Rounds until it has no effect any more; 0 if it is not perishable, -1 once it has perished."""
    rental: bool = False


@dataclass(slots=True)
class Offer:
    """An item in the shop or in an opened pack."""

    category: int
    """Member of :class:`Category`."""
    item: int
    """Kind of joker or consumable, the voucher, the pack, or the playing card itself."""
    price: int = 0
    edition: int = 0
    """Edition of a joker."""
    sold: bool = False
    eternal: bool = False
    perishable: bool = False
    rental: bool = False


class Category(IntEnum):
    """Kind of an :class:`Offer`."""

    JOKER = 0
    CONSUMABLE = 1
    CARD = 2
    VOUCHER = 3
    PACK = 4


@dataclass(slots=True)
class Run:
    """Everything that a run consists of. Only :mod:`pkmn_balatro.simulator` changes it."""

    seed: int
    deck_kind: int = 0
    stake: int = 0
    win_ante: int = 8
    endless: bool = False
    """True if the run continues after it is won."""

    phase: int = Phase.BLIND
    ante: int = 1
    blind: int = 0
    """0 small, 1 big, 2 boss."""
    boss: int = 0
    """Boss of this ante, a place in :data:`pkmn_balatro.simulator.blinds.BOSSES`."""
    boss_disabled: bool = False
    """True if the boss of this round has lost its effect."""
    debuffs: bool = False
    """True if cards may have the debuffed flag."""
    bosses_met: list[int] = field(default_factory=list)
    """Times that each boss was chosen."""
    offered_tags: list[int] = field(default_factory=lambda: [0, 0])
    """Tags for skipping the small and the big blind."""
    tags: list[int] = field(default_factory=list)
    """Tags that wait for their moment."""
    won: bool = False
    """True once the boss of ``win_ante`` is beaten; an endless run continues."""
    rounds: int = 0
    """Blinds beaten."""
    skips: int = 0

    money: int = 4
    hands_per_round: int = 4
    discards_per_round: int = 3
    base_hand_size: int = 8
    joker_slots: int = 5
    consumable_slots: int = 2

    target: int = 0
    score: int = 0
    """Chips scored in this round. Exact up to 2**53; larger ones are rounded as floats are."""
    hands_left: int = 0
    discards_left: int = 0
    hand_size: int = 8
    """Cards that are drawn up to in this round."""
    round_hand_size: int = 0
    """Cards that this round has more, or fewer, in the hand."""
    sort_by_suit: bool = False
    last_hand: int = 0
    """Hand played last in this run."""
    draw: list[int] = field(default_factory=list)
    """Draw pile; the last card is drawn first."""
    hand: list[int] = field(default_factory=list)
    discarded: list[int] = field(default_factory=list)
    jokers: list[Joker] = field(default_factory=list)
    consumables: list[int] = field(default_factory=list)
    """Kinds, places in :data:`pkmn_balatro.simulator.consumables.CONSUMABLES`; plus 256 for a negative one."""
    vouchers: list[int] = field(default_factory=list)
    """Vouchers that the player has, in order."""

    levels: list[int] = field(default_factory=lambda: [1] * len(HANDS))
    played: list[int] = field(default_factory=lambda: [0] * len(HANDS))
    """Times that each hand was played in this run."""
    played_now: list[int] = field(default_factory=lambda: [0] * len(HANDS))
    """Times that each hand was played in this round."""
    hands_played: int = 0
    """Hands played in this run; those of this round are the sum of ``played_now``."""
    discards_used: int = 0
    """Discards used in this round."""
    unused_discards: int = 0
    """Discards left over in this run, counted at the end of each round."""
    tarots_used: int = 0
    planets_used: list[int] = field(default_factory=list)
    """Different planets used in this run."""
    last_consumable: int = -1
    """Latest tarot or planet used, for The Fool; -1 if none."""

    boss_rerolls: int = 0
    """Times that the boss of this ante was rerolled for money."""
    voucher: int = -1
    """Voucher that the shops of this ante offer; -1 once it is bought."""
    shop: list[Offer] = field(default_factory=list)
    shop_vouchers: list[Offer] = field(default_factory=list)
    shop_packs: list[Offer] = field(default_factory=list)
    rerolls: int = 0
    """Paid rerolls in this shop."""
    free_rerolls: int = 0
    pack: list[Offer] = field(default_factory=list)
    """Items of the opened pack."""
    pack_kind: int = -1
    """Place of the opened pack in :data:`pkmn_balatro.simulator.packs.PACKS`; -1 if none is open."""
    picks_left: int = 0
    shop_after_pack: bool = True
    """False if the pack was opened by a tag outside of the shop."""
    first_shop: bool = True

    counters: dict[str, int] = field(default_factory=dict)
    """Numbers of this round, ante or run that single rules need, by name."""
    random: random.Random = field(default_factory=random.Random)

    def copy(self) -> Run:
        """Return an independent copy, whose future is the same."""
        twin = Run(self.seed, random=random.Random(0))  # seeded by number, which is faster than by the system
        for name in _NAMES:
            value = getattr(self, name)
            kind = type(value)
            if kind is list:
                value = [_copy_of(item) for item in value] if name in _OF_OBJECTS else value[:]
            elif kind is dict:
                value = dict(value)
            elif kind is random.Random:
                twin.random.setstate(value.getstate())
                continue
            setattr(twin, name, value)
        return twin


def _copy_of(item: Joker | Offer) -> Joker | Offer:
    return type(item)(*[getattr(item, one.name) for one in fields(item)])


_NAMES: Final = tuple(one.name for one in fields(Run))
_OF_OBJECTS: Final = frozenset({"jokers", "shop", "shop_vouchers", "shop_packs", "pack"})
