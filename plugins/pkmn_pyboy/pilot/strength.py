"""Is the party strong enough for the next trainers? Plays the battle out in expected damage, both sides at best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pkmn_pyboy.pilot.damage import BattleTables, Combatant, guessed_stats
from pkmn_pyboy.pilot.new_moves import MOVE_PLACES
from pkmn_pyboy.state.game_state import Party
from pkmn_pyboy.world.cartridge import Cartridge

_DV = 8
_MOST_TURNS = 60


@dataclass(frozen=True, slots=True)
class Forecast:
    """How a battle should go: ``left`` is the share of the party's hit points that stays, ``beaten`` of the foes'."""

    won: bool
    left: float
    beaten: float

    @property
    def score(self) -> float:
        """The two as one number, 0 to 2: above 1 where it is won."""
        return 1.0 + self.left if self.won else self.beaten


class TrainerBook:
    """Trainers' parties as the cartridge image has them.

    Args:
        cartridge: the image.
        tables: moves, types and species.
    """

    def __init__(self, cartridge: Cartridge, tables: BattleTables) -> None:
        self._trainers = cartridge.trainers
        self._tables = tables

    def party(self, trainer_class: int, number: int) -> tuple[Combatant, ...]:
        """The party of a trainer, both counted from 1; empty where the image doesn't tell."""
        trainer = self._trainers.get((trainer_class, number))
        return tuple(self.foe(one.level, one.species, one.moves) for one in trainer.party) if trainer else ()

    def foe(self, level: int, species: int, moves: Sequence[int] = ()) -> Combatant:
        """A Pokemon of a level with middling values; without moves, those that it last learnt."""
        known = self._tables.species.get(species)
        if known is None:
            return Combatant(level, 1, 1, 0, (), guessed_stats(level), tuple(moves), (1,) * len(moves))
        if not moves:
            learnt = [move for at, move in known.learns if at <= level]
            moves = list(dict.fromkeys(reversed(learnt)))[:MOVE_PLACES]
        base = (known.attack, known.defense, known.speed, known.special_attack, known.special_defense)
        hp = (known.hp + _DV) * 2 * level // 100 + level + 10
        stats = tuple((value + _DV) * 2 * level // 100 + 5 for value in base)
        return Combatant(level, hp, hp, 0, known.types, stats, tuple(moves), (1,) * len(moves))


def forecast(tables: BattleTables, party: Sequence[Combatant], foes: Sequence[Combatant], care: float) -> Forecast:
    """How a battle should go.

    Args:
        tables: moves and types.
        party: who can fight, as they are.
        foes: in their order.
        care: factor on the foes' damage.
    """
    own = [member for member in party if member.hp > 0]
    hp = [float(member.hp) for member in own]
    total = sum(member.max_hp for member in own) or 1
    foes_total = sum(foe.max_hp for foe in foes) or 1
    beaten = 0.0
    for foe in foes:
        foe_hp = float(foe.hp)
        turns = 0
        out = -1
        while foe_hp > 0 and turns < _MOST_TURNS:
            if out < 0 or hp[out] <= 0:
                fresh = out >= 0
                out = _best(tables, own, hp, foe)
                if out < 0:
                    return Forecast(False, 0.0, (beaten + foe.hp - foe_hp) / foes_total)
                if fresh:
                    turns += 1
            mine = _best_damage(tables, own[out], foe)
            theirs = care * tables.threat(foe, own[out])
            if own[out].stats[2] >= foe.stats[2]:
                foe_hp -= mine
                if foe_hp > 0:
                    hp[out] -= theirs
            else:
                hp[out] -= theirs
                if hp[out] > 0:
                    foe_hp -= mine
            turns += 1
        if foe_hp > 0:
            return Forecast(False, 0.0, (beaten + foe.hp - foe_hp) / foes_total)
        beaten += foe.hp
    return Forecast(True, max(sum(max(value, 0.0) for value in hp) / total, 0.0), 1.0)


def rested(tables: BattleTables, party: Party) -> list[Combatant]:
    """The party as it is after a healer."""
    return [
        replace(tables.member(member), hp=member.max_hp, status=0, pp=(1,) * len(member.moves))
        for member in party.members
        if not member.egg
    ]


def as_it_is(tables: BattleTables, party: Party) -> list[Combatant]:
    """The party as it stands now."""
    return [tables.member(member) for member in party.members if not member.egg]


def grown(member: Combatant, levels: int) -> Combatant:
    """A member some levels later, its stats in proportion."""
    share = (member.level + levels) / max(member.level, 1)
    return replace(
        member,
        level=member.level + levels,
        hp=int(member.max_hp * share),
        max_hp=int(member.max_hp * share),
        stats=tuple(int(value * share) for value in member.stats),
    )


def _best(tables: BattleTables, own: Sequence[Combatant], hp: Sequence[float], foe: Combatant) -> int:
    """Who of those that stand does most against a foe before it falls."""
    best = (-1.0, -1)
    for place, member in enumerate(own):
        if hp[place] > 0:
            threat = max(tables.threat(foe, member), 0.5)
            best = max(best, (min(hp[place] / threat, 8.0) * _best_damage(tables, member, foe), place))
    return best[1]


def _best_damage(tables: BattleTables, own: Combatant, foe: Combatant) -> float:
    return max((tables.damage(own, move, foe) for move in own.moves if move), default=0.0)
