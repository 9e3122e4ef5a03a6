"""Expected damage of moves: the second generation's damage formula on the tables of the cartridge image.

``(level * 2 / 5 + 2) * power * attack / defence / 50``, at most 997, plus 2; a critical hit (17 of 256) doubles the
value before the 2 is added. Weather, the bonus for the attacker's own type (half more), the types one after the other
and a random share of 217/255 to 1 follow, each rounded down. Types from 20 on use the special stats. Screens double
the defence; a critical hit ignores them, but here keeps the stat stages. Left out, because memory says too little of
them or they are small: held items, the eighth that a badge adds to its type, and moves with a raised critical chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pkmn_pyboy.rules_gen2.combatant import Combatant
from pkmn_pyboy.rules_gen2.move_effects import (
    FIXED,
    RAIN,
    SUN,
    TYPELESS,
    Effect,
    can_work,
    hits,
    kind,
    power,
    turn_share,
)
from pkmn_pyboy.rules_gen2.records import MoveData
from pkmn_pyboy.rules_gen2.types import FIRE, SPECIAL_TYPES_FROM, WATER

_SHARES, _MOST_SHARE = range(217, 256), 255
_MEAN_SHARE = (217 + 255) // 2
_CRITICAL_CHANCE = 17 / 256
_MOST = 997
_BYTE = 255
_LIGHT_SCREEN, _REFLECT = 1 << 3, 1 << 4
_ACCURACY_STAGE, _EVASION_STAGE = 5, 6
_STAGE_SHARES = (33, 36, 43, 50, 60, 75, 100, 133, 166, 200, 233, 266, 300)
"""Accuracy for stages -6 to 6, in hundredths; evasion counts in reverse."""
_ROLLS = 256


class DamageRules:
    """Damage formula on the moves and types of one game.

    Args:
        moves: moves by number; a move that is missing has no power.
        factors: effectiveness by attacking and defending type, where it is not 1.
    """

    def __init__(self, moves: Mapping[int, MoveData], factors: Mapping[tuple[int, int], float]) -> None:
        self.moves = moves
        self._factors = factors

    def factor(self, kind: int, types: Sequence[int]) -> float:
        """Return the effectiveness of a type against a Pokemon of these types, 0..4."""
        result = 1.0
        for target in dict.fromkeys(types):
            result *= self._factors.get((kind, target), 1.0)
        return result

    def best_factor(self, moves: Sequence[int], pp: Sequence[int], types: Sequence[int]) -> float:
        """Return the best effectiveness among the moves with power and PP left, 0..4; 0 without any."""
        known = (self.moves.get(move) for move, left in zip(moves, pp, strict=False) if left)
        return max((self.factor(move.type, types) for move in known if move is not None and move.power), default=0.0)

    def damage(self, attacker: Combatant, number: int, defender: Combatant) -> float:
        """Return a move's expected damage a turn, with misses, criticals and idle turns; 0 for non-damaging moves."""
        move = self.moves.get(number)
        if move is None:
            return 0.0
        dealt = self.hit(attacker, number, defender)
        if move.effect not in FIXED and dealt > 0:
            critical = self.hit(attacker, number, defender, critical=True)
            dealt += _CRITICAL_CHANCE * (critical - dealt)
        often = hits(move.effect) * turn_share(move.effect, attacker.weather)
        return self.accuracy(move, attacker, defender) * dealt * often

    def accuracy(self, move: MoveData, attacker: Combatant, defender: Combatant) -> float:
        """Return the chance that a move hits, 0..1."""
        if move.effect == Effect.ALWAYS_HIT or (move.effect == Effect.THUNDER and attacker.weather == RAIN):
            return 1.0
        chance = move.accuracy
        if move.effect == Effect.THUNDER and attacker.weather == SUN:
            chance = _BYTE // 2
        if move.effect == Effect.ONE_HIT_KO:
            chance = min(chance + 2 * (attacker.level - defender.level), _BYTE)
        for share in (_stage(attacker, _ACCURACY_STAGE), -_stage(defender, _EVASION_STAGE)):
            chance = min(chance * _STAGE_SHARES[share + 6] // 100, _BYTE)
        return 1.0 if chance == _BYTE else max(chance, 1) / _ROLLS

    def hit(
        self,
        attacker: Combatant,
        number: int,
        defender: Combatant,
        share: int = _MEAN_SHARE,
        *,
        critical: bool = False,
    ) -> float:
        """Return the damage of one hit with this random share out of 255; 0 for moves without damage."""
        move = self.moves.get(number)
        if move is None or not move.power or not can_work(move, attacker, defender):
            return 0.0
        if move.effect not in TYPELESS and self.factor(kind(move, attacker), defender.types) == 0.0:
            return 0.0
        if move.effect in FIXED:
            return _fixed(move, attacker, defender)
        value = self._typed(move, attacker, defender, _raw(move, attacker, defender, critical=critical))
        value = max(value * share // _MOST_SHARE, 1)
        return float(min(value, defender.hp - 1) if move.effect == Effect.FALSE_SWIPE else value)

    def max_damage(self, attacker: Combatant, number: int, defender: Combatant, *, critical: bool = False) -> float:
        """Return the maximum damage of one hit; of the first hit if the move has several."""
        return self.hit(attacker, number, defender, _SHARES[-1], critical=critical)

    def min_damage(self, attacker: Combatant, number: int, defender: Combatant, *, critical: bool = False) -> float:
        """Return the minimum damage of one hit."""
        return self.hit(attacker, number, defender, _SHARES[0], critical=critical)

    def threat(self, attacker: Combatant, defender: Combatant) -> float:
        """Return the expected damage of the attacker's best move; an estimate if its moves are unknown."""
        known = [number for number in attacker.moves if number]
        if known:
            return max(self.damage(attacker, number, defender) for number in known)
        return self._guessed(attacker, defender)

    def _typed(self, move: MoveData, attacker: Combatant, defender: Combatant, value: int) -> int:
        """Apply weather, the own type's bonus and type effectiveness."""
        of = kind(move, attacker)
        weather = attacker.weather
        if weather in (RAIN, SUN):
            if of == (WATER if weather == RAIN else FIRE):
                value = value * 15 // 10
            elif of == (FIRE if weather == RAIN else WATER) or (weather == RAIN and move.effect == Effect.SOLAR_BEAM):
                value = value * 5 // 10
        if move.effect in TYPELESS:
            return value
        if of in attacker.types:
            value += value // 2
        for target in dict.fromkeys(defender.types):
            value = int(value * round(10 * self.factor(of, (target,))) // 10)
        return value

    def _guessed(self, attacker: Combatant, defender: Combatant) -> float:
        """Return the damage of an average move of the attacker's first type."""
        of = attacker.types[0] if attacker.types else 0
        special = of >= SPECIAL_TYPES_FROM
        attack, defence = attacker.stats[3 if special else 0], max(defender.stats[4 if special else 1], 1)
        value = (attacker.level * 2 // 5 + 2) * min(35 + attacker.level, 80) * attack / defence / 50 + 2
        return float(value * 1.5 * self.factor(of, defender.types) * _MEAN_SHARE / _MOST_SHARE)


def _raw(move: MoveData, attacker: Combatant, defender: Combatant, *, critical: bool) -> int:
    """Return the formula's value before weather and types."""
    special = kind(move, attacker) >= SPECIAL_TYPES_FROM
    attack, defence = attacker.stats[3 if special else 0], defender.stats[4 if special else 1]
    if defender.screens & (_LIGHT_SCREEN if special else _REFLECT) and not critical:
        defence *= 2
    if attack > _BYTE or defence > _BYTE:
        attack, defence = attack // 4, defence // 4
    if move.effect == Effect.SELF_DESTRUCT:
        defence //= 2
    value = (attacker.level * 2 // 5 + 2) * power(move, attacker) * max(attack, 1) // max(defence, 1) // 50
    return min(value * 2 if critical else value, _MOST) + 2


def _fixed(move: MoveData, attacker: Combatant, defender: Combatant) -> float:
    if move.effect == Effect.LEVEL_DAMAGE:
        return float(attacker.level)
    if move.effect == Effect.PSYWAVE:
        return max(0.75 * attacker.level, 1.0)
    if move.effect == Effect.SUPER_FANG:
        return float(max(defender.hp // 2, 1))
    if move.effect == Effect.ONE_HIT_KO:
        return float(defender.hp) if attacker.level >= defender.level else 0.0
    return float(move.power)


def _stage(one: Combatant, index: int) -> int:
    return one.stages[index] if index < len(one.stages) else 0
