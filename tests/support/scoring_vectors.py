"""Plays of Balatro with the score that the rules give, and how they are checked."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from pkmn_balatro.simulator import blinds
from pkmn_balatro.simulator.run import HANDS, Phase, Run
from pkmn_balatro.simulator.scoring import score_hand
from support.balatro import cards as pile
from support.balatro import made_joker

BOSS_NAMES = [boss.name.removeprefix("The ") for boss in blinds.BOSSES]


@dataclass
class Vector:
    """A play, and the chips, the mult and the money that it must bring."""

    why: str
    played: str
    chips: float
    mult: float
    jokers: str = ""
    held: str = ""
    hand: str = ""
    money: int = 0
    state: dict[str, Any] = field(default_factory=dict)

    def run(self) -> Run:
        """Return the run just before the play."""
        run = Run(0)
        run.hand = pile(self.played) + pile(self.held)
        run.hands_left, run.discards_left = 4, 3
        for name, value in self.state.items():
            if name == "boss":
                run.phase, run.blind, run.boss = Phase.PLAY, blinds.BOSS, BOSS_NAMES.index(value)
            elif name in ("levels", "played", "played_now"):
                for hand, number in value.items():
                    getattr(run, name)[HANDS.index(hand)] = number
            elif name == "draw":
                run.draw = pile(value)
            else:
                assert hasattr(run, name), name
                setattr(run, name, value)
        run.jokers = [made_joker(run, words.strip()) for words in self.jokers.split(",") if words]
        return run


def v(why: str, cards: str, chips: float, mult: float, jokers: str = "", held: str = "", **more: Any) -> Vector:
    """Return a vector: why, cards played, chips, mult, jokers, cards held; further names are attributes of the run."""
    hand, money = more.pop("hand", ""), more.pop("money_made", 0)
    return Vector(why, cards, chips, mult, jokers, held, hand, money, more)


def check_score(vector: Vector) -> None:
    """Check chips, mult, score and money of a play."""
    run = vector.run()
    scored = score_hand(run, range(len(vector.played.split())))
    assert (scored.chips, scored.mult) == (pytest.approx(vector.chips), pytest.approx(vector.mult))
    assert scored.total == int(scored.chips * scored.mult)
    assert scored.money == vector.money
    if vector.hand:
        assert HANDS[scored.hand] == vector.hand


def check_luck(vector: Vector) -> None:
    """Check that luck never scores less than the preview."""
    positions = range(len(vector.played.split()))
    least = score_hand(vector.run(), positions).total
    for seed in range(3):
        assert score_hand(vector.run(), positions, chance=random.Random(seed)).total >= least
