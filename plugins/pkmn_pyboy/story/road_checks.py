"""Check of a story: the route to each milestone and the push of each boulder, with what is known by then."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations

from pkmn_pyboy.profile.milestones import Milestone, Requirements, Target
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.story.foe_checks import NamedFoes, check_foes
from pkmn_pyboy.story.image_checks import RoadProblem, check_blocks, check_supplies
from pkmn_pyboy.story.learner_checks import Learners
from pkmn_pyboy.story.order import events_of, proving_events, story_with_moves
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.cartridge import Cartridge
from pkmn_pyboy.world.cartridge_world import CartridgeWorld
from pkmn_pyboy.world.changed_world import ChangedWorld
from pkmn_pyboy.world.goals import RouteGoal, of_target, on_map
from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.map_moves import Costs, MapMoves
from pkmn_pyboy.world.pushes import PushPlanner
from pkmn_pyboy.world.records import MapPerson, Place, Role, WorldMap
from pkmn_pyboy.world.route import Obstacle, Route
from pkmn_pyboy.world.route_planner import RoutePlanner
from pkmn_pyboy.world.tile_rules import WALL, WATER

FIRST_HOUR = 10
"""Hour at which a new game begins; the game's clock is stopped."""


_MAX_UNPROVED = 4
"""Maximum events of one map that are tried in all combinations."""


@dataclass(frozen=True, slots=True)
class Road:
    """Route to a goal from the one before it; ``steps`` is None if there is none, or the goal has no place."""

    key: str
    name: str
    steps: int | None
    maps: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes: the Pokemon that learns a field move, events assumed to be set, foes that the goal does not name."""


@dataclass(frozen=True)
class StoryCheck:
    """All roads of a game's story in its order, and their problems."""

    roads: tuple[Road, ...]
    problems: tuple[RoadProblem, ...]


def check_roads(profile: GameProfile, world: CartridgeWorld) -> list[RoadProblem]:
    """Return the problems of a game's story on its maps; empty if all of it can be walked.

    Args:
        profile: the game.
        world: its maps, from an image.
    """
    return list(_Walk(profile, world, None).all().problems)


def check_story(profile: GameProfile, cartridge: Cartridge) -> StoryCheck:
    """Follow the story over the maps of an image, and give for every goal the route, or the problem.

    The story is followed in its order, errands before their milestones. At each goal the player has the field moves
    that it, or an earlier goal, needs or gives; the check also covers which Pokemon could have learned them by then.
    The event flags are those that prove the reached goals: they change blocks, and hide or show people. The time of a
    flag that proves no goal is unknown: people that it hides count as gone, and a block that it sets counts as set if
    there is no other route, which a note says. Boulders are pushed from their places in the image, by a player who
    enters the map; a boulder that was pushed into a hole is gone from then on.

    Args:
        profile: the game.
        cartridge: its image.
    """
    found = _Walk(profile, cartridge.world, Learners(profile, cartridge)).all()
    foes = [RoadProblem(key, message) for key, message in check_foes(profile, cartridge)]
    image = (*check_supplies(profile, cartridge), *check_blocks(profile, cartridge))
    return StoryCheck(found.roads, (*found.problems, *foes, *image))


