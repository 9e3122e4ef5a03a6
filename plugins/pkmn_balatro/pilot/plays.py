"""Plays worth a look: the best cards for each poker hand that some cards can make, and what they score."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from typing import Final

from pkmn_balatro.actions import MOST_PLAYED
from pkmn_balatro.simulator import blinds
from pkmn_balatro.simulator.cards import (
    CHIPS,
    DEBUFFED,
    ENHANCEMENT_SHIFT,
    EXTRA_SHIFT,
    FACE_DOWN,
    FORCED,
    GOLD,
    RED_SEAL,
    STEEL,
    STONE,
    edition_of,
    make_card,
    seal_of,
)
from pkmn_balatro.simulator.hands import (
    FLUSH,
    FOUR_FINGERS,
    PRINTED_SUITS,
    SHORTCUT,
    SMEARED,
    SPLASH,
    SUITS_OF,
    WORTH,
    identify,
)
from pkmn_balatro.simulator.jokers.hooks import OPTIONS
from pkmn_balatro.simulator.jokers.kinds import kind_named
from pkmn_balatro.simulator.run import Run
from pkmn_balatro.simulator.scoring import score_hand

UNKNOWN: Final = make_card(0, 0) | DEBUFFED
"""Card that stands for one that is face down."""
_ENHANCED: Final = (0, 30, 25, 8, 40, 15, 50, 5, 15)
"""Worth of the enhancements in chips, roughly."""
_EDITIONS: Final = (0, 50, 50, 70, 0)
FEW_CARDS: Final = frozenset(
    kind_named(name)
    for name in (
        "Half Joker",
        "Mime",
        "Raised Fist",
        "Blackboard",
        "Baron",
        "Shoot the Moon",
        "Reserved Parking",
        "Square Joker",
        "Splash",
        "Ride the Bus",
        "Flower Pot",
        "Seeing Double",
    )
)
"""Jokers that may make a play of fewer cards better."""

Positions = tuple[int, ...]


def options_of(run: Run) -> int:
    """Return the options of hands that the jokers bring, see :func:`pkmn_balatro.simulator.hands.identify`."""
    options = 0
    for joker in run.jokers:
        if not joker.debuffed:
            options |= OPTIONS[joker.kind]
    return options


def known(run: Run) -> Run:
    """Return a view of the run for previews, in which cards that are face down are unknown. It shares its lists."""
    view = copy(run)
    if any(card & FACE_DOWN for card in run.hand):
        view.hand = [UNKNOWN if card & FACE_DOWN else card for card in run.hand]
    return view


def worth(card: int) -> float:
    """Return how much a card is worth in a scoring hand, in chips, roughly."""
    if card & DEBUFFED:
        return 0.1
    enhancement = card >> ENHANCEMENT_SHIFT & 0xF
    base = 0 if enhancement == STONE else CHIPS[card & 0xF] + (card & 0xF) / 100
    seal = seal_of(card)
    again = 12 if seal == RED_SEAL else 6 if seal else 0
    return base + _ENHANCED[enhancement] + _EDITIONS[edition_of(card)] + again + (card >> EXTRA_SHIFT)


def combinations_of(cards: Sequence[int], options: int = 0) -> list[Positions]:
    """Return the best cards for each poker hand that some cards make: positions in ascending order.

    Args:
        cards: the cards; those that equal :data:`UNKNOWN` are left out.
        options: as for :func:`pkmn_balatro.simulator.hands.identify`.
    """
    by_rank: list[list[int]] = [[] for _ in range(13)]
    by_suit: list[list[int]] = [[], [], [], []]
    smeared = options & SMEARED != 0
    order = sorted((place for place, card in enumerate(cards) if card != UNKNOWN), key=lambda one: -worth(cards[one]))
    for place in order:
        card = cards[place]
        if card >> ENHANCEMENT_SHIFT & 0xF == STONE:
            continue
        by_rank[card & 0xF].append(place)
        suits = (PRINTED_SUITS if card & DEBUFFED else SUITS_OF)[smeared][card >> 4 & 63]
        for suit in range(4):
            if suits >> suit & 1:
                by_suit[suit].append(place)
    found: set[Positions] = set()
    groups = sorted((group for group in by_rank if group), key=lambda group: (-len(group), -worth(cards[group[0]])))
    for group in groups[:3]:
        for size in range(2, min(len(group), 5) + 1):
            found.add(tuple(sorted(group[:size])))
    pairs = sorted((group for group in groups if len(group) > 1), key=lambda group: -worth(cards[group[0]]))
    for number, first in enumerate(pairs[:3]):
        for second in pairs[number + 1 : 4]:
            found.add(tuple(sorted(first[:2] + second[:2])))
            if len(first) > 2:
                found.add(tuple(sorted(first[:3] + second[:2])))
            if len(second) > 2:
                found.add(tuple(sorted(first[:2] + second[:3])))
    needed = 4 if options & FOUR_FINGERS else 5
    for suit, members in enumerate(by_suit):
        if len(members) < needed or (smeared and suit > 1):
            continue
        found.add(tuple(sorted(members[:5])))
        if len(members) > needed:
            found.add(_flush_of_equals(cards, members))
    _straights(cards, by_rank, by_suit, options, found)
    singles = sorted(groups, key=lambda group: -worth(cards[group[0]]))
    if singles:
        found.add((singles[0][0],))
    elif order:
        found.add((order[0],))
    return list(found)


def _flush_of_equals(cards: Sequence[int], members: list[int]) -> Positions:
    """Return the flush that has most cards of equal rank: for flush houses and pair jokers."""
    counts: dict[int, int] = {}
    for place in members:
        counts[cards[place] & 0xF] = counts.get(cards[place] & 0xF, 0) + 1
    ordered = sorted(members, key=lambda place: (-counts[cards[place] & 0xF], -worth(cards[place])))
    return tuple(sorted(ordered[:5]))


def _straights(
    cards: Sequence[int],
    by_rank: list[list[int]],
    by_suit: list[list[int]],
    options: int,
    found: set[Positions],
) -> None:
    """Add the highest straight, and the highest one within each suit of enough cards."""
    needed = 4 if options & FOUR_FINGERS else 5
    best = _straight([group[0] if group else -1 for group in by_rank], needed, options)
    if not best:
        return
    found.add(best)
    for members in by_suit:
        if len(members) >= needed:
            inside = set(members)
            ranks = [next((place for place in group if place in inside), -1) for group in by_rank]
            found.add(_straight(ranks, needed, options) or best)


def _straight(places: list[int], needed: int, options: int) -> Positions:
    """Return the highest straight among one card of each rank, -1 for none; empty if there is none."""
    ladder = [places[12], *places]
    gaps = options & SHORTCUT != 0
    for top in range(13, needed - 2, -1):
        chosen: list[int] = []
        rank = top
        while rank >= 0 and len(chosen) < 5:
            if ladder[rank] >= 0 and ladder[rank] not in chosen:
                chosen.append(ladder[rank])
                rank -= 1
            elif gaps and chosen and rank and ladder[rank - 1] >= 0:
                rank -= 1
            else:
                break
        if len(chosen) >= needed:
            return tuple(sorted(chosen))
    return ()


def filled(cards: Sequence[int], core: Positions, options: int = 0) -> Positions:
    """Return a play with cards added that are of least use in the hand, so that others are drawn for them."""
    free = MOST_PLAYED - len(core)
    if free <= 0 or len(cards) <= len(core):
        return core
    rest = [place for place in range(len(cards)) if place not in core]
    if options & SPLASH:
        rest.sort(key=lambda place: -worth(cards[place]))
    else:
        uses = {place: _use(cards, place, rest) for place in rest}
        rest.sort(key=uses.__getitem__)
        rest = [place for place in rest if uses[place] < _HOLD]
    return tuple(sorted((*core, *rest[:free])))


_HOLD: Final = 100.0


def _use(cards: Sequence[int], place: int, rest: Collection[int]) -> float:
    """Return how useful a card is for later hands: below 0 for stone cards, which always score."""
    card = cards[place]
    enhancement = card >> ENHANCEMENT_SHIFT & 0xF
    if enhancement == STONE:
        return -1
    if enhancement in (STEEL, GOLD) and not card & DEBUFFED:
        return _HOLD
    if card == UNKNOWN:
        return 6
    same_rank = sum(cards[other] & 0xF == card & 0xF for other in rest) - 1
    same_suit = sum((cards[other] ^ card) >> 4 & 3 == 0 for other in rest) - 1
    return min(worth(card) + 10 * same_rank + 2.5 * same_suit, _HOLD - 1)


def best_play(view: Run, positions: Sequence[int], options: int, limit: int = 0) -> tuple[int, Positions]:
    """Return the least score and the positions of the best play found.

    Args:
        view: the run, see :func:`known`.
        positions: positions in the hand of the cards that can be chosen.
        options: of the jokers.
        limit: previews at most, of the plays that promise most; 0 for all.
    """
    hand = view.hand
    cards = hand if len(positions) == len(hand) else [hand[place] for place in positions]
    cores = combinations_of(cards, options)
    if limit and len(cores) > limit:
        levels = view.levels
        cores.sort(key=lambda core: -promise(cards, core, options, levels))
        del cores[limit:]
    plays = {filled(cards, core, options) for core in cores}
    boss = blinds.active_boss(view)
    short = boss == blinds.TOOTH or any(joker.kind in FEW_CARDS for joker in view.jokers)
    if short:
        plays.update(cores)
    if not plays:
        plays.add(tuple(range(min(MOST_PLAYED, len(cards)))))
    forced = [place for place, card in enumerate(cards) if card & FORCED] if boss == blinds.BELL else []
    best: tuple[int, int, Positions] = (-1, 0, ())
    for play in plays:
        chosen = _with(play, forced)
        real = chosen if cards is hand else tuple(positions[place] for place in chosen)
        total = score_hand(view, real).total
        best = max(best, (total, len(chosen), chosen))
    return best[0], best[2]


def _with(play: Positions, forced: Sequence[int]) -> Positions:
    """Return a play that contains forced cards."""
    missing = [place for place in forced if place not in play]
    if not missing:
        return play
    return tuple(sorted((*play[: MOST_PLAYED - len(missing)], *missing)))


def promise(cards: Sequence[int], core: Positions, options: int, levels: Sequence[int]) -> float:
    """Return what a play scores without jokers, roughly."""
    chosen = [cards[place] for place in core]
    hand = identify(chosen, options)[0]
    chips, mult, more_chips, more_mult = WORTH[hand]
    level = levels[hand] - 1
    total = chips + more_chips * level + sum([CHIPS[card & 0xF] for card in chosen if not card & DEBUFFED])
    return float(total * (mult + more_mult * level)) * (1.2 if hand >= FLUSH else 1.0)
