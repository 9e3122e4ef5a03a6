"""Field moves of the goals: who can learn them, and what is missing to use them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.battle.tables import BattleTables
from pkmn_pyboy.pilot.goals.plans import CATCH
from pkmn_pyboy.pilot.goals.tasks import TEACH, PlannedGoal
from pkmn_pyboy.profile.milestones import Milestone
from pkmn_pyboy.profile.model import FieldMove
from pkmn_pyboy.state.bag import Bag
from pkmn_pyboy.state.game_state import PartyMember

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

_MILESTONES_AHEAD = 8


class FieldMoves:
    """Field moves that goals require.

    Args:
        game: the running game.
        tables: species of the image, with the machines that teach them.
        goals: milestones and errands by key.
        sources: goal that gives an item, by item.
    """

    def __init__(
        self, game: Game, tables: BattleTables, goals: Mapping[str, Milestone], sources: Mapping[int, Milestone]
    ) -> None:
        self._game = game
        self._tables = tables
        self._goals = goals
        self._sources = sources
        self._providers: dict[str, frozenset[str]] = {}
        self._learners_key: object = None
        self._learners: tuple[int, ...] = ()

    def learns(self, species: int, move: FieldMove) -> bool:
        """Return True if a species can be taught a field move."""
        known = self._tables.species.get(species)
        return known is not None and move.machine in known.machines

    def learners_to_come(self) -> tuple[int, ...]:
        """Return species that can learn a field move that the next milestones need and no party member can learn."""
        game = self._game
        tracker, members = game.milestones, game.state.party.members
        key = (tracker.count, tuple((one.species, one.moves) for one in members))
        if key != self._learners_key:
            ahead = [
                one
                for one, step in zip(tracker.milestones, tracker.steps, strict=True)
                if step < 0 and not one.optional
            ][:_MILESTONES_AHEAD]
            moves = {name for goal in ahead for name in goal.requires.field_moves}
            missing = [move for move in map(game.profile.field_moves.__getitem__, sorted(moves))
                       if not any(self._can_use(one, move) for one in members)]  # fmt: skip
            found = (one for move in missing for one in self._tables.species if self.learns(one, move))
            self._learners_key, self._learners = key, tuple(dict.fromkeys(found)) if members else ()
        return self._learners

    def _can_use(self, member: PartyMember, move: FieldMove) -> bool:
        """Return True if a member knows a field move, or can be taught it."""
        return self._knows(member, move) or self._can_learn(member, move)

    @staticmethod
    def _knows(member: PartyMember, move: FieldMove) -> bool:
        """Return True if a member knows a field move. An egg uses none, even one that it has inherited."""
        return move.move in member.moves and not member.egg

    def _can_learn(self, member: PartyMember, move: FieldMove) -> bool:
        """Return True if a member can be taught a field move, and has another move than field moves to forget."""
        kept = {one.move for one in self._game.profile.field_moves.values()}
        return not member.egg and self.learns(member.species, move) and not kept.issuperset(member.moves)

    def needed(self, move: FieldMove, goal: Milestone, bag: Bag) -> Milestone | PlannedGoal | None:
        """Return the first thing that is missing to use a field move for a goal: a goal that gives it, or a task."""
        game = self._game
        names = game.profile.names
        members = game.state.party.members
        if not any(self._knows(member, move) for member in members):
            if not bag.machines.get(move.machine):
                source = self._sources.get(move.item)
                return source if source is not None and source.key != goal.key else None
            able = [place for place, one in enumerate(members) if self._can_learn(one, move)]
            called = names.moves.get(move.move, move.name)
            if able:
                place = min(able, key=lambda place: (0 not in members[place].moves, members[place].level))
                return PlannedGoal(TEACH, "", f"teach {called}", number=move.machine, member=place)
            species = tuple(number for number in names.species if number and self.learns(number, move))
            return PlannedGoal(CATCH, "", f"catch a Pokemon that can learn {called}", species=species)
        if not move.badge.holds(game.emulator, game.state.map_id):
            giver = next((one for one in self._goals.values() if move.badge in one.evidence), None)
            return giver if giver is not None and giver.key != goal.key else None
        return None

    def providers_of(self, name: str) -> frozenset[str]:
        """Return the keys of all goals that give a field move or come before one that does: they cannot need it."""
        found = self._providers.get(name)
        if found is None:
            field_moves = self._game.profile.field_moves
            keys: set[str] = set()
            queue = self._bringing(field_moves[name])
            while queue:
                goal = queue.pop()
                if goal.key in keys:
                    continue
                keys.add(goal.key)
                queue += [self._goals[key] for key in (*goal.needs, *goal.errands)]
                queue += [self._sources[item] for item in goal.requires.items if item in self._sources]
                for move in goal.requires.field_moves:
                    queue += self._bringing(field_moves[move])
            found = self._providers[name] = frozenset(keys)
        return found

    def _bringing(self, move: FieldMove) -> list[Milestone]:
        """Return the goals that give a field move's machine and its badge."""
        givers = [goal for goal in self._goals.values() if move.badge in goal.evidence][:1]
        source = self._sources.get(move.item)
        return givers if source is None else [source, *givers]