@dataclass
class _Found:
    """Results of the check for one goal."""

    steps: int | None = None
    maps: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class _Walk:
    """Walk through the story.

    Args:
        profile: the game.
        world: its maps.
        learners: learners of field moves; if None, every move can be used.
    """

    def __init__(self, profile: GameProfile, world: CartridgeWorld, learners: Learners | None) -> None:
        self._profile = profile
        self._world = ChangedWorld(world)
        self._planner = RoutePlanner(self._world)
        self._learners = learners
        goals = (*profile.milestones, *profile.errands.values())
        self._by_event = {event: goal for goal in reversed(goals) for event in events_of(goal, profile.memory)}
        proving = proving_events(goals, profile.memory)
        people = {one.flag for map_id in world.map_ids() if (here := world.map(map_id)) for one in here.people}
        self._unproved_people = frozenset(people - proving)
        self._blocks = world.story_blocks
        self._unproved_blocks = frozenset(event for one in self._blocks.values() for event in one.events) - proving
        self._events: set[int] = set()
        self._moves: set[str] = set()
        self._hours = {FIRST_HOUR}
        self._visited: set[int] = set()
        self._fallen: set[tuple[int, int]] = set()
        self._place: Place | None = None
        self._reached: set[str] = set()
        self._foes = NamedFoes(profile.names.trainer_classes)
        listed = {goal.key for goal, _ in story_with_moves(profile)}
        self._clock_errands = [one for one in goals if one.gives_hour >= 0 and one.key not in listed]
        """Errands that no goal lists: they are done for an hour of the clock."""

    def all(self) -> StoryCheck:
        """Walk from the first goal to the last."""
        roads, problems = [], []
        for goal, moves in story_with_moves(self._profile):
            found = self._goal(goal, moves)
            roads.append(Road(goal.key, goal.name, found.steps, tuple(found.maps), tuple(found.notes)))
            problems += [RoadProblem(goal.key, message) for message in found.problems]
        return StoryCheck(tuple(roads), tuple(problems))

    def _goal(self, goal: Milestone, moves: Collection[str]) -> _Found:
        found, profile = _Found(), self._profile
        self._moves.update(moves)
        self._world.follow(self._events)
        # A goal without place and requirements (learn, catch, train) can be done anywhere.
        placeless = goal.target is None and goal.requires == Requirements()
        if placeless and not goal.optional and goal.key != profile.milestones[0].key:
            found.problems.append("it has no target, but the story needs it")
        if goal.target is not None:
            variants = [
                goal.target,
                *(goal.target.with_case(one) for one in (*goal.target.choices, *goal.target.cases)),
            ]
            for number, target in enumerate(variants):
                self._reach(goal, target, found, stays=bool(goal.target.choices) and number > 0)
            found.problems += _push(goal.target, self._world, self._moves, self._fallen)
            found.notes += self._foes.unnamed(goal, variants, self._world)
        if self._learners is not None:
            self._teach(goal, found, self._learners)
        by_item = {move.item: name for name, move in profile.field_moves.items()}
        self._moves.update(by_item[item] for item in goal.gives if item in by_item)
        self._events |= events_of(goal, profile.memory)
        self._reached.add(goal.key)
        if goal.gives_hour >= 0:
            self._hours.add(goal.gives_hour)
        return found

    # Routes ------------------------------------------------------------------------------------------------

    def _reach(self, goal: Milestone, target: Target, found: _Found, *, stays: bool) -> None:
        """Walk to a target, or add the problem; the player is there afterwards in any case."""
        wrong = self._out_of_place(target)
        if wrong:
            found.problems.append(wrong)
        end = of_target(self._world, target)
        if wrong or not end.ends:
            if not wrong:
                found.problems.append(f"its target is not on {self._world.name(target.map_id)}")
            self._place = self._first(end) or self._place
            return
        if self._place is None:
            self._place = self._first(end)
        place = self._place
        if place is None:
            return
        way = self._entrance(target, place)
        for goal_end in (*way, end):
            route = self._walk(goal, place, goal_end, found)
            if route is None:
                place = self._first(end) or place
                break
            place = route.goal
            if not stays:
                found.steps = (found.steps or 0) + route.tiles
                found.maps += [one for one in route.maps if not found.maps or one != found.maps[-1]]
            self._visited.update(route.maps)
        if not stays:
            self._place = place

    def _entrance(self, target: Target, place: Place) -> list[RouteGoal]:
        """Return the map through which rooms that lock are entered, if the player comes from outside."""
        return [
            on_map(locked.enter)
            for locked in self._profile.locked_rooms
            if target.map_id in locked.rooms and place.map_id not in (locked.enter, *locked.rooms)
        ]

    def _walk(self, goal: Milestone, place: Place, end: RouteGoal, found: _Found) -> Route | None:
        """Return a route for now; if there is none, also with the flags of the goal itself or of unproved events."""
        flags = self._events | self._unproved_people
        route = self._route(place, end, flags)
        if route is not None:
            return route
        own = events_of(goal, self._profile.memory)
        route = self._route(place, end, flags | own)
        if route is not None:
            found.notes.append("the person in the way is part of it")
            return route
        for assumed in self._assumptions(end, place):
            if self._world.follow(assumed):
                route = self._route(place, end, flags | own)
                if route is not None:
                    for words, events in (("set", assumed - self._events), ("cleared", self._events - assumed)):
                        names = (self._profile.names.event_flags.get(one, str(one)) for one in sorted(events))
                        found.notes += [f"assumed {words}: {', '.join(names)}"] if events else []
                    self._events = set(assumed)
                    return route
        self._world.follow(self._events)
        return self._blocked(place, end, flags, found)

    def _assumptions(self, end: RouteGoal, place: Place) -> Iterator[frozenset[int]]:
        """Yield events that may be set by now: subsets for one map, beginning with the goal's; then all."""
        blocks, now = self._blocks, frozenset(self._events)
        for map_id in sorted(blocks, key=lambda one: (one not in end.ends, one != place.map_id, one)):
            unproved = sorted(blocks[map_id].events & self._unproved_blocks)[:_MAX_UNPROVED]
            subsets = [frozenset(some) for size in range(len(unproved) + 1) for some in combinations(unproved, size)]
            for some in sorted(subsets, key=lambda one: len(one ^ (now & set(unproved)))):
                yield (now - set(unproved)) | some
        yield now | self._unproved_blocks

    def _route(self, place: Place, end: RouteGoal, flags: Collection[int], *, relaxed: bool = False) -> Route | None:
        return self._planner.route(place, end, Abilities.of(self._moves, flags), through_obstacles=relaxed)

    def _blocked(self, place: Place, end: RouteGoal, flags: Collection[int], found: _Found) -> Route | None:
        """Return the route past the obstacles, and add them to the problems."""
        where = f"from {self._world.name(place.map_id)} ({place.x},{place.y})"
        route = self._route(place, end, flags, relaxed=True)
        if route is None:
            found.problems.append(f"there is no route {where}")
            return None
        missing = ", ".join(dict.fromkeys(self._words(one) for one in route.blocked_by))
        found.problems.append(f"the route {where} is blocked by {missing}")
        return route

    def _words(self, one: Obstacle) -> str:
        opener = self._by_event.get(one.flag)
        gone = f", gone with {opener.key}" if opener is not None else ""
        return f"{one.kind} at {one.place}{gone}"

    # Targets -----------------------------------------------------------------------------------------------

    def _out_of_place(self, target: Target) -> str:
        """Return the reason why a target cannot be addressed or taken; empty if it can."""
        here = self._world.map(target.map_id)
        if here is None:
            return f"its target is not on {self._world.name(target.map_id)}"
        if target.person and target.push_to is None:
            return self._person(target, here)
        if target.x is None or target.y is None or not here.grid.inside(target.x, target.y):
            return ""
        kind = self._world.rules.kind[here.grid.tiles[here.grid.cell(target.x, target.y)]]
        where = f"({target.x},{target.y}) of {self._world.name(target.map_id)}"
        if target.facing is not None:
            return f"nobody can stand on {where} and face {target.facing}" if kind == WALL else ""
        if kind != WALL and any((one.x, one.y) == (target.x, target.y) and one.item for one in here.signs):
            what = "is water" if kind == WATER else "is stepped on"
            return f"{where} {what}, and its hidden item is taken from beside it: it needs facing"
        return ""

    def _person(self, target: Target, here: WorldMap) -> str:
        who = next((one for one in here.people if one.number == target.person), None)
        name = self._world.name(target.map_id)
        if who is None:
            return f"its target is not on {name}"
        if not of_target(self._world, target).ends:
            side = f", facing {target.facing}" if target.facing is not None else ""
            return f"nobody can stand beside person {target.person} of {name}{side}"
        return self._absence(who, name)

    def _absence(self, who: MapPerson, name: str) -> str:
        hours_known = self._hours if not who.keeps_hours else self._possible_hours()
        if any(who.stands_at(hour) for hour in hours_known):
            return ""
        hours = ", ".join(str(hour) for hour in sorted(hours_known))
        return f"person {who.number} of {name} is absent at the hours that the clock shows by then ({hours})"

    def _first(self, end: RouteGoal) -> Place | None:
        """Return any place where a goal may end."""
        for map_id, ends in end.ends.items():
            if ends:
                return Place(map_id, *next(iter(ends)))
            exits = self._world.exits(map_id)
            if exits:
                return Place(map_id, exits[0].x, exits[0].y)
        return None

    def _possible_hours(self) -> set[int]:
        """Return hours that the clock has shown by now, and those of errands that can be reached."""
        found = set(self._hours)
        for errand in self._clock_errands:
            if errand.gives_hour in found or errand.target is None or not self._reached.issuperset(errand.needs):
                continue
            end = of_target(self._world, errand.target)
            flags = self._events | self._unproved_people
            if self._place is None or self._route(self._place, end, flags) is not None:
                found.add(errand.gives_hour)
        return found

    # Field moves -------------------------------------------------------------------------------------------

    def _teach(self, goal: Milestone, found: _Found, learners: Learners) -> None:
        """Note the learners of the field moves that are first needed for this goal."""

        def reaches(map_id: int) -> bool:
            if map_id in self._visited:
                return True
            flags = self._events | self._unproved_people
            return self._place is None or self._route(self._place, on_map(map_id), flags) is not None

        for name in goal.requires.field_moves:
            if not learners.asks(name):
                continue
            note, problem = learners.need(name, self._possible_hours(), reaches, surfs="surf" in self._moves)
            found.notes += [note] if note else []
            found.problems += [problem] if problem else []
        learners.reached(goal)


