"""Planner from milestones to the next task: a tree of goals, with each milestone's needs below it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.battle.tables import BattleTables
from pkmn_pyboy.pilot.goals.field_moves import FieldMoves
from pkmn_pyboy.pilot.goals.plans import BUY, CATCH, RIVAL, TRAIN
from pkmn_pyboy.pilot.goals.readiness import Readiness
from pkmn_pyboy.pilot.goals.tasks import ERRAND, MILESTONE, PlannedGoal, goal_of_plan
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.profile.milestones import Milestone, Target
from pkmn_pyboy.rules_gen2.clock import time_of_day
from pkmn_pyboy.rules_gen2.records import WildTable
from pkmn_pyboy.rules_gen2.slots import PARTY_SLOTS
from pkmn_pyboy.state.bag import Bag
from pkmncli.errors import ConfigurationError

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game, HasGame

_BADGE_FIELDS = ("wJohtoBadges", "wKantoBadges")
_BADGES_EACH = 8
_DEPTH = 24
_TIMES = range(3)
_SKIP, _TEST, _KEEP = range(3)
"""Modes of the party's strength check: skipped, tested, or tested with its plan kept."""
_OUTSIDE = (CATCH, TRAIN, RIVAL, BUY)


class GoalOrientedPlanner:
    """Planner that turns milestones into goals for now.

    A milestone may first need items, badges, field moves, levels or errands; each missing one becomes a goal below it,
    down to a goal that needs nothing.

    Args:
        environment: the environment, or its game. Without one there are no goals.
        settings: the pilot's; defaults if None.

    Raises:
        ConfigurationError: no target has as many choices as the setting ``partner`` says.
    """

    def __init__(self, environment: HasGame | None = None, settings: PilotSettings | None = None) -> None:
        settings = settings or PilotSettings()
        self._game = game = environment.game if environment is not None else None
        self._partner = settings.partner
        self.put_off: frozenset[str] = frozenset()
        """Errands that come after the others of the same goal, while there are others."""
        self._strength = _TEST
        self.barren_times: Callable[[Collection[int]], frozenset[int]] = lambda _: frozenset()
        """Callback that returns the times of day at which a hunt for some species failed."""
        self._goals: Mapping[str, Milestone] = {}
        self._indices: Mapping[str, int] = {}
        if game is None:
            return
        profile = game.profile
        self._indices = {milestone.key: place for place, milestone in enumerate(profile.milestones)}
        self._goals = {milestone.key: milestone for milestone in profile.milestones} | dict(profile.errands)
        self._sources = {item: goal for goal in reversed(self._goals.values()) for item in goal.gives}
        targets = (goal.target for goal in self._goals.values() if goal.target is not None)
        most = max((len(target.choices) for target in targets), default=0)
        if self._partner > most:
            raise ConfigurationError(f"setting 'partner' = {self._partner}: {profile.name} has {most} to choose from")
        self.tables = BattleTables(game.cartridge)
        """Moves, types and species of the image."""
        self.readiness = Readiness(game, settings, self.tables)
        """Check of the party's strength, and the plan to improve it."""
        self.field_moves = FieldMoves(game, self.tables, self._goals, self._sources)
        """Field moves that goals require."""

    def current(self) -> PlannedGoal | None:
        """Return the goal for now; None if all are reached."""
        goals = self.goals()
        return goals[-1] if goals else None

    def goals(self, *, keep: bool = False) -> tuple[PlannedGoal, ...]:
        """Return the path down the tree: the next milestone, what it needs, what that needs, to the goal for now.

        Args:
            keep: True to keep new plans for the party's strength, for the caller that follows them. Else the call
                changes nothing.
        """
        return self._tree(_KEEP if keep else _TEST)

    def _tree(self, strength: int) -> tuple[PlannedGoal, ...]:
        game = self._game
        if game is None:
            return ()
        milestone = game.milestones.current(game.goal)
        if milestone is None:
            return ()
        bag = game.bag()
        found: list[PlannedGoal] = []
        self._strength = strength
        self._expand(milestone, MILESTONE, bag, found)
        return tuple(found)

    def can_wait(self) -> str:
        """Return the key of the errand nearest to the goal for now that could wait for another one of the same goal.

        Empty if every current goal has only one errand left.
        """
        game = self._game
        if game is None:
            return ""
        for goal in reversed(self.goals()):
            parent = self._goals.get(goal.parents[-1]) if goal.parents else None
            if parent is None or goal.key not in parent.errands:
                continue
            for key in parent.errands:
                if key != goal.key and not self._goals[key].holds(game.emulator, game.state.map_id):
                    return goal.key
        return ""

    def refuse_words(self) -> tuple[str, ...]:
        """Return words of questions that are answered no for the current goals."""
        return tuple(
            word for goal in self._tree(_SKIP) if goal.key in self._goals for word in self._goals[goal.key].refuse_words
        )

    def species_to_catch(self, goals: Sequence[PlannedGoal] | None = None) -> tuple[int, ...]:
        """Return the species to catch for the current goals that are not in the party.

        Args:
            goals: the current goals, if they are known.
        """
        game = self._game
        if game is None:
            return ()
        there = {member.species for member in game.state.party.members}
        tree = self._tree(_SKIP) if goals is None else goals
        wanted = (number for goal in tree if goal.key in self._goals for number in self._goals[goal.key].catch)
        return tuple(dict.fromkeys(number for number in wanted if number not in there))

    def supplies(self, goals: Sequence[PlannedGoal] | None = None) -> dict[int, int]:
        """Return the number of each item to carry for the current goals.

        Args:
            goals: the current goals, if they are known.
        """
        wanted: dict[int, int] = {}
        for goal in self._tree(_SKIP) if goals is None else goals:
            for item, count in self._goals[goal.key].supplies if goal.key in self._goals else ():
                wanted[item] = max(wanted.get(item, 0), count)
        return wanted

    def describe(self) -> str:
        """Return the goals in words, one a line, each below the one that it serves."""
        return "\n".join(f"{'  ' * depth}{goal.words}" for depth, goal in enumerate(self.goals()))

    @property
    def _running(self) -> Game:
        """Running game, where there must be one."""
        assert self._game is not None
        return self._game

    # The tree -----------------------------------------------------------------------------------------------

    def _expand(
        self, goal: Milestone, kind: str, bag: Bag, found: list[PlannedGoal], moves: tuple[str, ...] = ()
    ) -> None:
        """Add a goal and what it needs first. ``moves`` are field moves that its route may use, from above."""
        parents = tuple(one.key for one in found)
        if len(found) >= _DEPTH or goal.key in parents:
            return
        target = self._target_now(goal.target)
        case = goal.target.value(self._running.emulator) if goal.target is not None else -1
        found.append(PlannedGoal(kind, goal.key, goal.name, goal.hint, target, parents=parents, case=case))
        moves = tuple(dict.fromkeys((*moves, *goal.requires.field_moves)))
        needed = self._needed(goal, moves, bag)
        if isinstance(needed, Milestone):
            below = moves if needed.key in goal.errands else ()
            below = tuple(move for move in below if needed.key not in self.field_moves.providers_of(move))
            self._expand(needed, ERRAND, bag, found, below)
        elif needed is not None and not (needed.kind in _OUTSIDE and self._locked_in()):
            parents = tuple(one.key for one in found)
            found.append(
                replace(needed, key=f"{needed.kind}/{needed.number}", target=needed.target or target, parents=parents)
            )
            waits = self._errand_for_hour(needed) if needed.kind == CATCH else None
            if waits is not None:
                self._expand(waits, ERRAND, bag, found)

    def _locked_in(self) -> bool:
        """Return True if the player is in a room that locks: the fights continue with the present party."""
        game = self._running
        return any(game.state.map_id in locked.rooms for locked in game.profile.locked_rooms)

    def _target_now(self, target: Target | None) -> Target | None:
        """Return a target for now: its case, the choice, or the entrance if its room locks."""
        game = self._running
        if target is None:
            return None
        here = game.state.map_id
        for locked in game.profile.locked_rooms:
            if target.map_id in locked.rooms and here != locked.enter and here not in locked.rooms:
                return Target(locked.enter)
        return target.now(game.emulator, self._partner)

    def is_over(self, errand: Milestone) -> bool:
        """Return True if an errand is done, or no longer needed."""
        game = self._running
        memory, map_id = game.emulator, game.state.map_id
        if errand.holds(memory, map_id):
            return True
        return any(self._is_reached(key) or self._goals[key].holds(memory, map_id) for key in errand.over_with)

    def _is_reached(self, key: str) -> bool:
        """Return True if a milestone was reached in this episode."""
        place = self._indices.get(key, -1)
        return place >= 0 and self._running.milestones.steps[place] >= 0

    def _errand_for_hour(self, goal: PlannedGoal) -> Milestone | None:
        """Return the errand that sets the hour at which one of some species lives; None if one lives now."""
        game = self._running
        hour = game.hour()
        errands = [one for one in self._goals.values() if one.gives_hour >= 0 and all(map(self._is_reached, one.needs))]
        if hour is None or not errands:
            return None
        if game.knowledge == "seen":
            # The times of day of the species are unknown, but a long hunt without success shows that it is the wrong
            # one.
            barren = self.barren_times(goal.species)
            times = frozenset(_TIMES) - barren if barren else barren
        else:
            if self.readiness.costs.lives(goal.species, time_of_day(hour)):
                return None
            times = self.times_of(goal.species)
        if not times or time_of_day(hour) in times:
            return None
        return next((one for one in errands if time_of_day(one.gives_hour) in times), None)

    def times_of(self, species: Collection[int]) -> frozenset[int]:
        """Return the times of day, 0 morning, 1 day, 2 night, at which one of some species is met in the wild.

        Only maps that the player can reach count, as far as routes are known; water counts if the party can surf. Empty
        if none of them lives anywhere.
        """
        game = self._game
        if game is None:
            return frozenset()
        swims = "surf" in game.usable_moves()
        tables = [table for table in game.cartridge.wild if swims or not table.water]
        found = {time for time in _TIMES for table in tables if _lives(table, time, species)}
        return frozenset(time for time in found if self.readiness.costs.lives(species, time) is not False)

    def _needed(self, goal: Milestone, moves: Sequence[str], bag: Bag) -> Milestone | PlannedGoal | None:
        """Return the first missing requirement: another goal that gives it, or a task."""
        game = self._running
        state = game.state
        for key in goal.needs:
            if not self._is_reached(key):
                return self._goals[key]
        later: Milestone | None = None
        for key in goal.errands:
            errand = self._goals[key]
            if not self.is_over(errand):
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
        usable = game.usable_moves() if moves else frozenset()
        for name in moves:
            if name not in usable:
                missing = self.field_moves.needed(game.profile.field_moves[name], goal, bag)
                if missing is not None:
                    return missing
        members = [member for member in state.party.members if not member.egg]
        if requires.species and not any(member.species in requires.species for member in members):
            names = game.profile.names.species
            species = requires.species[0]
            title = f"catch {names.get(species, f'species {species}')}"
            return PlannedGoal(CATCH, "", title, species=requires.species)
        most = max((member.level for member in members), default=0)
        if members and most < requires.min_level:
            title = f"train to level {requires.min_level}"
            return PlannedGoal(TRAIN, "", title, number=requires.min_level, member=self.readiness.strongest())
        balls = self._balls_for(goal, bag)
        if balls is not None:
            return balls
        trainers = [(foe.trainer_class, foe.number) for foe in requires.foes if foe.event < 0 or self._flag(foe.event)]
        if not members or not trainers or self._strength == _SKIP:
            return None
        return self.training_for(trainers, keep=self._strength == _KEEP)

    def _balls_for(self, goal: Milestone, bag: Bag) -> PlannedGoal | None:
        """Return the purchase of supplies, or else balls, for a goal with a species to catch.

        None if the party has them, is full, or no shop can be reached.
        """
        game = self._running
        state = game.state
        there = {member.species for member in state.party.members}
        if not there or there.issuperset(goal.catch) or state.party.count >= PARTY_SLOTS:
            return None
        supplies = tuple((item, count) for item, count in goal.supplies if not bag.count(item))
        balls = () if state.balls else tuple((item, 1) for item in game.profile.item_uses.ball)
        names = game.profile.names.items
        for buys in (supplies, balls):
            if buys and self.readiness.costs.for_sale([item for item, _ in buys]):
                called = " or ".join(names.get(item, f"item {item}") for item, _ in buys)
                return PlannedGoal(BUY, "", f"buy {called} to catch with", buys=buys)
        return None

    def _flag(self, index: int) -> bool:
        """Return True if an event flag is set."""
        flags = self._running.profile.memory["wEventFlags"]
        return bool(self._running.emulator.read(flags.bank, flags.address + (index >> 3), 1)[0] >> (index & 7) & 1)

    # Strength -----------------------------------------------------------------------------------------------

    def training_for(self, trainers: Sequence[tuple[int, int]], *, keep: bool = False) -> PlannedGoal | None:
        """Return the goal that makes the party strong enough for some trainers: TRAIN, RIVAL, CATCH, BUY or HEAL.

        None if it is strong enough.

        Args:
            trainers: class and number of each, fought one after the other.
            keep: True to keep the plan for it.
        """
        game = self._game
        plan = self.readiness.plan_for(trainers, keep=keep) if game is not None else None
        if game is None or plan is None:
            return None
        return goal_of_plan(plan, game.profile.names, max(self.readiness.place_of(plan), 0))

    # Badges -------------------------------------------------------------------------------------------------

    def _has_badge(self, badge: int) -> bool:
        game = self._running
        state = game.state
        badges = state.johto_badges if badge < _BADGES_EACH else state.kanto_badges
        return bool(badges >> badge % _BADGES_EACH & 1)

    def _badge_giver(self, badge: int) -> Milestone | None:
        game = self._running
        place = game.profile.memory.fields.get(_BADGE_FIELDS[badge // _BADGES_EACH])
        for goal in self._goals.values():
            for item in goal.evidence:
                at = place is not None and item.kind == "bit" and item.address == place.address
                if at and item.mask == 1 << badge % _BADGES_EACH:
                    return goal
        return None


def _lives(table: WildTable, time: int, species: Collection[int]) -> bool:
    """Return True if a table has one of some species at a time of day."""
    return any(slot.chance and slot.species in species for slot in table.at(time))
