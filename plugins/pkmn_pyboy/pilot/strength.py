"""Is the party strong enough for the next trainers? Plays the battle out in expected damage, both sides at best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pkmn_pyboy.pilot.damage import BattleTables, Combatant
from pkmn_pyboy.pilot.new_moves import MOVE_PLACES, Learnsets
from pkmn_pyboy.state.game_state import Party
from pkmn_pyboy.state.memory_map import RomTable

_TABLES = ("TrainerGroups", "Trainers")
_NAME_END, _PARTY_END = 0x50, 0xFF
_WITH_MOVES, _WITH_ITEM = 1, 2
_MEMBER_MOST = 6
_DV = 8
_STATS = 6
_SPECIES_BYTES = 32
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
        data: the image.
        rom_tables: where its tables stand.
        tables: moves, types and species.
    """

    def __init__(self, data: bytes, rom_tables: Mapping[str, RomTable], tables: BattleTables) -> None:
        self._data = data
        self._table = next((rom_tables[name] for name in _TABLES if name in rom_tables), None)
        self._base = rom_tables.get("BaseData")
        self._tables = tables
        self._learnsets = Learnsets(data, rom_tables)

    def party(self, trainer_class: int, number: int) -> tuple[Combatant, ...]:
        """The party of a trainer, both counted from 1; empty where the image doesn't tell."""
        if self._table is None or self._base is None or trainer_class < 1 or number < 1:
            return ()
        data, table = self._data, self._table
        start = table.offset + (trainer_class - 1) * 2
        place = table.bank * 0x4000 + int.from_bytes(data[start : start + 2], "little") - 0x4000
        for _ in range(number - 1):
            place = self._after(place)
        return tuple(self.foe(level, species, moves) for level, species, moves in self._members(place))

    def foe(self, level: int, species: int, moves: Sequence[int] = ()) -> Combatant:
        """A Pokemon of a level with middling values; without moves, those that it last learnt."""
        start = self._base.offset + (species - 1) * _SPECIES_BYTES + 1 if self._base is not None else 0
        hp, *stats = ((value + _DV) * 2 * level // 100 for value in self._data[start : start + _STATS])
        if not moves:
            learnt = [move for at, move in self._learnsets.of(species) if at <= level]
            moves = list(dict.fromkeys(reversed(learnt)))[:MOVE_PLACES]
        attack, defence, speed, special_attack, special_defence = (value + 5 for value in stats)
        return Combatant(
            level,
            hp + level + 10,
            hp + level + 10,
            0,
            self._tables.types_of(species),
            (attack, defence, speed, special_attack, special_defence),
            tuple(moves),
            (1,) * len(moves),
        )

    def _after(self, place: int) -> int:
        end = self._data.find(_PARTY_END, self._data.find(_NAME_END, place))
        return end + 1

    def _members(self, place: int) -> Iterable[tuple[int, int, tuple[int, ...]]]:
        data = self._data
        place = data.find(_NAME_END, place) + 1
        kind = data[place]
        place += 1
        for _ in range(_MEMBER_MOST):
            if place + 1 >= len(data) or data[place] == _PARTY_END:
                return
            level, species = data[place], data[place + 1]
            place += 2 + int(bool(kind & _WITH_ITEM))
            moves: tuple[int, ...] = ()
            if kind & _WITH_MOVES:
                moves = tuple(move for move in data[place : place + MOVE_PLACES] if move)
                place += MOVE_PLACES
            yield level, species, moves


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
