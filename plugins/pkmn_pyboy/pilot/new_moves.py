"""Learning a fifth move: which one to give up for it, or to leave it. Moves that open ways are never given up."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pkmn_pyboy.pilot import damage
from pkmn_pyboy.pilot.damage import BattleTables, Move
from pkmn_pyboy.state.game_state import Party, PartyMember
from pkmn_pyboy.state.memory_map import RomTable

MOVE_PLACES = 4

_SAME_TYPE = 1.5
_SAME_TYPE_AGAIN = 0.45
_WORTH = {damage.EFFECT_SLEEP: 45.0, damage.EFFECT_HEAL: 45.0, damage.EFFECT_PARALYZE: 30.0, damage.EFFECT_TOXIC: 25.0}
_OTHER_WORTH = 12.0
_CLEARLY = 1.1
_SPECIES_COUNT = 251


class Learnsets:
    """The moves that each species learns by level, read from the cartridge image.

    Args:
        data: the image.
        tables: where its tables stand.
    """

    def __init__(self, data: bytes, tables: Mapping[str, RomTable]) -> None:
        self._data = data
        self._table = tables.get("EvosAttacks")
        self._known: dict[int, tuple[tuple[int, int], ...]] = {}

    def of(self, species: int) -> tuple[tuple[int, int], ...]:
        """(level, move) pairs of a species in the order of the table."""
        if species not in self._known:
            self._known[species] = self._read(species)
        return self._known[species]

    def _read(self, species: int) -> tuple[tuple[int, int], ...]:
        if self._table is None or not 0 < species <= _SPECIES_COUNT:
            return ()
        data, start = self._data, self._table.offset + (species - 1) * 2
        place = self._table.bank * 0x4000 + int.from_bytes(data[start : start + 2], "little") - 0x4000
        while place < len(data) and data[place]:
            place += 4 if data[place] == 5 else 3
        place += 1
        pairs = []
        while place + 1 < len(data) and data[place]:
            pairs.append((data[place], data[place + 1]))
            place += 2
        return tuple(pairs)


def learner(party: Party, learnsets: Learnsets) -> tuple[int, int] | None:
    """(place, move) of the member that is asked about now: it has four moves and learns another at its level."""
    for place, member in enumerate(party.members):
        if member.egg or 0 in member.moves:
            continue
        for level, move in learnsets.of(member.species):
            if level == member.level and move not in member.moves:
                return place, move
    return None


def to_forget(tables: BattleTables, member: PartyMember, new: int, keep: Collection[int]) -> int | None:
    """Place of the move to give up for a new one; None when the new one is not worth it.

    Args:
        tables: moves and types.
        member: who learns.
        new: the move.
        keep: moves that are never given up, such as those that open ways.
    """
    forced = new in keep and new not in member.moves
    types = tables.types_of(member.species)
    before = team_worth(tables, member.moves, types)
    best: tuple[float, int] | None = None
    for place, old in enumerate(member.moves):
        if old in keep:
            continue
        moves = [new if place == one else move for one, move in enumerate(member.moves)]
        worth = team_worth(tables, moves, types)
        if best is None or worth > best[0]:
            best = (worth, place)
    if best is None or not (forced or best[0] > before * _CLEARLY or best[0] > before + 8):
        return None
    return best[1]


def team_worth(tables: BattleTables, moves: Sequence[int], types: Sequence[int]) -> float:
    """What some moves are worth together: a second one of a type counts for little."""
    by_type: dict[int, int] = {}
    total = 0.0
    worths = sorted(((move_worth(tables.moves.get(move), types), move) for move in moves if move), reverse=True)
    for worth, number in worths:
        move = tables.moves.get(number)
        if move is None:
            continue
        kind = move.type if move.power else -1
        total += worth * _SAME_TYPE_AGAIN ** by_type.get(kind, 0)
        by_type[kind] = by_type.get(kind, 0) + 1
    return total


def move_worth(move: Move | None, types: Sequence[int]) -> float:
    """What a move is worth alone to a Pokemon of these types: power a turn, its own types' bonus counted."""
    if move is None:
        return 0.0
    if not move.power:
        return _WORTH.get(move.effect, _OTHER_WORTH) * move.accuracy
    bonus = _SAME_TYPE if move.type in types else 1.0
    return move.power * move.accuracy * bonus * damage.turn_share(move.effect)
