"""What changed in the party from one step to the next, told apart from who was put away, fetched or swapped."""

from __future__ import annotations

from collections.abc import Sequence

from pkmn_pyboy.state.game_state import Party


def same_pokemon(previous: Party, party: Party) -> bool:
    """Whether both hold the same kinds of Pokemon, in whatever order. Eggs do not count."""
    return len(previous.members) == len(party.members) and _kinds(previous) == _kinds(party)


class HighestLevels:
    """The highest level that each kind of Pokemon ever had in the party: of the best one, of the second, and so on."""

    def __init__(self) -> None:
        self._marks: dict[int, list[int]] = {}

    def reset(self, party: Party) -> None:
        """Begins with the levels that are there."""
        self._marks = {}
        self._raise(party)

    def gained(self, previous: Party, party: Party) -> int:
        """Levels beyond the highest so far that the party gained, without anyone coming, going or evolving."""
        raised = self._raise(party)
        return raised if raised and same_pokemon(previous, party) else 0

    def save_state(self) -> list[list[int]]:
        """Plain values: for each kind its number and its levels."""
        return [[species, *levels] for species, levels in self._marks.items()]

    def load_state(self, state: Sequence[Sequence[int]]) -> None:
        """Goes on from :meth:`save_state`."""
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
    """How many have no hit points left. Eggs do not count."""
    return sum(not member.egg and member.hp == 0 for member in party.members)


def able(party: Party) -> int:
    """How many there are that are no eggs."""
    return sum(not member.egg for member in party.members)


def _kinds(party: Party) -> list[int]:
    return sorted(member.species for member in party.members if not member.egg)
