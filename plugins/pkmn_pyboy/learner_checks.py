"""Who can use the field moves that a story needs: first partners, gifts, what is caught for it, and the wild."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import product

from pkmn_pyboy.milestones import Milestone
from pkmn_pyboy.profile import GameProfile
from pkmn_pyboy.world.cartridge import Cartridge
from pkmn_pyboy.world.records import time_of_day
from pkmn_pyboy.world.table_records import TIMES, EvolutionKind

SLOTS = 4
"""Moves that a Pokemon knows at most; a field move is not forgotten again."""

_BY_ITSELF = (EvolutionKind.LEVEL, EvolutionKind.HAPPINESS, EvolutionKind.STAT)
_MOST_PARTNERS = 27


class Learners:
    """Knows who has joined the player by some point of the story, and which field moves they can be taught.

    Args:
        profile: the game.
        cartridge: species, machines and who lives in the wild.
    """

    def __init__(self, profile: GameProfile, cartridge: Cartridge) -> None:
        self._machines = {name: move.machine for name, move in profile.field_moves.items()}
        self._cartridge = cartridge
        self._names = profile.names.species
        self._needed: list[str] = []
        self._choices: list[tuple[int, ...]] = []
        self._sure: list[int] = []
        self._known = any(goal.gives_species for goal in (*profile.milestones, *profile.errands.values()))

    def reached(self, goal: Milestone) -> None:
        """Take in whom reaching a goal brings."""
        if len(goal.gives_species) > 1:
            self._choices.append(goal.gives_species)
        else:
            self._sure += goal.gives_species
        self._sure += goal.catch

    def asks(self, move: str) -> bool:
        """Whether a field move was not asked for before, and enough is known to say who learns it."""
        return move not in self._needed and self._known and bool(self._cartridge.species)

    def need(
        self, move: str, hours: Collection[int], reaches: Callable[[int], bool], *, surfs: bool
    ) -> tuple[str, str]:
        """Return who learns a field move that is needed from now on, and why nobody does where it is so; or nothing.

        Args:
            move: the field move. One that was asked for before is in use already.
            hours: hours of the game's clock that there are by now.
            reaches: tells whether one can walk to a map.
            surfs: whether those on the water can be met.
        """
        if not self.asks(move):
            return "", ""
        self._needed.append(move)
        short: list[tuple[int, ...]] = []
        taught: set[int] = set()
        for chosen in list(product(*self._choices))[:_MOST_PARTNERS]:
            team = [*chosen, *self._sure]
            if self._fits(self._needed, team):
                taught.update(one for one in team if self._learns(one, move))
            else:
                short.append(chosen)
        own = self._words(sorted(taught))
        if not short:
            return f"{move}: {own}", ""
        times = {time_of_day(hour) for hour in hours}
        wild = self._wild(move, surfs=surfs)
        now = {one: maps for one, (there, maps) in wild.items() if there & times}
        for one, maps in now.items():
            place = next((map_id for map_id in maps if reaches(map_id)), None)
            if place is not None:
                self._sure.append(one)
                when = "" if len(wild[one][0]) == len(TIMES) else f" in the {self._times(wild[one][0])}"
                caught = f"{self._words([one])}, caught on {self._cartridge.world.name(place)}{when}"
                return f"{move}: {own + ', or ' if own else ''}{caught}", ""
        return "", self._problem(move, short, wild, now)

    def _problem(
        self,
        move: str,
        short: Sequence[tuple[int, ...]],
        wild: Mapping[int, tuple[set[int], list[int]]],
        now: Collection[int],
    ) -> str:
        """Why nobody learns a move, with one of the partners in ``short``; ``now`` are those met at hours there are."""
        partners = " or ".join(self._words(chosen) for chosen in short if chosen)
        problem = f"nobody who can be had by then learns {move}"
        problem += f" with {partners} for a partner" if partners else ""
        if all(any(self._learns(one, move) for one in (*chosen, *self._sure)) for chosen in short):
            problem += f": {', '.join(self._needed[:-1])} leave no slot for it"
        if now:
            problem += f"; {self._words(now)} could, but there is no way to them"
        elif wild:
            when = self._times(set().union(*(times for times, _ in wild.values())))
            problem += f"; {self._words(wild)} could, but are met in the {when}, and nothing brings that hour"
        return problem

    def _words(self, species: Iterable[int]) -> str:
        return ", ".join(self._names.get(one, f"species {one}") for one in species)

    @staticmethod
    def _times(times: Iterable[int]) -> str:
        return " or ".join(TIMES[time] for time in sorted(times))

    def _fits(self, moves: Sequence[str], team: Sequence[int]) -> bool:
        """Whether each move finds a learner with a slot left."""

        def place(index: int, free: tuple[int, ...]) -> bool:
            if index == len(moves):
                return True
            return any(
                room and self._learns(one, moves[index]) and place(index + 1, (*free[:at], room - 1, *free[at + 1 :]))
                for at, (one, room) in enumerate(zip(team, free, strict=True))
            )

        return place(0, (SLOTS,) * len(team))

    def _learns(self, species: int, move: str) -> bool:
        """Whether a species, or what becomes of it by itself, learns a field move."""
        return any(
            self._machines[move] in known.machines
            for one in self._line(species)
            if (known := self._cartridge.species.get(one)) is not None
        )

    def _line(self, species: int) -> list[int]:
        line = [species]
        for one in line:
            known = self._cartridge.species.get(one)
            for evolution in known.evolutions if known is not None else ():
                if evolution.kind in _BY_ITSELF and evolution.species not in line:
                    line.append(evolution.species)
        return line

    def _wild(self, move: str, *, surfs: bool) -> dict[int, tuple[set[int], list[int]]]:
        """Species in the wild that learn a move, with the times of day at which they are met, and on which maps."""
        found: dict[int, tuple[set[int], list[int]]] = {}
        for table in self._cartridge.wild:
            if table.water and not surfs:
                continue
            for time in range(len(TIMES)):
                for slot in table.at(time):
                    if slot.chance and self._learns(slot.species, move):
                        times, maps = found.setdefault(slot.species, (set(), []))
                        times.add(time)
                        maps += [table.map_id] if table.map_id not in maps else []
        return found
