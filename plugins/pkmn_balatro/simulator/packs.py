"""Packs: kinds, odds and contents."""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from pkmn_balatro.simulator import consumables, pools, vouchers
from pkmn_balatro.simulator.cards import make_card
from pkmn_balatro.simulator.run import Category, Offer, Run

ARCANA, CELESTIAL, STANDARD, BUFFOON, SPECTRAL = range(5)
CONTENTS: Final = ("arcana", "celestial", "standard", "buffoon", "spectral")


@dataclass(frozen=True, slots=True)
class PackKind:
    """A pack."""

    name: str
    content: int
    """Place in :data:`CONTENTS`."""
    cost: int
    items: int
    """Items that it offers."""
    picks: int
    """Items that may be taken."""
    weight: float
    """Relative frequency in the shop."""


def _sizes(content: int, items: int, weights: tuple[float, float, float]) -> tuple[PackKind, PackKind, PackKind]:
    name = CONTENTS[content]
    return (
        PackKind(f"{name} pack", content, 4, items, 1, weights[0]),
        PackKind(f"jumbo {name} pack", content, 6, items + 2, 1, weights[1]),
        PackKind(f"mega {name} pack", content, 8, items + 2, 2, weights[2]),
    )


PACKS: Final = (
    *_sizes(ARCANA, 3, (4.0, 2.0, 0.5)),
    *_sizes(CELESTIAL, 3, (4.0, 2.0, 0.5)),
    *_sizes(STANDARD, 3, (4.0, 2.0, 0.5)),
    *_sizes(BUFFOON, 2, (1.2, 0.6, 0.15)),
    *_sizes(SPECTRAL, 2, (0.6, 0.3, 0.07)),
)
"""All packs: a normal, a jumbo and a mega pack of each content. A pack is a place in this list."""

BUFFOON_PACK: Final = 3 * BUFFOON
_UP_TO: Final = list(accumulate(pack.weight for pack in PACKS))

_SPECIAL: Final = 0.003
"""Chance that an item is The Soul or Black Hole."""


def draw_pack(run: Run) -> int:
    """Choose a random pack as the shop does; the first of a run is a buffoon pack."""
    if run.first_shop:
        run.first_shop = False
        return BUFFOON_PACK
    return bisect(_UP_TO, run.random.random() * _UP_TO[-1])


def deals_a_hand(pack: int) -> bool:
    """Return True if a hand of cards is dealt while the pack is open."""
    return PACKS[pack].content in (ARCANA, SPECTRAL)


def items_of(run: Run, pack: int) -> list[Offer]:
    """Choose the items of a pack that is opened."""
    kind = PACKS[pack]
    if kind.content == BUFFOON:
        jokers: list[Offer] = []
        for _ in range(kind.items):
            jokers.append(pools.draw_joker_offer(run, besides=[offer.item for offer in jokers]))
        return jokers
    if kind.content == STANDARD:
        return [Offer(Category.CARD.value, standard_card(run)) for _ in range(kind.items)]
    drawn: list[int] = []
    for place in range(kind.items):
        drawn.append(_consumable(run, kind.content, place, drawn))
    return [Offer(Category.CONSUMABLE.value, consumable) for consumable in drawn]


def _consumable(run: Run, content: int, place: int, besides: list[int]) -> int:
    chance = run.random.random
    if content == ARCANA:
        if vouchers.OMEN_GLOBE in run.vouchers and chance() > 0.8:
            content = SPECTRAL
        elif chance() < _SPECIAL and consumables.SOUL not in besides:
            return consumables.SOUL
        else:
            return pools.draw_tarot(run, besides)
    if content == CELESTIAL:
        if place == 0 and vouchers.TELESCOPE in run.vouchers and any(run.played):
            return pools.most_played(run)
        if chance() < _SPECIAL and consumables.BLACK_HOLE not in besides:
            return consumables.BLACK_HOLE
        return pools.draw_planet(run, besides)
    luck = chance()
    if luck < _SPECIAL and consumables.SOUL not in besides:
        return consumables.SOUL
    if luck > 1 - _SPECIAL and consumables.BLACK_HOLE not in besides:
        return consumables.BLACK_HOLE
    return pools.draw_spectral(run, besides)


def standard_card(run: Run) -> int:
    """Choose a random playing card of a standard pack: 40% improved, 8% with an edition, 20% with a seal."""
    chance = run.random
    enhancement = chance.randint(1, 8) if chance.random() > 0.6 else 0
    edition = pools.draw_card_edition(run)
    seal = chance.randint(1, 4) if chance.random() > 0.8 else 0
    return make_card(chance.randrange(13), chance.randrange(4), enhancement, edition, seal)
