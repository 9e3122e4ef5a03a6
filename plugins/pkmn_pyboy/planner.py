"""From milestones to what can be done now: a tree of goals, each milestone's needs below it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pkmn_pyboy.milestones import Milestone, Target
from pkmn_pyboy.pilot import strength
from pkmn_pyboy.pilot.bag import Bag
from pkmn_pyboy.pilot.damage import BattleTables, Combatant
from pkmn_pyboy.pilot.roads import usable_moves
from pkmn_pyboy.profile import FieldMove

if TYPE_CHECKING:
    from pkmn_pyboy.environment import PokemonEnvironment

MILESTONE, ERRAND, TEACH, CATCH, TRAIN, HEAL = "milestone", "errand", "teach", "catch", "train", "heal"
"""Kinds of goals."""

_BADGE_FIELDS = ("wJohtoBadges", "wKantoBadges")
_BADGES_EACH = 8
_DEPTH = 24
_KEPT_FORECASTS = 2048
_STRONG_ENOUGH = 1.1
_GROWTH = 4
_ENOUGH_ABOVE = 6
_WORTH_CATCHING, _ABOUT_AS_GOOD = 0.25, 0.1


@dataclass(frozen=True, slots=True)
class PlannedGoal:
    """Something to do. ``parents`` are the keys of the goals that it is done for, the milestone first.

    ``number`` is a machine place for TEACH, a level for TRAIN; ``member`` the party place of who is taught or trained;
    ``species`` who would do for CATCH.
    """

    kind: str
    key: str
    title: str
    hint: str = ""
    target: Target | None = None
    number: int = 0
    member: int = 0
    foes: tuple[tuple[int, int], ...] = ()
    """Trainers that TRAIN is for."""
    parents: tuple[str, ...] = ()
    species: tuple[int, ...] = ()

    @property
    def words(self) -> str:
        """The hint, or else the title."""
        return self.hint or self.title


class GoalOrientedPlanner:
    """Turns milestones into goals that can be worked on now.

    A milestone may need things, badges, field moves, levels or errands first; what is missing becomes a goal of its
    own, down to one for which nothing is missing.

    Args:
        environment: the game. Without one there are no goals.
        care: factor on the damage that trainers are expected to do.
    """

    def __init__(self, environment: PokemonEnvironment | None = None, care: float = 1.25) -> None:
        self._environment = environment
        self.care = care
        """Factor on the damage that trainers are expected to do; a pilot raises it when it has lost."""
        self.put_off: frozenset[str] = frozenset()
        """Errands that come after the others of the same goal, while there are others."""
        self._forecasts: dict[object, strength.Forecast] = {}
        self._goals: Mapping[str, Milestone] = {}
        if environment is None:
            return
        profile = environment.profile
        self._goals = {milestone.key: milestone for milestone in profile.milestones} | dict(profile.errands)
        self._sources = {item: goal for goal in reversed(self._goals.values()) for item in goal.gives}
        self._tables = BattleTables(environment.cartridge)
        self._book = strength.TrainerBook(environment.cartridge, self._tables)

    def current(self) -> PlannedGoal | None:
        """What to do now; None when all is reached."""
        goals = self.goals()
        return goals[-1] if goals else None

    def goals(self) -> tuple[PlannedGoal, ...]:
        """The way down the tree: the next milestone, what it needs, what that needs, to what can be done now."""
        environment = self._environment
        if environment is None:
            return ()
        milestone = environment.milestones.current(environment.goal)
        if milestone is None:
            return ()
        bag = Bag.read(environment.emulator, environment.profile.memory)
        found: list[PlannedGoal] = []
        self._expand(milestone, MILESTONE, bag, found)
        return tuple(found)

    def can_wait(self) -> str:
        """Key of the errand nearest to what can be done now that could wait for another one of the same goal.

        Empty where every goal that is worked on has but one errand left.
        """
        environment = self._environment
        if environment is None:
            return ""
        for goal in reversed(self.goals()):
            parent = self._goals.get(goal.parents[-1]) if goal.parents else None
            if parent is None or goal.key not in parent.errands:
                continue
            for key in parent.errands:
                if key != goal.key and not self._goals[key].holds(environment.emulator, environment.state.map_id):
                    return goal.key
        return ""

    def refuse_words(self) -> tuple[str, ...]:
        """Words of questions that are answered no on the way to the current goal."""
        return tuple(
            word for goal in self.goals() if goal.key in self._goals for word in self._goals[goal.key].refuse_words
        )

    def describe(self) -> str:
        """The goals in words, one a line, each below the one that it is for."""
        return "\n".join(f"{'  ' * depth}{goal.words}" for depth, goal in enumerate(self.goals()))

    # The tree -------------------------------------------------------------------------------------------------

    def _expand(self, goal: Milestone, kind: str, bag: Bag, found: list[PlannedGoal]) -> None:
        parents = tuple(one.key for one in found)
        if len(found) >= _DEPTH or goal.key in parents:
            return
        found.append(PlannedGoal(kind, goal.key, goal.name, goal.hint, goal.target, parents=parents))
        needed = self._needed(goal, bag)
        if isinstance(needed, Milestone):
            self._expand(needed, ERRAND, bag, found)
        elif needed is not None:
            parents = tuple(one.key for one in found)
            found.append(replace(needed, key=f"{needed.kind}/{needed.number}", target=goal.target, parents=parents))

    def _needed(self, goal: Milestone, bag: Bag) -> Milestone | PlannedGoal | None:
        """What is missing first: another goal that brings it, or something to do."""
        environment = self._environment
        assert environment is not None
        memory, state = environment.emulator, environment.state
        later: Milestone | None = None
        for key in goal.errands:
            errand = self._goals[key]
            if not errand.holds(memory, state.map_id):
                if key not in self.put_off:
                    return errand
                later = later or errand
        if later is not None:
            return later
        requires = goal.requires
        for item in requires.items:
            source = self._sources.get(item)
            if not bag.has(item) and source is not None and source.key != goal.key:
                return source
        for badge in requires.badges:
            if not self._has_badge(badge):
                giver = self._badge_giver(badge)
                if giver is not None and giver.key != goal.key:
                    return giver
        usable = usable_moves(environment) if requires.field_moves else frozenset()
        for name in requires.field_moves:
            if name not in usable:
                missing = self._field_move(environment.profile.field_moves[name], goal, bag)
                if missing is not None:
                    return missing
        members = [member for member in state.party.members if not member.egg]
        if requires.species and not any(member.species in requires.species for member in members):
            names = environment.profile.names.species
            species = requires.species[0]
            title = f"catch {names.get(species, f'species {species}')}"
            return PlannedGoal(CATCH, "", title, species=requires.species)
        most = max((member.level for member in members), default=0)
        if members and most < requires.min_level:
            title = f"train to level {requires.min_level}"
            return PlannedGoal(TRAIN, "", title, number=requires.min_level, member=self._strongest())
        trainers = [(foe.trainer_class, foe.number) for foe in requires.foes if foe.event < 0 or self._flag(foe.event)]
        return self.training_for(trainers) if members and trainers else None

    def _flag(self, index: int) -> bool:
        """Whether a story flag is set."""
        assert self._environment is not None
        flags = self._environment.profile.memory["wEventFlags"]
        return bool(self._environment.emulator.read(flags.bank, flags.address + (index >> 3), 1)[0] >> (index & 7) & 1)

    def _field_move(self, move: FieldMove, goal: Milestone, bag: Bag) -> Milestone | PlannedGoal | None:
        environment = self._environment
        assert environment is not None
        names = environment.profile.names
        members = environment.state.party.members
        if not any(move.move in member.moves for member in members):
            if not bag.machines.get(move.machine):
                source = self._sources.get(move.item)
                return source if source is not None and source.key != goal.key else None
            kept = {one.move for one in environment.profile.field_moves.values()}
            able = [
                place
                for place, one in enumerate(members)
                if not one.egg and self.learns(one.species, move) and not kept.issuperset(one.moves)
            ]
            called = names.moves.get(move.move, move.name)
            if able:
                place = min(able, key=lambda place: (0 not in members[place].moves, members[place].level))
                return PlannedGoal(TEACH, "", f"teach {called}", number=move.machine, member=place)
            species = tuple(number for number in names.species if number and self.learns(number, move))
            return PlannedGoal(CATCH, "", f"catch one that can learn {called}", species=species)
        if not move.badge.holds(environment.emulator, environment.state.map_id):
            giver = next((one for one in self._goals.values() if move.badge in one.evidence), None)
            return giver if giver is not None and giver.key != goal.key else None
        return None

    def learns(self, species: int, move: FieldMove) -> bool:
        """Whether a species can be taught a field move."""
        known = self._tables.species.get(species)
        return known is not None and move.machine in known.machines

    # Strength -------------------------------------------------------------------------------------------------

    def training_for(self, trainers: Sequence[tuple[int, int]]) -> PlannedGoal | None:
        """Who should train for some trainers, and to which level, or HEAL; None when the party is strong enough.

        Args:
            trainers: class and number of each, fought one after the other.
        """
        environment = self._environment
        if environment is None or environment.settings.knowledge == "seen":
            return None
        foes = [foe for trainer in trainers for foe in self._book.party(*trainer)]
        party = strength.rested(self._tables, environment.state.party)
        if not foes or not party:
            return None
        if self._forecast(party, foes).score >= _STRONG_ENOUGH:
            as_it_is = strength.as_it_is(self._tables, environment.state.party)
            if self._forecast(as_it_is, foes).score >= _STRONG_ENOUGH:
                return None
            return PlannedGoal(HEAL, "", "heal before the fight")
        if max(member.level for member in party) >= max(foe.level for foe in foes) + _ENOUGH_ABOVE:
            return None
        places = [place for place, member in enumerate(environment.state.party.members) if not member.egg]
        most = max(member.level for member in party)
        best = (-1.0, 0, 0)
        for index, one in enumerate(party):
            levels = max(_GROWTH, most - one.level)
            later = [strength.grown(member, levels) if place == index else member for place, member in enumerate(party)]
            score = self._forecast(later, foes).score
            best = max(best, (round(score, 1), one.level**3 - (one.level + levels) ** 3, index))
        level = party[best[2]].level + 1
        member = places[best[2]]
        return PlannedGoal(TRAIN, "", f"train to level {level}", number=level, member=member, foes=tuple(trainers))

    def _forecast(self, party: Sequence[Combatant], foes: Sequence[Combatant]) -> strength.Forecast:
        """How a battle should go; the same question is answered once."""
        key = (tuple(party), tuple(foes), self.care)
        found = self._forecasts.get(key)
        if found is None:
            if len(self._forecasts) >= _KEPT_FORECASTS:
                self._forecasts.clear()
            found = self._forecasts[key] = strength.forecast(self._tables, party, foes, self.care)
        return found

    def recruits_for(self, trainers: Sequence[tuple[int, int]], species: Iterable[int]) -> tuple[int, ...]:
        """Of some species those that would turn the battle against trainers where training alone does not.

        Args:
            trainers: class and number of each.
            species: who could be caught.
        """
        environment = self._environment
        if environment is None:
            return ()
        foes = [foe for trainer in trainers for foe in self._book.party(*trainer)]
        party = strength.rested(self._tables, environment.state.party)
        if not foes or not party:
            return ()
        most = max(member.level for member in party)
        trained = max(
            self._forecast(
                [strength.grown(member, _GROWTH) if place == index else member for place, member in enumerate(party)],
                foes,
            ).score
            for index in range(len(party))
        )
        scores = {
            number: self._forecast([*party, self._book.foe(most, number)], foes).score
            for number in sorted(set(species))
        }
        best = max(scores.values(), default=0.0)
        if best < trained + _WORTH_CATCHING:
            return ()
        return tuple(number for number, score in scores.items() if score >= best - _ABOUT_AS_GOOD)

    def _strongest(self) -> int:
        environment = self._environment
        members = environment.state.party.members if environment is not None else ()
        return max(range(len(members)), key=lambda place: (not members[place].egg, members[place].level), default=0)

    # Badges ---------------------------------------------------------------------------------------------------

    def _has_badge(self, badge: int) -> bool:
        environment = self._environment
        assert environment is not None
        state = environment.state
        badges = state.johto_badges if badge < _BADGES_EACH else state.kanto_badges
        return bool(badges >> badge % _BADGES_EACH & 1)

    def _badge_giver(self, badge: int) -> Milestone | None:
        environment = self._environment
        assert environment is not None
        place = environment.profile.memory.fields.get(_BADGE_FIELDS[badge // _BADGES_EACH])
        for goal in self._goals.values():
            for item in goal.evidence:
                at = place is not None and item.kind == "bit" and item.address == place.address
                if at and item.mask == 1 << badge % _BADGES_EACH:
                    return goal
        return None
