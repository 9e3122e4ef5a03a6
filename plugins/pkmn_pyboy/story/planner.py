"""Planner from milestones to the next task: a tree of goals, with each milestone's needs below it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.battle.damage import BattleTables
from pkmn_pyboy.pilot.goals.readiness import Readiness
from pkmn_pyboy.pilot.screens.bag import Bag
from pkmn_pyboy.pilot.settings import PilotSettings
from pkmn_pyboy.pilot.walking.routes import hour_of, usable_moves
from pkmn_pyboy.profile.model import FieldMove
from pkmn_pyboy.state.game_state import PARTY_PLACES, PartyMember
from pkmn_pyboy.story.model import Milestone, Target
from pkmn_pyboy.world.records import time_of_day
from pkmn_pyboy.world.table_records import WildTable
from pkmncli.errors import ConfigurationError

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

MILESTONE, ERRAND, TEACH, CATCH = "milestone", "errand", "teach", "catch"
TRAIN, RIVAL, BUY, HEAL = "train", "rival", "buy", "heal"
"""Kinds of goals."""

_BADGE_FIELDS = ("wJohtoBadges", "wKantoBadges")
_BADGES_EACH = 8
_DEPTH = 24
_TIMES = range(3)
_MILESTONES_AHEAD = 8
_SKIP, _TEST, _KEEP = range(3)
"""Modes of the party's strength check: skipped, tested, or tested with its plan kept."""
_OUTSIDE = (CATCH, TRAIN, RIVAL, BUY)


@dataclass(frozen=True, slots=True)
class PlannedGoal:
    """Planned goal. ``parents`` are the keys of the goals that it serves, the milestone first.

    ``number`` is a machine slot for TEACH, a level for TRAIN; ``member`` the party slot of the Pokemon to teach or
    train; ``species`` the suitable species for CATCH.
    """

    kind: str
    key: str
    title: str
    hint: str = ""
    target: Target | None = None
    number: int = 0
    member: int = 0
    foes: tuple[tuple[int, int], ...] = ()
    """Trainers that it prepares for."""
    buys: tuple[tuple[int, int], ...] = ()
    """Items of BUY, with the number of each to have; to catch, one kind of them is enough."""
    parents: tuple[str, ...] = ()
    species: tuple[int, ...] = ()
    case: int = -1
    """Value of the byte that selected the target's case, -1 without cases."""

    @property
    def tries_key(self) -> str:
        """Key of its tries: another value of the byte counts as another goal."""
        return f"{self.kind}/{self.key}" if self.case < 0 else f"{self.kind}/{self.key}@{self.case}"

    @property
    def words(self) -> str:
        """Hint, or else the title."""
        return self.hint or self.title


