"""Families of jokers that differ in numbers only: what they add to chips or mult, or multiply mult by."""

from __future__ import annotations

from pkmn_balatro.simulator.hands import FLUSH, FOUR, PAIR, STRAIGHT, THREE, TWO_PAIR
from pkmn_balatro.simulator.jokers.hooks import Stage, during
from pkmn_balatro.simulator.scored import Scored


def _hand_mult(name: str, hand: int, mult: int) -> None:
    @during(Stage.JOKER, name)
    def add(s: Scored, place: int) -> None:
        if s.contained >> hand & 1:
            s.mult += mult


def _hand_chips(name: str, hand: int, chips: int) -> None:
    @during(Stage.JOKER, name)
    def add(s: Scored, place: int) -> None:
        if s.contained >> hand & 1:
            s.chips += chips


def _hand_times(name: str, hand: int, times: int) -> None:
    @during(Stage.JOKER, name)
    def multiply(s: Scored, place: int) -> None:
        if s.contained >> hand & 1:
            s.mult *= times


def _grown_mult(name: str) -> None:
    @during(Stage.JOKER, name)
    def add(s: Scored, place: int) -> None:
        s.mult += s.values[place]


def _grown_chips(name: str) -> None:
    @during(Stage.JOKER, name)
    def add(s: Scored, place: int) -> None:
        s.chips += s.values[place]


def _grown_times(name: str, step: float) -> None:
    @during(Stage.JOKER, name)
    def multiply(s: Scored, place: int) -> None:
        if s.values[place]:
            s.mult *= 1 + step * s.values[place]


_hand_mult("Jolly Joker", PAIR, 8)
_hand_mult("Zany Joker", THREE, 12)
_hand_mult("Mad Joker", TWO_PAIR, 10)
_hand_mult("Crazy Joker", STRAIGHT, 12)
_hand_mult("Droll Joker", FLUSH, 10)
_hand_chips("Sly Joker", PAIR, 50)
_hand_chips("Wily Joker", THREE, 100)
_hand_chips("Clever Joker", TWO_PAIR, 80)
_hand_chips("Devious Joker", STRAIGHT, 100)
_hand_chips("Crafty Joker", FLUSH, 80)
_hand_times("The Duo", PAIR, 2)
_hand_times("The Trio", THREE, 3)
_hand_times("The Family", FOUR, 4)
_hand_times("The Order", STRAIGHT, 3)
_hand_times("The Tribe", FLUSH, 2)
for _name in (
    "Ceremonial Dagger",
    "Ride the Bus",
    "Green Joker",
    "Red Card",
    "Flash Card",
    "Popcorn",
    "Spare Trousers",
):
    _grown_mult(_name)
for _name in ("Runner", "Ice Cream", "Square Joker", "Castle", "Wee Joker"):
    _grown_chips(_name)
for _name, _step in (
    ("Constellation", 0.1),
    ("Madness", 0.5),
    ("Vampire", 0.1),
    ("Hologram", 0.25),
    ("Obelisk", 0.2),
    ("Lucky Cat", 0.25),
    ("Campfire", 0.25),
    ("Glass Joker", 0.75),
    ("Hit the Road", 0.5),
    ("Canio", 1.0),
):
    _grown_times(_name, _step)
