"""Battle forecasts: expected damage, both sides at their best, with PP, levels and items used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pkmn_pyboy.pilot.battle.tables import BattleTables
from pkmn_pyboy.rules_gen2.combatant import Combatant, guessed_stats
from pkmn_pyboy.rules_gen2.slots import MOVE_SLOTS
from pkmn_pyboy.world.cartridge import Cartridge

_DV = 8
_MOST_TURNS = 60
_KEPT = 4096
_IN_NEED = 1.2
"""An item is used if this many hits would defeat the member, and it restores more than this many hits."""
_STRUGGLE = 1.0


@dataclass(frozen=True, slots=True)
class Forecast:
    """Forecast of a battle: ``left`` is the share of the party's HP that remains, ``beaten`` of the foes' HP lost."""

    won: bool
    left: float
    beaten: float

    @property
    def score(self) -> float:
        """Value of the outcome, 0 to 2: above 1 for a victory."""
        return 1.0 + self.left if self.won else self.beaten


@dataclass(frozen=True, slots=True)
class Pair:
    """Two combatants: ``hits`` are (expected damage, move slot), best first; ``threat`` is the foe's best damage."""

    hits: tuple[tuple[float, int], ...]
    threat: float
    first: bool
    """True if the own one strikes first."""

    @property
    def best(self) -> float:
        """Best hit, as if PP never ran out."""
        return self.hits[0][0] if self.hits else 0.0