class GoalOrientedPlanner:
    """Planner that turns milestones into goals for now.

    A milestone may first need items, badges, field moves, levels or errands; each missing one becomes a goal below it,
    down to a goal that needs nothing.

    Args:
        game: the running game. Without one there are no goals.
        settings: the pilot's; defaults if None.

    Raises:
        ConfigurationError: no target has as many choices as the setting ``partner`` says.
    """

    def __init__(self, game: Game | None = None, settings: PilotSettings | None = None) -> None:
        settings = settings or PilotSettings()
        self._game = game
        self._partner = settings.partner
        self._providers: dict[str, frozenset[str]] = {}
        self.put_off: frozenset[str] = frozenset()
        """Errands that come after the others of the same goal, while there are others."""
        self._strength = _TEST
        self.barren_times: Callable[[Collection[int]], frozenset[int]] = lambda _: frozenset()
        """Callback that returns the times of day at which a hunt for some species failed."""
        self._learners_key: object = None
        self._learners: tuple[int, ...] = ()
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
        bag = Bag.read(game.emulator, game.profile.memory)
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

    def learners_to_come(self) -> tuple[int, ...]:
        """Return species that can learn a field move of the next milestones which no party member can learn."""
        game = self._game
        if game is None:
            return ()
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
            found = (one for move in missing for one in self.tables.species if self.learns(one, move))
            self._learners_key, self._learners = key, tuple(dict.fromkeys(found)) if members else ()
        return self._learners

    def _can_use(self, member: PartyMember, move: FieldMove) -> bool:
        """Return True if a member knows a field move, or can be taught it."""
        kept = {one.move for one in self._game.profile.field_moves.values()} if self._game else set()
        able = not kept.issuperset(member.moves) and self.learns(member.species, move)
        return not member.egg and (move.move in member.moves or able)

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

    # The tree -----------------------------------------------------------------------------------------------

    def _expand(
        self, goal: Milestone, kind: str, bag: Bag, found: list[PlannedGoal], moves: tuple[str, ...] = ()
    ) -> None:
        """Add a goal and what it needs first. ``moves`` are field moves that its route may use, from above."""
        assert self._game is not None
        parents = tuple(one.key for one in found)
        if len(found) >= _DEPTH or goal.key in parents:
            return
        target = self._target_now(goal.target)
        case = goal.target.value(self._game.emulator) if goal.target is not None else -1
        found.append(PlannedGoal(kind, goal.key, goal.name, goal.hint, target, parents=parents, case=case))
        moves = tuple(dict.fromkeys((*moves, *goal.requires.field_moves)))
        needed = self._needed(goal, moves, bag)
        if isinstance(needed, Milestone):
            below = moves if needed.key in goal.errands else ()
            below = tuple(move for move in below if needed.key not in self._providers_of(move))
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
        game = self._game
        assert game is not None
        return any(game.state.map_id in locked.rooms for locked in game.profile.locked_rooms)

    def _target_now(self, target: Target | None) -> Target | None:
        """Return a target for now: its case, the choice, or the entrance if its room locks."""
        game = self._game
        assert game is not None
        if target is None:
            return None
        here = game.state.map_id
        for locked in game.profile.locked_rooms:
            if target.map_id in locked.rooms and here != locked.enter and here not in locked.rooms:
                return Target(locked.enter)
        return target.now(game.emulator, self._partner)

    def _is_over(self, errand: Milestone) -> bool:
        """Return True if an errand is done, or no longer needed."""
        game = self._game
        assert game is not None
        memory, map_id = game.emulator, game.state.map_id
        if errand.holds(memory, map_id):
            return True
        return any(self._is_reached(key) or self._goals[key].holds(memory, map_id) for key in errand.over_with)

    def _is_reached(self, key: str) -> bool:
        """Return True if a milestone was reached in this episode."""
        assert self._game is not None
        place = self._indices.get(key, -1)
        return place >= 0 and self._game.milestones.steps[place] >= 0

    def _providers_of(self, name: str) -> frozenset[str]:
        """Return the keys of all goals that give a field move or come before one that does: they cannot need it."""
        found = self._providers.get(name)
        if found is None:
            assert self._game is not None
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

    def _errand_for_hour(self, goal: PlannedGoal) -> Milestone | None:
        """Return the errand that sets the hour at which one of some species lives; None if one lives now."""
        game = self._game
        assert game is not None
        hour = hour_of(game)
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
        swims = "surf" in usable_moves(game)
        tables = [table for table in game.cartridge.wild if swims or not table.water]
        found = {time for time in _TIMES for table in tables if _lives(table, time, species)}
        return frozenset(time for time in found if self.readiness.costs.lives(species, time) is not False)

    def _needed(self, goal: Milestone, moves: Sequence[str], bag: Bag) -> Milestone | PlannedGoal | None:
        """Return the first missing requirement: another goal that gives it, or a task."""
        game = self._game
        assert game is not None
        state = game.state
        for key in goal.needs:
            if not self._is_reached(key):
                return self._goals[key]
        later: Milestone | None = None
        for key in goal.errands:
            errand = self._goals[key]
            if not self._is_over(errand):
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
        usable = usable_moves(game) if moves else frozenset()
        for name in moves:
            if name not in usable:
                missing = self._field_move(game.profile.field_moves[name], goal, bag)
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
        game = self._game
        assert game is not None
        state = game.state
        there = {member.species for member in state.party.members}
        if not there or there.issuperset(goal.catch) or state.party.count >= PARTY_PLACES:
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
        assert self._game is not None
        flags = self._game.profile.memory["wEventFlags"]
        return bool(self._game.emulator.read(flags.bank, flags.address + (index >> 3), 1)[0] >> (index & 7) & 1)

    def _field_move(self, move: FieldMove, goal: Milestone, bag: Bag) -> Milestone | PlannedGoal | None:
        game = self._game
        assert game is not None
        names = game.profile.names
        members = game.state.party.members
        if not any(move.move in member.moves for member in members):
            if not bag.machines.get(move.machine):
                source = self._sources.get(move.item)
                return source if source is not None and source.key != goal.key else None
            kept = {one.move for one in game.profile.field_moves.values()}
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
            return PlannedGoal(CATCH, "", f"catch a Pokemon that can learn {called}", species=species)
        if not move.badge.holds(game.emulator, game.state.map_id):
            giver = next((one for one in self._goals.values() if move.badge in one.evidence), None)
            return giver if giver is not None and giver.key != goal.key else None
        return None

    def learns(self, species: int, move: FieldMove) -> bool:
        """Return True if a species can be taught a field move."""
        known = self.tables.species.get(species)
        return known is not None and move.machine in known.machines

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
        names = game.profile.names
        if plan.kind == TRAIN:
            member, title = max(self.readiness.place_of(plan), 0), f"train to level {plan.level}"
            return PlannedGoal(TRAIN, "", title, number=plan.level, member=member, foes=plan.foes)
        if plan.kind == CATCH:
            called = names.species.get(plan.species[0], f"species {plan.species[0]}")
            return PlannedGoal(CATCH, "", f"catch {called} for the next fights", species=plan.species, foes=plan.foes)
        if plan.kind == RIVAL:
            target = Target(plan.ground, person=plan.person)
            member = max(self.readiness.place_of(plan), 0)
            return PlannedGoal(RIVAL, "", "fight a trainer on the way", target=target, member=member, foes=plan.foes)
        if plan.kind == BUY:
            called = ", ".join(names.items.get(item, f"item {item}") for item, _ in plan.buys)
            return PlannedGoal(BUY, "", f"buy {called}", foes=plan.foes, buys=plan.buys)
        return PlannedGoal(HEAL, "", "heal before the fight", foes=plan.foes)

    # Badges -------------------------------------------------------------------------------------------------

    def _has_badge(self, badge: int) -> bool:
        game = self._game
        assert game is not None
        state = game.state
        badges = state.johto_badges if badge < _BADGES_EACH else state.kanto_badges
        return bool(badges >> badge % _BADGES_EACH & 1)

    def _badge_giver(self, badge: int) -> Milestone | None:
        game = self._game
        assert game is not None
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
