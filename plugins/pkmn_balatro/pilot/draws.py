"""Choice of cards to play or to discard, by expected scores over cards that may be drawn."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from pkmn_balatro.actions import MOST_PLAYED
from pkmn_balatro.pilot.plays import UNKNOWN, Positions, best_play, filled, known, options_of, worth
from pkmn_balatro.simulator import blinds
from pkmn_balatro.simulator.cards import FACE_DOWN, FORCED, GOLD, ROUND_FLAGS, STEEL, enhancement_of
from pkmn_balatro.simulator.hands import FOUR_FINGERS, SMEARED, SUITS_OF
from pkmn_balatro.simulator.jokers.kinds import kind_named
from pkmn_balatro.simulator.run import Run
from pkmn_balatro.simulator.scoring import score_hand

PREVIEWS: Final = 4
"""Previews for each hand that may be drawn."""
_GREEN_JOKER: Final = kind_named("Green Joker")
_CLOSE: Final = 0.98
"""Share of the best score for which the play is taken that draws most cards."""


def unseen(run: Run) -> list[int]:
    """Return the cards that may be drawn, sorted: those of the draw pile, and those of the hand that are hidden."""
    hidden = [card & ~ROUND_FLAGS for card in run.hand if card & FACE_DOWN]
    return sorted([*run.draw, *hidden])


class Choice:
    """Choice at a moment of a blind, from what a player sees.

    Args:
        run: the run, in which a blind is played.
        places: positions in the hand of the cards that can be chosen.
        plays: subsets of these cards, as positions among them, which are compared in full.
        luck: source of luck for cards that may be drawn.
        samples: hands that are drawn for each discard.
    """

    def __init__(
        self, run: Run, places: Sequence[int], plays: Sequence[Positions], luck: random.Random, samples: int
    ) -> None:
        self._run = run
        self._places = places
        self._view = view = known(run)
        self._cards = [view.hand[place] for place in places]
        self._options = options_of(run)
        self._plays = plays
        self._luck = luck
        self._samples = samples
        self.missing = max(1, run.target - run.score)
        """Chips that are missing."""

    def play(self) -> tuple[int, Positions]:
        """Return the least score and the positions, among those that can be chosen, of the best play."""
        view, places, cards = self._view, self._places, self._cards
        total, play = best_play(view, places, self._options)
        hidden = {place for place, card in enumerate(cards) if card == UNKNOWN}
        forced = {place for place, card in enumerate(cards) if card & FORCED}
        best, found = total, play
        for subset in self._plays:
            if subset[-1] >= len(cards) or not hidden.isdisjoint(subset) or not forced.issubset(subset):
                continue
            scored = score_hand(view, [places[place] for place in subset]).total
            if scored > best:
                best, found = scored, subset
        if total >= best * _CLOSE:
            return total, play
        longer = filled(cards, found, self._options)
        if longer != found and score_hand(view, [places[place] for place in longer]).total >= best:
            found = longer
        return best, found

    def discard(self, needed: int) -> tuple[float, Positions]:
        """Return the expected useful score after the best discard, and its positions; none if nothing can be drawn.

        Args:
            needed: score beyond which more is of no use.
        """
        run, view, cards = self._run, self._view, self._cards
        pile = unseen(run)
        best: tuple[float, Positions] = (-1.0, ())
        if not pile or len(self._places) != len(view.hand):
            return best
        options = self._options
        hand = view.hand
        discards_left, view.discards_left = view.discards_left, view.discards_left - 1
        drawn = [self._luck.sample(pile, min(MOST_PLAYED, len(pile))) for _ in range(self._samples)]
        boss = blinds.active_boss(run)
        for thrown in self._discards():
            kept = [card for place, card in enumerate(cards) if place not in thrown]
            size = 3 if boss == blinds.SERPENT else run.hand_size - len(kept)
            total = 0
            for more in drawn:
                view.hand = [*kept, *more[: max(size, 0)]]
                scored = best_play(view, range(len(view.hand)), options, PREVIEWS)[0]
                total += min(scored, needed)
            best = max(best, (total / len(drawn), thrown))
        view.hand, view.discards_left = hand, discards_left
        return best

    def _discards(self) -> list[Positions]:
        """Return the discards worth a look: each keeps the beginning of a poker hand."""
        cards, options = self._cards, self._options
        by_rank: dict[int, list[int]] = {}
        by_suit: list[list[int]] = [[], [], [], []]
        smeared = options & SMEARED != 0
        steel = {p for p, card in enumerate(cards) if card != UNKNOWN and enhancement_of(card) in (STEEL, GOLD)}
        for place, card in enumerate(cards):
            if card == UNKNOWN:
                continue
            by_rank.setdefault(card & 0xF, []).append(place)
            suits = SUITS_OF[smeared][card >> 4 & 63]
            for suit in range(4):
                if suits >> suit & 1:
                    by_suit[suit].append(place)
        keeps: set[frozenset[int]] = {frozenset()}
        groups = sorted(by_rank.values(), key=lambda group: (-len(group), -worth(cards[group[0]])))
        sets = [group for group in groups if len(group) > 1]
        if sets:
            keeps.add(frozenset(sets[0]))
            for group in sets[1:3]:
                keeps.add(frozenset(group))
                keeps.add(frozenset((*sets[0], *group)))
        else:
            high = sorted(range(len(cards)), key=lambda place: -worth(cards[place]))
            keeps.add(frozenset(high[:3]))
            keeps.add(frozenset(high[:1]))
        for members in by_suit:
            if len(members) >= 3:
                ordered = sorted(members, key=lambda place: -worth(cards[place]))
                keeps.add(frozenset(ordered[:5]))
        width = 4 if options & FOUR_FINGERS else 5
        ladder = [by_rank.get(12), *(by_rank.get(rank) for rank in range(13))]
        for low in range(14 - width + 1):
            run_of = [group[0] for group in ladder[low : low + width] if group]
            if len(run_of) >= 3:
                keeps.add(frozenset(run_of))
        forced = {place for place, card in enumerate(cards) if card & FORCED}
        found = set()
        for keep in keeps:
            rest = [place for place in range(len(cards)) if place not in keep and place not in steel]
            rest.sort(key=lambda place: worth(cards[place]))
            thrown = {*rest[: MOST_PLAYED - len(forced - set(rest[:MOST_PLAYED]))], *forced}
            if 0 < len(thrown) <= MOST_PLAYED:
                found.add(tuple(sorted(thrown)))
        return sorted(found)

    def decide(self, gain: float) -> tuple[bool, Positions, str]:
        """Return True to play or False to discard, the positions among those that can be chosen, and the reason.

        Args:
            gain: factor by which a discard must raise the expected score.
        """
        run = self._run
        total, play = self.play()
        if total >= self.missing or run.discards_left <= 0:
            return True, play, f"play for {total:,}"
        value, thrown = self.discard(self.missing)
        if any(joker.kind == _GREEN_JOKER for joker in run.jokers):
            gain *= 1.15
        if thrown and value > total * gain:
            return False, thrown, f"discard: {value:,.0f} expected instead of {total:,}"
        return True, play, f"play for {total:,}"
