"""What a move is expected to do: the damage formula of the second generation, on the tables of the cartridge image.

Damage is ``((level * 2 / 5 + 2) * power * attack / defence) / 50 + 2``, times 1.5 for the attacker's own type, times
the factor of the types, times a random share of 217/255 to 1. Types from 20 on are special: they use the special
stats. A critical hit, 17 of 256, doubles. Expected values count accuracy, the random share's mean and criticals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pkmn_pyboy.state.game_state import Battler, PartyMember
from pkmn_pyboy.state.memory_map import RomTable
from pkmn_pyboy.state.type_chart import TypeChart

SPECIAL_TYPES_FROM = 20
SLEEP_MASK, POISON, BURN, FREEZE, PARALYSIS = 0x07, 0x08, 0x10, 0x20, 0x40
"""Bits of a status."""

EFFECT_SLEEP, EFFECT_HEAL, EFFECT_TOXIC, EFFECT_CONFUSE, EFFECT_POISON, EFFECT_PARALYZE = 1, 32, 33, 49, 66, 67
EFFECT_PRIORITY, EFFECT_LEECH_SEED = 103, 84
RAISES = range(10, 17)
"""Effects that raise an own stat by one stage: attack, defence, speed, both special ones, accuracy, evasion."""
LOWERS = range(18, 25)
"""Effects that lower a stat of the opponent, in the same order."""
RAISES_TWICE = range(50, 57)

_MOVE_BYTES, _MOVE_COUNT = 7, 251
_SPECIES_BYTES, _SPECIES_COUNT = 32, 251
_MEAN_SHARE = (217 / 255 + 1.0) / 2
_LEAST_SHARE = 217 / 255
_CRITICAL = 1.0 + 17 / 256
_SAME_TYPE = 1.5
_MOST = 997
_STAT_GUESS_BASE = 60
_FULL = 255.0

_STATIC, _LEVEL_DAMAGE, _ONE_HIT, _SUPER_FANG, _PSYWAVE = 41, 87, 38, 40, 88
_DREAM_EATER, _SNORE, _COUNTER, _MIRROR_COAT, _FALSE_SWIPE, _HIDDEN_POWER = 8, 92, 89, 144, 101, 135
_WORTH: Mapping[int, float] = {
    7: 0.35,  # the attacker faints
    26: 0.3,  # bides its time
    27: 0.85,  # goes on for turns, then confuses itself
    29: 3.0,  # two to five hits
    39: 0.5,  # a turn to charge
    44: 2.0,  # two hits
    45: 0.9,  # hurts itself when it misses
    48: 0.85,  # recoil
    75: 0.5,  # a turn to charge
    77: 2.0,  # two hits
    80: 0.55,  # a turn to recover
    104: 3.0,  # three hits
    145: 0.5,  # a turn to charge
    148: 0.5,  # hits two turns later
    151: 0.5,  # a turn to charge
    155: 0.75,  # away for a turn, safe meanwhile
}
"""Factors for effects that make a move's power mean more or less than once a turn."""


class Move(NamedTuple):
    """A move of the table: ``accuracy`` 0..1, ``chance`` of the effect 0..1."""

    effect: int
    power: int
    type: int
    accuracy: float
    pp: int
    chance: float


@dataclass(frozen=True, slots=True)
class Combatant:
    """What the formula needs to know of one side."""

    level: int
    hp: int
    max_hp: int
    status: int
    types: tuple[int, ...]
    stats: tuple[int, ...]
    """Attack, defence, speed, special attack, special defence."""
    moves: tuple[int, ...] = ()
    pp: tuple[int, ...] = ()


