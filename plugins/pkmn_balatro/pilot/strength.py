"""Strength of jokers, hand levels and deck: what typical hands score with them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from copy import copy
from math import log
from typing import Final

from pkmn_balatro.pilot.plays import FEW_CARDS, Positions, combinations_of, filled, options_of, promise
from pkmn_balatro.simulator import jokers
from pkmn_balatro.simulator.cards import ROUND_FLAGS
from pkmn_balatro.simulator.jokers.create import whole_deck
from pkmn_balatro.simulator.jokers.kinds import kind_named
from pkmn_balatro.simulator.run import Joker, Phase, Run
from pkmn_balatro.simulator.scoring import score_hand

DRAWN_PER_DISCARD: Final = 3.0
"""Cards that a discard adds to those among which a hand is found, roughly."""
MOST_CANDIDATES: Final = 7
"""Plays of a typical hand that are compared, those that promise most without jokers."""
FEW: Final = 64
SOFT: Final = 0.5
"""Exponent of the mean over hands, 0 to 1; 1 is the plain mean, lower ones value reliable hands."""
HELD: Final = 3
"""Cards that stay in the hand when five are played."""

_GROWTH: Final = {
    kind_named(name): (more, most)
    for name, more, most in (
        ("Green Joker", 8, 15),
        ("Ride the Bus", 3, 8),
        ("Spare Trousers", 8, 20),
        ("Runner", 30, 100),
        ("Square Joker", 8, 40),
        ("Flash Card", 4, 12),
        ("Red Card", 0, 0),
        ("Ceremonial Dagger", 0, 0),
        ("Constellation", 5, 12),
        ("Hologram", 2, 6),
        ("Vampire", 1, 5),
        ("Lucky Cat", 1, 4),
        ("Campfire", 2, 3),
        ("Castle", 25, 80),
        ("Wee Joker", 24, 80),
        ("Glass Joker", 0, 2),
        ("Obelisk", 1, 2),
        ("Canio", 1, 2),
        ("Yorick", 23, 46),
        ("Ice Cream", -30, 0),
        ("Popcorn", -6, 0),
        ("Ramen", 25, 25),
        ("Madness", 0, 0),
        ("Hit the Road", 0, 1),
    )
}
"""Jokers that change during a run: their gain in the next rounds, and at most."""
_BURGLAR: Final = kind_named("Burglar")
_OF_MONEY: Final = frozenset(kind_named(name) for name in ("Bull", "Bootstraps"))
MOST_KEPT: Final = 20_000
"""Measured strengths that are kept before all are forgotten."""


_COUNTERS: Final = ("idol rank", "idol suit", "ancient suit", "discount")
"""Counters of the run that scores depend on."""


class EvenLuck(random.Random):
    """Luck that is spread evenly, so that chances happen as often as they should in few hands."""

    value = 0.5

    def random(self) -> float:
        """Return the next number, 0 to 1."""
        self.value = (self.value + 0.6180339887498949) % 1.0
        return self.value


class Strength:
    """Measure of the strength of builds with the deck of a run.

    Args:
        run: the run, whose lists are read.
        hands: typical hands that are scored.
        memory: strengths measured before, which are the same again; it is filled.
    """

    def __init__(self, run: Run, hands: int, memory: dict[tuple[object, ...], float] | None = None) -> None:
        self._run = run
        self._luck = EvenLuck()
        cards = sorted(card & ~ROUND_FLAGS for card in whole_deck(run))
        self._deck = cards
        self._memory = {} if memory is None else memory
        self._key = hash(
            (
                *cards,
                *run.played,
                run.hands_per_round,
                run.discards_per_round,
                run.base_hand_size,
                run.joker_slots,
                run.tarots_used,
                run.skips,
                run.deck_kind,
                *run.vouchers,
                *run.consumables,
                *(run.counters.get(name, -1) for name in _COUNTERS),
            )
        )
        luck = random.Random(7)
        self._orders = [luck.sample(range(len(cards)), min(len(cards), 20)) for _ in range(hands)]
        self._kept: dict[tuple[int, int], list[tuple[list[int], Positions]]] = {}

    def _hands(self, number: int, options: int, size: int) -> list[tuple[list[int], Positions]]:
        """Return the candidates of a typical hand: the cards in the hand and the positions that are played.

        ``options`` are those of hands, plus 64 if plays of few cards count as well.
        """
        key = (number << 8 | size, options)
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = []
            pool = [self._deck[place] for place in self._orders[number][:size]]
            cores = combinations_of(pool, options)
            levels = self._run.levels
            cores.sort(key=lambda core: -promise(pool, core, options, levels))
            for core in cores[:MOST_CANDIDATES]:
                play = filled(pool, core, options)
                played = [pool[place] for place in play]
                rest = [card for place, card in enumerate(pool) if place not in play]
                found.append(([*played, *rest[:HELD]], tuple(range(len(played)))))
                if options & FEW and len(core) < len(play):
                    played = [pool[place] for place in core]
                    rest = [card for place, card in enumerate(pool) if place not in core]
                    found.append(([*played, *rest[: HELD + 2]], tuple(range(len(core)))))
        return found

    def of(self, owned: Sequence[Joker], levels: Sequence[int] | None = None, *, ahead: float = 1.0) -> float:
        """Return the logarithm of what a blind's hands score together with these jokers and levels.

        Args:
            owned: jokers.
            levels: levels of the hands; those of the run if None.
            ahead: how far the growth of jokers in the next rounds counts, 0 to 1.
        """
        run = self._run
        key = (
            self._key,
            run.money if any(joker.kind in _OF_MONEY for joker in owned) else 0,
            ahead,
            *(run.levels if levels is None else levels),
            *[(joker.kind, joker.edition, joker.value, joker.more_sell, joker.perishable) for joker in owned],
        )
        found = self._memory.get(key)
        if found is None:
            if len(self._memory) > MOST_KEPT:
                self._memory.clear()
            found = self._memory[key] = self._measure(owned, levels, ahead)
        return found

    def _measure(self, owned: Sequence[Joker], levels: Sequence[int] | None, ahead: float) -> float:
        run = self._run
        view = copy(run)
        view.phase, view.blind, view.money = Phase.PLAY.value, 0, max(run.money, 0)
        view.jokers = list(owned)
        hands = max(1, run.hands_per_round + jokers.hands_bonus(view))
        discards = max(0, run.discards_per_round + jokers.discards_bonus(view))
        size = run.base_hand_size + jokers.hand_size_bonus(view) + DRAWN_PER_DISCARD * discards / hands
        view.jokers = [grown(joker, ahead) for joker in owned]
        for joker in owned:
            if joker.kind == _BURGLAR:
                hands, size = hands + 3, size - DRAWN_PER_DISCARD * discards / hands
                discards = 0
        options = options_of(view)
        if any(joker.kind in FEW_CARDS for joker in owned):
            options |= FEW
        if levels is not None:
            view.levels = list(levels)
        view.draw = self._deck[: max(0, len(self._deck) - 16)]
        view.discarded = self._deck[len(view.draw) :][:8]
        luck = self._luck
        luck.value = 0.5
        count = len(self._orders)
        total = 0.0
        for number in range(count):
            place = number % hands
            view.hands_left = hands - place
            view.discards_left = max(0, discards - place)
            view.played_now = [int(place > 0)] * 12
            view.hands_played = number
            best = 1
            for cards, play in self._hands(number, options, min(20, max(5, int(size + number / count)))):
                view.hand = cards
                scored = score_hand(view, play, chance=luck).total
                best = max(best, scored)
            total += best**SOFT
        return log(hands) + log(total / count) / SOFT


def grown(joker: Joker, ahead: float) -> Joker:
    """Return a joker as it will be some rounds later, without a debuff that ends."""
    more, most = _GROWTH.get(joker.kind, (0, 0))
    value = joker.value
    if more < 0:
        value = max(1, value + int(more * ahead))
    elif value < most:
        value = min(most, value + int(more * ahead))
    if value == joker.value and not joker.debuffed:
        return joker
    twin = copy(joker)
    twin.value = value
    twin.debuffed = joker.perishable < 0
    return twin
