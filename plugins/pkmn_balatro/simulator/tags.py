"""Tags: rewards for skipping a blind. Some act at once, others wait in the run for their moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pkmn_balatro.simulator.run import Run


@dataclass(frozen=True, slots=True)
class TagKind:
    """A tag."""

    name: str
    words: str
    """Effect in a few words."""
    lowest_ante: int = 1


TAGS: Final = (
    TagKind("Uncommon Tag", "the next shop has a free uncommon joker"),
    TagKind("Rare Tag", "the next shop has a free rare joker"),
    TagKind("Negative Tag", "the next plain joker in a shop is free and negative", 2),
    TagKind("Foil Tag", "the next plain joker in a shop is free and foil"),
    TagKind("Holographic Tag", "the next plain joker in a shop is free and holographic"),
    TagKind("Polychrome Tag", "the next plain joker in a shop is free and polychrome"),
    TagKind("Investment Tag", "$25 when the next boss is beaten"),
    TagKind("Voucher Tag", "the next shop has 1 more voucher"),
    TagKind("Boss Tag", "another boss for this ante"),
    TagKind("Standard Tag", "a free mega standard pack", 2),
    TagKind("Charm Tag", "a free mega arcana pack"),
    TagKind("Meteor Tag", "a free mega celestial pack", 2),
    TagKind("Buffoon Tag", "a free mega buffoon pack", 2),
    TagKind("Handy Tag", "$1 for each hand played in this run", 2),
    TagKind("Garbage Tag", "$1 for each discard left over in this run", 2),
    TagKind("Ethereal Tag", "a free spectral pack", 2),
    TagKind("Coupon Tag", "first cards and packs of the next shop are free"),
    TagKind("Double Tag", "a copy of the next tag"),
    TagKind("Juggle Tag", "hand size +3 in the next round"),
    TagKind("D6 Tag", "rerolls of the next shop start at $0"),
    TagKind("Top-up Tag", "makes up to 2 common jokers", 2),
    TagKind("Speed Tag", "$5 for each blind skipped in this run"),
    TagKind("Orbital Tag", "3 levels for a random hand", 2),
    TagKind("Economy Tag", "doubles money, by $40 at most"),
)
"""All tags. A tag is a place in this list."""

(
    UNCOMMON,
    RARE,
    NEGATIVE,
    FOIL,
    HOLOGRAPHIC,
    POLYCHROME,
    INVESTMENT,
    VOUCHER,
    BOSS,
    STANDARD,
    CHARM,
    METEOR,
    BUFFOON,
    HANDY,
    GARBAGE,
    ETHEREAL,
    COUPON,
    DOUBLE,
    JUGGLE,
    D6,
    TOP_UP,
    SPEED,
    ORBITAL,
    ECONOMY,
) = range(24)


_EARLY: Final = tuple(tag for tag, kind in enumerate(TAGS) if kind.lowest_ante == 1)


def draw_tag(run: Run) -> int:
    """Choose a random tag that the run's ante allows."""
    return run.random.choice(_EARLY if run.ante < 2 else range(len(TAGS)))


def take(run: Run, tag: int) -> bool:
    """Remove one waiting tag of a kind; return True if there was one."""
    if tag not in run.tags:
        return False
    run.tags.remove(tag)
    return True
