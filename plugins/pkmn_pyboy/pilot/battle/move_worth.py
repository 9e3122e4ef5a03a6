"""Value of moves, and the choice of the move to give up for a fifth one. Field moves are never given up."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pkmn_pyboy.pilot.battle.tables import BattleTables
from pkmn_pyboy.rules_gen2.move_effects import Effect, hits, turn_share, typical_power
from pkmn_pyboy.rules_gen2.records import MoveData
from pkmn_pyboy.state.game_state import Party, PartyMember

_SAME_TYPE = 1.5
_SAME_TYPE_AGAIN = 0.45
_WORTH: Mapping[int, float] = {Effect.SLEEP: 45.0, Effect.HEAL: 45.0, Effect.PARALYZE: 30.0, Effect.TOXIC: 25.0}
_BYTE = 255
_OTHER_WORTH = 12.0
_CLEARLY = 1.1


def learner(party: Party, tables: BattleTables) -> tuple[int, int] | None:
    """Return (slot, move) of the member asked about now: it has four moves and learns another at its level."""
    for slot, member in enumerate(party.members):
        if member.egg or 0 in member.moves:
            continue
        known = tables.species.get(member.species)
        for level, move in known.learns if known is not None else ():
            if level == member.level and move not in member.moves:
                return slot, move
    return None


def to_forget(tables: BattleTables, member: PartyMember, new: int, keep: Collection[int]) -> int | None:
    """Return the slot of the move to give up for a new one; None if the new one is not worth it.

    Args:
        tables: moves and types.
        member: the learner.
        new: the move.
        keep: moves that are never given up, such as field moves.
    """
    forced = new in keep and new not in member.moves
    types = tables.types_of(member.species)
    before = team_worth(tables, member.moves, types)
    best: tuple[float, int] | None = None
    for slot, old in enumerate(member.moves):
        if old in keep:
            continue
        moves = [new if slot == one else move for one, move in enumerate(member.moves)]
        worth = team_worth(tables, moves, types)
        if best is None or worth > best[0]:
            best = (worth, slot)
    if best is None or not (forced or best[0] > before * _CLEARLY or best[0] > before + 8):
        return None
    return best[1]


def team_worth(tables: BattleTables, moves: Sequence[int], types: Sequence[int]) -> float:
    """Return the joint value of some moves: a second move of a type adds little."""
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


def move_worth(move: MoveData | None, types: Sequence[int]) -> float:
    """Return the value of a single move to a Pokemon of these types: power a turn with its own types' bonus."""
    if move is None:
        return 0.0
    if not move.power:
        return _WORTH.get(move.effect, _OTHER_WORTH) * move.accuracy / _BYTE
    bonus = _SAME_TYPE if move.type in types else 1.0
    often = hits(move.effect) * turn_share(move.effect)
    return typical_power(move) * move.accuracy / _BYTE * bonus * often
