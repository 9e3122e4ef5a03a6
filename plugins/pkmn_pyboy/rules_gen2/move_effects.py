"""Move effects of the second generation, by the numbers of the move table: the power of a move and its number of hits.

Numbers and rules are those of the games; random values are replaced by their mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from pkmn_pyboy.rules_gen2.combatant import Combatant
from pkmn_pyboy.rules_gen2.records import MoveData
from pkmn_pyboy.rules_gen2.status import StatusCondition, status_condition


class Effect(IntEnum):
    """Effects that the pilot knows how to use."""

    SLEEP = 1
    SELF_DESTRUCT = 7
    DREAM_EATER = 8
    ALWAYS_HIT = 17
    BIDE = 26
    RAMPAGE = 27
    MULTI_HIT = 29
    HEAL = 32
    TOXIC = 33
    ONE_HIT_KO = 38
    RAZOR_WIND = 39
    SUPER_FANG = 40
    STATIC_DAMAGE = 41
    DOUBLE_HIT = 44
    JUMP_KICK = 45
    RECOIL = 48
    CONFUSE = 49
    POISON = 66
    PARALYZE = 67
    SKY_ATTACK = 75
    TWINEEDLE = 77
    HYPER_BEAM = 80
    LEECH_SEED = 84
    LEVEL_DAMAGE = 87
    PSYWAVE = 88
    COUNTER = 89
    SNORE = 92
    REVERSAL = 99
    FALSE_SWIPE = 101
    PRIORITY = 103
    TRIPLE_KICK = 104
    ROLLOUT = 117
    FURY_CUTTER = 119
    RETURN = 121
    PRESENT = 122
    FRUSTRATION = 123
    MAGNITUDE = 126
    HIDDEN_POWER = 135
    MIRROR_COAT = 144
    SKULL_BASH = 145
    FUTURE_SIGHT = 148
    SOLAR_BEAM = 151
    THUNDER = 152
    BEAT_UP = 154
    FLY = 155


RAISES = range(10, 17)
"""Effects that raise an own stat by one stage: attack, defence, speed, both special stats, accuracy, evasion."""
LOWERS = range(18, 25)
"""Effects that lower one of the opponent's stats, in the same order."""
RAISES_TWICE = range(50, 57)

RAIN, SUN = 1, 2

FIXED = frozenset(
    {Effect.STATIC_DAMAGE, Effect.LEVEL_DAMAGE, Effect.PSYWAVE, Effect.SUPER_FANG, Effect.ONE_HIT_KO}
)  # fmt: skip
"""Effects whose damage does not depend on power and stats."""
TYPELESS = frozenset({Effect.FUTURE_SIGHT, Effect.BEAT_UP})

_HITS: Mapping[int, float] = {
    Effect.MULTI_HIT: 3.0,  # two or three at 3/8 each, four or five at 1/8 each
    Effect.DOUBLE_HIT: 2.0,
    Effect.TWINEEDLE: 2.0,
    Effect.TRIPLE_KICK: 10 / 3,  # one to three, with one, two and three times the power
}
_MOST_HITS: Mapping[int, int] = {
    Effect.MULTI_HIT: 5,
    Effect.DOUBLE_HIT: 2,
    Effect.TWINEEDLE: 2,
    Effect.TRIPLE_KICK: 6,
}
_TURN_SHARE: Mapping[int, float] = {
    Effect.SELF_DESTRUCT: 0.35,  # the attacker faints
    Effect.BIDE: 0.3,
    Effect.RAMPAGE: 0.85,  # continues for some turns, then confuses its user
    Effect.RAZOR_WIND: 0.5,  # a turn to charge, as the four below
    Effect.SKY_ATTACK: 0.5,
    Effect.SKULL_BASH: 0.5,
    Effect.SOLAR_BEAM: 0.5,
    Effect.FUTURE_SIGHT: 0.5,
    Effect.JUMP_KICK: 0.9,  # hurts its user if it misses
    Effect.RECOIL: 0.85,
    Effect.HYPER_BEAM: 0.55,  # a turn to recover, unless it ends the fight
    Effect.FLY: 0.75,  # out of reach for a turn
    Effect.ROLLOUT: 1.5,  # doubles each turn, for the few turns that a fight lasts
    Effect.FURY_CUTTER: 1.5,
    Effect.BEAT_UP: 2.0,  # a hit of each member
}
_REVERSAL: tuple[tuple[int, int], ...] = ((1, 200), (4, 150), (9, 100), (16, 80), (32, 40), (48, 20))
"""Remaining HP in 48ths, at most, and the power for that."""
_MAGNITUDE_MEAN, _PRESENT_MEAN = 71, 52
_TYPICAL: Mapping[int, int] = {
    Effect.RETURN: 70,
    Effect.FRUSTRATION: 30,
    Effect.HIDDEN_POWER: 50,
    Effect.REVERSAL: 30,
    Effect.MAGNITUDE: _MAGNITUDE_MEAN,
    Effect.PRESENT: _PRESENT_MEAN,
    Effect.LEVEL_DAMAGE: 50,
    Effect.PSYWAVE: 40,
    Effect.SUPER_FANG: 50,
    Effect.STATIC_DAMAGE: 40,
    Effect.ONE_HIT_KO: 40,
    Effect.COUNTER: 20,
    Effect.MIRROR_COAT: 20,
    Effect.DREAM_EATER: 20,
    Effect.SNORE: 10,
}
_BIRD, _FIRST_UNUSED, _UNUSED = 6, 10, 10
_HIDDEN_BASE, _LEAST_POWER = 31, 1
_FULL = 255