class TrainerBook:
    """Trainers' parties as the cartridge image has them.

    Args:
        cartridge: the image.
        tables: moves, types and species.
    """

    def __init__(self, cartridge: Cartridge, tables: BattleTables) -> None:
        self._trainers = cartridge.trainers
        self._tables = tables
        self._foes: dict[tuple[int, int, tuple[int, ...]], Combatant] = {}

    def party(self, trainer_class: int, number: int) -> tuple[Combatant, ...]:
        """Return a trainer's party, class and number counted from 1; empty if the image lacks it."""
        trainer = self._trainers.get((trainer_class, number))
        return tuple(self.foe(one.level, one.species, one.moves) for one in trainer.party) if trainer else ()

    def species(self, trainer_class: int, number: int) -> tuple[tuple[int, int], ...]:
        """Return (species, level) of each member of a trainer's party."""
        trainer = self._trainers.get((trainer_class, number))
        return tuple((one.species, one.level) for one in trainer.party) if trainer else ()

    def foe(self, level: int, species: int, moves: Sequence[int] = ()) -> Combatant:
        """Return a Pokemon of a level with average DVs; without moves, with those that it learnt last."""
        key = (level, species, tuple(moves))
        found = self._foes.get(key)
        if found is None:
            if len(self._foes) >= _KEPT:
                self._foes.clear()
            found = self._foes[key] = self._made(level, species, moves)
        return found

    def _made(self, level: int, species: int, moves: Sequence[int]) -> Combatant:
        known = self._tables.species.get(species)
        if known is None:
            return Combatant(level, 1, 1, 0, (), guessed_stats(level), tuple(moves), (1,) * len(moves))
        if not moves:
            learnt = [move for at, move in known.learns if at <= level]
            moves = list(dict.fromkeys(reversed(learnt)))[:MOVE_SLOTS]
        base = (known.attack, known.defense, known.speed, known.special_attack, known.special_defense)
        hp = (known.hp + _DV) * 2 * level // 100 + level + 10
        stats = tuple((value + _DV) * 2 * level // 100 + 5 for value in base)
        pp = tuple(self._tables.moves[one].pp if one in self._tables.moves else 1 for one in moves)
        return Combatant(level, hp, hp, 0, known.types, stats, tuple(moves), pp)


class Forecaster:
    """Simulator of battles. The damage of each pair is computed once.

    Args:
        tables: moves and types.
    """

    def __init__(self, tables: BattleTables) -> None:
        self._tables = tables
        self._pairs: dict[object, Pair] = {}
        self._kept: dict[object, Forecast] = {}

    def pair(self, own: Combatant, foe: Combatant) -> Pair:
        """Return one combatant against another."""
        key = (own.level, own.stats, own.moves, own.types, own.max_hp,
               foe.level, foe.stats, foe.moves, foe.types, foe.max_hp)  # fmt: skip
        found = self._pairs.get(key)
        if found is None:
            if len(self._pairs) >= _KEPT:
                self._pairs.clear()
            hits = sorted(
                ((self._tables.damage(own, move, foe), -slot) for slot, move in enumerate(own.moves) if move),
                reverse=True,
            )
            found = self._pairs[key] = Pair(
                tuple((damage, -slot) for damage, slot in hits if damage > 0),
                self._tables.threat(foe, own),
                own.stats[2] >= foe.stats[2],
            )
        return found

    def forecast(
        self, party: Sequence[Combatant], foes: Sequence[Combatant], care: float, heals: Sequence[int] = ()
    ) -> Forecast:
        """Return the forecast of a battle; a repeated question is answered from a cache.

        Args:
            party: the fighters, as they are.
            foes: the opponents, in their order.
            care: safety margin: factor on the foes' damage.
            heals: HP that each item in the bag restores.
        """
        key = (tuple(party), tuple(foes), care, tuple(heals))
        found = self._kept.get(key)
        if found is None:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            found = self._kept[key] = self._play(party, foes, care, list(heals))
        return found

    def _play(self, party: Sequence[Combatant], foes: Sequence[Combatant], care: float, heals: list[int]) -> Forecast:
        own = [member for member in party if member.hp > 0]
        hp = [float(member.hp) for member in own]
        pp = [list(member.pp) for member in own]
        total = sum(member.max_hp for member in own) or 1
        foes_total = sum(foe.max_hp for foe in foes) or 1
        heals.sort()
        beaten = 0.0
        for foe in foes:
            pairs = [self.pair(member, foe) for member in own]
            foe_hp = float(foe.hp)
            turns = 0
            out = -1
            while foe_hp > 0 and turns < _MOST_TURNS:
                if out < 0 or hp[out] <= 0:
                    fresh = out >= 0
                    out = _best(pairs, hp, pp)
                    if out < 0:
                        return Forecast(False, 0.0, (beaten + foe.hp - foe_hp) / foes_total)
                    if fresh:
                        turns += 1
                pair = pairs[out]
                damage, slot = next((one for one in pair.hits if pp[out][one[1]] > 0), (_STRUGGLE, -1))
                theirs = care * pair.threat
                turns += 1
                if heals and foe_hp > damage and _needs(hp[out], own[out].max_hp, theirs) and heals[-1] > theirs:
                    wanted = own[out].max_hp - hp[out]
                    heal = next((one for one in heals if one >= wanted), heals[-1])
                    heals.remove(heal)
                    hp[out] = min(hp[out] + heal, own[out].max_hp) - theirs
                    continue
                if slot >= 0:
                    pp[out][slot] -= 1
                if pair.first:
                    foe_hp -= damage
                    if foe_hp > 0:
                        hp[out] -= theirs
                else:
                    hp[out] -= theirs
                    if hp[out] > 0:
                        foe_hp -= damage
            if foe_hp > 0:
                return Forecast(False, 0.0, (beaten + foe.hp - foe_hp) / foes_total)
            beaten += foe.hp
        return Forecast(True, max(sum(max(value, 0.0) for value in hp) / total, 0.0), 1.0)


def _needs(hp: float, most: int, theirs: float) -> bool:
    """Return whether to use a healing item."""
    return hp <= _IN_NEED * theirs and hp < 0.6 * most


def _best(pairs: Sequence[Pair], hp: Sequence[float], pp: Sequence[Sequence[int]]) -> int:
    """Return the fighter that does most to a foe before it faints; -1 if none is left."""
    best = (-1.0, -1)
    for slot, pair in enumerate(pairs):
        if hp[slot] > 0:
            damage = next((one[0] for one in pair.hits if pp[slot][one[1]] > 0), 0.0)
            best = max(best, (min(hp[slot] / max(pair.threat, 0.5), 8.0) * damage, slot))
    return best[1]
