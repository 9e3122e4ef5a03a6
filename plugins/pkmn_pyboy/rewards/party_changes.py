"""Changes of the party between steps, except for members that were deposited, withdrawn or swapped."""

from __future__ import annotations

from collections.abc import Sequence

from pkmn_pyboy.state.game_state import Party


def same_pokemon(previous: Party, party: Party) -> bool:
    """Return whether both parties hold the same species, in any order. Eggs do not count."""
    return len(previous.members) == len(party.members) and _kinds(previous) == _kinds(party)


class HighestLevels:
    """Highest levels that each species ever had in the party: of the best member, of the second, and so on."""

    def __init__(self) -> None:
        self._marks: dict[int, list[int]] = {}

    def reset(self, party: Party) -> None:
        """Start with the party's levels."""
        self._marks = {}
        self._raise(party)

    def gained(self, previous: Party, party: Party) -> int:
        """Return the levels gained beyond the highest so far, if no member came, left or evolved."""
        raised = self._raise(party)
        return raised if raised and same_pokemon(previous, party) else 0

    def save_state(self) -> list[list[int]]:
        """Return each species' number and its levels, as plain values."""
        return [[species, *levels] for species, levels in self._marks.items()]

    def load_state(self, state: Sequence[Sequence[int]]) -> None:
        """Restore what :meth:`save_state` returned."""
        self._marks = {int(species): [int(level) for level in levels] for species, *levels in state}

    def _raise(self, party: Party) -> int:
        by_species: dict[int, list[int]] = {}
        for member in party.members:
            if not member.egg:
                by_species.setdefault(member.species, []).append(member.level)
        raised = 0
        for species, levels in by_species.items():
            marks = self._marks.setdefault(species, [])
            for place, level in enumerate(sorted(levels, reverse=True)):
                if place == len(marks):
                    marks.append(level)
                elif level > marks[place]:
                    raised += level - marks[place]
                    marks[place] = level
        return raised


def fainted(party: Party) -> int:
    """Return how many members have no HP left. Eggs do not count."""
    return sum(not member.egg and member.hp == 0 for member in party.members)


def able(party: Party) -> int:
    """Return how many members are not eggs."""
    return sum(not member.egg for member in party.members)


def _kinds(party: Party) -> list[int]:
    return sorted(member.species for member in party.members if not member.egg)