def hits(effect: int) -> float:
    """Return the mean number of hits of one use."""
    return _HITS.get(effect, 1.0)


def max_hits(effect: int) -> int:
    """Return the maximum number of hits of one use, each as strong as the first."""
    return _MOST_HITS.get(effect, 1)


def turn_share(effect: int, weather: int = 0) -> float:
    """Return an effect's factor on a move's damage a turn: 0.5 for a move that takes two turns."""
    if effect == Effect.SOLAR_BEAM and weather == SUN:
        return 1.0
    return _TURN_SHARE.get(effect, 1.0)


def power(move: MoveData, attacker: Combatant) -> int:
    """Return the power of a use: the mean if it is random, 0 for a move without damage by power."""
    effect = move.effect
    if effect == Effect.RETURN:
        return max(attacker.happiness * 10 // 25, _LEAST_POWER)
    if effect == Effect.FRUSTRATION:
        return max((_FULL - attacker.happiness) * 10 // 25, _LEAST_POWER)
    if effect == Effect.MAGNITUDE:
        return _MAGNITUDE_MEAN
    if effect == Effect.PRESENT:
        return _PRESENT_MEAN
    if effect == Effect.HIDDEN_POWER:
        return hidden_power(attacker.dvs)
    if effect == Effect.REVERSAL:
        left = attacker.hp * 48 // max(attacker.max_hp, 1)
        return next(strength for most, strength in _REVERSAL if left <= most)
    return move.power


def kind(move: MoveData, attacker: Combatant) -> int:
    """Return the type of a use."""
    return hidden_type(attacker.dvs) if move.effect == Effect.HIDDEN_POWER else move.type


def hidden_power(dvs: tuple[int, ...]) -> int:
    """Return the power, 31 to 70, of Hidden Power for these DVs of attack, defence, speed and special."""
    attack, defence, speed, special = dvs
    high = (special >> 3) | (speed >> 3) << 1 | (defence >> 3) << 2 | (attack >> 3) << 3
    return (5 * high + (special & 3)) // 2 + _HIDDEN_BASE


def hidden_type(dvs: tuple[int, ...]) -> int:
    """Return its type for these DVs: never the first type, nor one that no Pokemon has."""
    attack, defence, _, _ = dvs
    number = ((attack & 3) << 2 | (defence & 3)) + 1
    number += number >= _BIRD
    return number + _UNUSED if number >= _FIRST_UNUSED else number


def can_work(move: MoveData, attacker: Combatant, defender: Combatant) -> bool:
    """Return whether a damaging move does damage now; False for counterattacks, which can't be planned."""
    if move.effect == Effect.DREAM_EATER:
        return status_condition(defender.status) is StatusCondition.ASLEEP
    if move.effect == Effect.SNORE:
        return status_condition(attacker.status) is StatusCondition.ASLEEP
    return move.effect not in (Effect.COUNTER, Effect.MIRROR_COAT)


def typical_power(move: MoveData) -> int:
    """Return the power by which to compare moves to learn; 0 for moves without damage."""
    return _TYPICAL.get(move.effect, move.power) if move.power else 0