class BattleTables:
    """Moves, types and species of one cartridge image.

    Args:
        data: the image.
        tables: where its tables stand. What is missing is done without: moves have no power, species no type.
    """

    def __init__(self, data: bytes, tables: Mapping[str, RomTable]) -> None:
        self.chart = TypeChart.from_rom(data, tables)
        self.moves = _read_moves(data, tables)
        self._types, self.catch_rates = _read_species(data, tables)

    def types_of(self, species: int) -> tuple[int, ...]:
        """The types of a species, empty where it is unknown."""
        return self._types.get(species, ())

    def battler(self, battler: Battler) -> Combatant:
        """One who is out in the battle."""
        stats = battler.stats if any(battler.stats) else guessed_stats(battler.level)
        return Combatant(
            battler.level, battler.hp, battler.max_hp, battler.status, battler.types, stats, battler.moves, battler.pp
        )

    def member(self, member: PartyMember) -> Combatant:
        """One who waits in the party."""
        stats = member.stats if any(member.stats) else guessed_stats(member.level)
        types = self.types_of(member.species)
        return Combatant(member.level, member.hp, member.max_hp, member.status, types, stats, member.moves, member.pp)

    def factor(self, kind: int, types: Sequence[int]) -> float:
        """What a type does to a Pokemon of these types, 0..4."""
        result = 1.0
        if self.chart is not None:
            for target in set(types):
                result *= self.chart.factors.get((kind, target), 1.0)
        return result

    def damage(self, attacker: Combatant, number: int, defender: Combatant) -> float:
        """Expected damage of one use of a move, misses counted; 0 for moves that do none."""
        move = self.moves.get(number)
        if move is None:
            return 0.0
        return move.accuracy * self.hit(attacker, number, defender) * _CRITICAL

    def hit(self, attacker: Combatant, number: int, defender: Combatant, share: float = _MEAN_SHARE) -> float:
        """Damage of a hit that is not critical, with this random share; 0 for moves that do none."""
        move = self.moves.get(number)
        if move is None or (move.power == 0 and move.effect not in (_STATIC, _LEVEL_DAMAGE, _SUPER_FANG, _ONE_HIT)):
            return 0.0
        factor = self.factor(move.type, defender.types)
        if factor == 0.0 or not _can_work(move, attacker, defender):
            return 0.0
        if move.effect == _STATIC:
            return float(move.power)
        if move.effect in (_LEVEL_DAMAGE, _PSYWAVE):
            return float(attacker.level)
        if move.effect == _SUPER_FANG:
            return defender.hp / 2
        if move.effect == _ONE_HIT:
            return float(defender.hp) if attacker.level >= defender.level else 0.0
        special = move.type >= SPECIAL_TYPES_FROM
        attack = attacker.stats[3 if special else 0]
        defence = max(defender.stats[4 if special else 1], 1)
        value = min((attacker.level * 2 // 5 + 2) * move.power * attack / defence / 50, _MOST) + 2
        if move.type in attacker.types:
            value *= _SAME_TYPE
        return float(value * factor * share * _WORTH.get(move.effect, 1.0))

    def most(self, attacker: Combatant, number: int, defender: Combatant) -> float:
        """The most that a hit does, criticals left out."""
        return self.hit(attacker, number, defender, 1.0)

    def least(self, attacker: Combatant, number: int, defender: Combatant) -> float:
        """The least that a hit does."""
        return self.hit(attacker, number, defender, _LEAST_SHARE)

    def threat(self, attacker: Combatant, defender: Combatant) -> float:
        """Expected damage of the attacker's best move; a guess where its moves are not known."""
        known = [number for number in attacker.moves if number]
        if known:
            return max(self.damage(attacker, number, defender) for number in known)
        return guessed_damage(self, attacker, defender)


def turn_share(effect: int) -> float:
    """What an effect makes of a move's power, counted by turn: 0.5 where it takes two."""
    return _WORTH.get(effect, 1.0)


def guessed_stats(level: int) -> tuple[int, ...]:
    """Stats of an average species at a level."""
    return (2 * _STAT_GUESS_BASE * level // 100 + 5 + level // 6,) * 5


def guessed_damage(tables: BattleTables, attacker: Combatant, defender: Combatant) -> float:
    """Damage of a middling move of the attacker's first type."""
    power = min(35 + attacker.level, 80)
    kind = attacker.types[0] if attacker.types else 0
    special = kind >= SPECIAL_TYPES_FROM
    attack, defence = attacker.stats[3 if special else 0], max(defender.stats[4 if special else 1], 1)
    value = (attacker.level * 2 // 5 + 2) * power * attack / defence / 50 + 2
    return float(value * _SAME_TYPE * tables.factor(kind, defender.types) * _MEAN_SHARE)


def _can_work(move: Move, attacker: Combatant, defender: Combatant) -> bool:
    if move.effect == _DREAM_EATER:
        return bool(defender.status & SLEEP_MASK)
    if move.effect == _SNORE:
        return bool(attacker.status & SLEEP_MASK)
    return move.effect not in (_COUNTER, _MIRROR_COAT)


def _read_moves(data: bytes, tables: Mapping[str, RomTable]) -> dict[int, Move]:
    if "Moves" not in tables:
        return {}
    start, moves = tables["Moves"].offset, {}
    for number in range(1, _MOVE_COUNT + 1):
        entry = data[start + (number - 1) * _MOVE_BYTES : start + number * _MOVE_BYTES]
        if len(entry) == _MOVE_BYTES:
            moves[number] = Move(entry[1], entry[2], entry[3], entry[4] / _FULL, entry[5], entry[6] / _FULL)
    return moves


def _read_species(data: bytes, tables: Mapping[str, RomTable]) -> tuple[dict[int, tuple[int, ...]], dict[int, int]]:
    if "BaseData" not in tables:
        return {}, {}
    start = tables["BaseData"].offset
    types: dict[int, tuple[int, ...]] = {}
    rates: dict[int, int] = {}
    for number in range(1, _SPECIES_COUNT + 1):
        entry = data[start + (number - 1) * _SPECIES_BYTES : start + number * _SPECIES_BYTES]
        if len(entry) < _SPECIES_BYTES or entry[0] != number:
            break
        types[number] = (entry[7], entry[8])
        rates[number] = entry[9]
    return types, rates
