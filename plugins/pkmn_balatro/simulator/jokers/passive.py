"""Numbers that jokers change while they are there. None of them is copied by Blueprint or Brainstorm, but Mime is."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pkmn_balatro.simulator.cards import NEGATIVE, NO_EDITION
from pkmn_balatro.simulator.jokers.hooks import source
from pkmn_balatro.simulator.jokers.kinds import JOKERS, kind_named
from pkmn_balatro.simulator.run import Joker, Run

_TURTLE_BEAN: Final = kind_named("Turtle Bean")
_MIME: Final = kind_named("Mime")
_OOPS: Final = kind_named("Oops! All 6s")
ASTRONOMER: Final = kind_named("Astronomer")
CHAOS_THE_CLOWN: Final = kind_named("Chaos the Clown")
CHICOT: Final = kind_named("Chicot")
DIET_COLA: Final = kind_named("Diet Cola")
INVISIBLE_JOKER: Final = kind_named("Invisible Joker")
LUCHADOR: Final = kind_named("Luchador")
MR_BONES: Final = kind_named("Mr. Bones")
SHOWMAN: Final = kind_named("Showman")
TO_THE_MOON: Final = kind_named("To the Moon")

INVISIBLE_ROUNDS: Final = 2
"""Rounds after which selling Invisible Joker doubles another joker."""


def _table(numbers: dict[str, int]) -> tuple[int, ...]:
    return tuple(numbers.get(joker.name, 0) for joker in JOKERS)


_HAND_SIZE: Final = _table({"Juggler": 1, "Merry Andy": -1, "Troubadour": 2, "Stuntman": -2})
_HANDS: Final = _table({"Troubadour": -1})
_DISCARDS: Final = _table({"Drunkard": 1, "Merry Andy": 3})
_DEBT: Final = _table({"Credit Card": 20})


def _sum(run: Run, table: tuple[int, ...]) -> int:
    return sum([table[joker.kind] for joker in run.jokers if not joker.debuffed])


def hand_size_bonus(run: Run) -> int:
    """Return how many cards more, or fewer, the hand has because of jokers."""
    beans = sum([joker.value for joker in run.jokers if joker.kind == _TURTLE_BEAN and not joker.debuffed])
    return _sum(run, _HAND_SIZE) + beans


def hands_bonus(run: Run) -> int:
    """Return how many hands more, or fewer, each round has because of jokers."""
    return _sum(run, _HANDS)


def discards_bonus(run: Run) -> int:
    """Return how many discards more each round has because of jokers."""
    return _sum(run, _DISCARDS)


def debt_allowed(run: Run) -> int:
    """Return how many dollars below zero the player may go."""
    return _sum(run, _DEBT)


def count(run: Run, kind: int) -> int:
    """Return how many jokers of this kind have their effect."""
    return sum([joker.kind == kind and not joker.debuffed for joker in run.jokers])


def happens(run: Run, odds: int) -> bool:
    """Return True if luck of ``1 in odds`` happens; each Oops! All 6s doubles the chance."""
    return run.random.random() * odds < 1 << count(run, _OOPS)


def interest_times(run: Run) -> int:
    """Return the dollars of interest for each $5."""
    return 1 + count(run, TO_THE_MOON)


def held_repeats(run: Run) -> int:
    """Return how often held cards act again."""
    jokers = run.jokers
    places = (source(jokers, place) for place in range(len(jokers)))
    return sum(place >= 0 and jokers[place].kind == _MIME for place in places)


def copy_of(joker: Joker) -> Joker:
    """Return a copy with the same value and stickers. A copy of a negative joker has no edition."""
    return replace(joker, edition=NO_EDITION if joker.edition == NEGATIVE else joker.edition)
