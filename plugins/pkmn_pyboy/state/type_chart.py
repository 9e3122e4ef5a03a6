"""Effectiveness of moves against types, from the tables in the cartridge image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pkmn_pyboy.profile.memory_map import RomTable

_MOVE_BYTES = 7
_MOVE_COUNT = 251
_CHART_END = 0xFF
_CHART_SECOND_PART = 0xFE
BEST_FACTOR = 4.0
"""Maximum factor: super effective on both types."""


@dataclass(frozen=True, slots=True)
class TypeChart:
    """Power and type of each move, and the effectiveness of types: ``factors`` has the pairs that are not 1."""

    moves: Mapping[int, tuple[int, int]]
    factors: Mapping[tuple[int, int], float]

    @classmethod
    def from_rom(cls, data: bytes, tables: Mapping[str, RomTable]) -> TypeChart | None:
        """Read the tables; None if the profile has no addresses of them."""
        if "Moves" not in tables or "TypeMatchups" not in tables:
            return None
        start = tables["Moves"].offset
        moves = {}
        for number in range(1, _MOVE_COUNT + 1):
            entry = data[start + (number - 1) * _MOVE_BYTES : start + number * _MOVE_BYTES]
            if len(entry) == _MOVE_BYTES:
                moves[number] = (entry[2], entry[3])
        factors = {}
        place = tables["TypeMatchups"].offset
        while place + 3 <= len(data) and data[place] != _CHART_END:
            if data[place] == _CHART_SECOND_PART:
                place += 1
                continue
            factors[data[place], data[place + 1]] = data[place + 2] / 10
            place += 3
        return cls(moves, factors)

    def factor(self, move: int, types: Sequence[int]) -> float:
        """Return the factor of a move on a Pokemon of these types, 0..4; 0 for moves that do no damage."""
        power, kind = self.moves.get(move, (0, 0))
        if power == 0:
            return 0.0
        result = 1.0
        for target in set(types):
            result *= self.factors.get((kind, target), 1.0)
        return result

    def best(self, moves: Sequence[int], pp: Sequence[int], types: Sequence[int]) -> float:
        """Return the best factor among the moves with PP left."""
        return max((self.factor(move, types) for move, left in zip(moves, pp, strict=False) if left), default=0.0)
