"""Learners of the field moves that a story needs: first partners, gifts, catches for goals, and the wild."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import product

from pkmn_pyboy.profile.milestones import Milestone
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.rules_gen2.clock import TIMES, time_of_day
from pkmn_pyboy.rules_gen2.records import EvolutionKind
from pkmn_pyboy.world.cartridge import Cartridge

SLOTS = 4
"""Maximum moves of a Pokemon; a field move is never forgotten."""

_BY_ITSELF = (EvolutionKind.LEVEL, EvolutionKind.HAPPINESS, EvolutionKind.STAT)
_MOST_PARTNERS = 27


class Learners:
    """Pokemon that have joined the player by some point of the story, with the field moves that they can learn.

    Args:
        profile: the game.
        cartridge: species, machines and wild Pokemon.
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
        """Add the Pokemon that a goal gives."""
        if len(goal.gives_species) > 1:
            self._choices.append(goal.gives_species)
        else:
            self._sure += goal.gives_species
        self._sure += goal.catch

    def asks(self, move: str) -> bool:
        """Return True if a field move is needed for the first time, and the learners are known."""
        return move not in self._needed and self._known and bool(self._cartridge.species)

    def need(
        self, move: str, hours: Collection[int], reaches: Callable[[int], bool], *, surfs: bool
    ) -> tuple[str, str]:
        """Return the learner of a field move that is needed from now on, and the problem if there is none; or empty.

        Args:
            move: the field move. One that was needed before is already in use.
            hours: hours that the game's clock has by now.
            reaches: returns True if the player can walk to a map.
            surfs: True if Pokemon on the water can be met.
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
        """Return the problem of a move with the partners in ``short``; ``now`` are wild learners at possible hours."""
        partners = " or ".join(self._words(chosen) for chosen in short if chosen)
        problem = f"no Pokemon available by then learns {move}"
        problem += f" with {partners} as partner" if partners else ""
        if all(any(self._learns(one, move) for one in (*chosen, *self._sure)) for chosen in short):
            problem += f": {', '.join(self._needed[:-1])} leave no slot"
        if now:
            problem += f"; {self._words(now)} could, but there is no route to them"
        elif wild:
            when = self._times(set().union(*(times for times, _ in wild.values())))
            problem += f"; {self._words(wild)} could, but are met in the {when}, which the clock never shows"
        return problem

    def _words(self, species: Iterable[int]) -> str:
        return ", ".join(self._names.get(one, f"species {one}") for one in species)

    @staticmethod
    def _times(times: Iterable[int]) -> str:
        return " or ".join(TIMES[time] for time in sorted(times))

    def _fits(self, moves: Sequence[str], team: Sequence[int]) -> bool:
        """Return True if each move finds a learner with a free slot."""

        def place(index: int, free: tuple[int, ...]) -> bool:
            if index == len(moves):
                return True
            return any(
                room and self._learns(one, moves[index]) and place(index + 1, (*free[:at], room - 1, *free[at + 1 :]))
                for at, (one, room) in enumerate(zip(team, free, strict=True))
            )

        return place(0, (SLOTS,) * len(team))

    def _learns(self, species: int, move: str) -> bool:
        """Return True if a species, or a natural evolution of it, learns a field move."""
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
        """Return wild species that learn a move, with the times of day and the maps at which they are met."""
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