def _push(target: Target, world: World, moves: set[str], fallen: set[tuple[int, int]]) -> list[str]:
    """Return the reason why a boulder cannot be pushed to a goal's tile; empty if it can, or if there is no push."""
    here = world.map(target.map_id)
    if target.push_to is None or here is None:
        return []
    grid, (x, y) = here.grid, target.push_to
    name = world.name(target.map_id)
    if not grid.inside(x, y):
        return [f"({x},{y}), where a boulder is to go, is not on {name}"]
    there = [one for one in here.people if (target.map_id, one.number) not in fallen]
    boulders = {one.number: grid.cell(one.x, one.y) for one in there if one.role is Role.BOULDER}
    if not boulders or (target.person and target.person not in boulders):
        return [f"person {target.person or 'of any number'} of {name} is not a boulder"]
    walls = {grid.cell(one.x, one.y) for one in there if one.role is not Role.BOULDER and not one.walks}
    steps = MapMoves(replace(here, people=()), world.rules, world.openers, Costs())
    planner = PushPlanner(steps, Abilities.of(moves), walls=walls)
    to, which = grid.cell(x, y), boulders[target.person] if target.person else None
    for start in _entrances(here, world):
        plan = planner.plan(start, boulders.values(), to, which)
        if plan is not None:
            if target.person and to in steps.enter:
                fallen.add((target.map_id, target.person))
            return []
    return [f"no boulder can be pushed to ({x},{y}) of {name} from their places in the image"]


def _entrances(here: WorldMap, world: World) -> Iterator[int]:
    """Yield cells where the player may enter, one for each exit."""
    for way in world.exits(here.map_id):
        yield here.grid.cell(way.x, way.y)
