"""Can each milestone's road be walked, each boulder be pushed? Follows the story with the field moves known by then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pkmn_pyboy.milestones import Milestone, Requirements, Target
from pkmn_pyboy.navigation.pushes import PushPlanner
from pkmn_pyboy.navigation.search import Moves, Openings
from pkmn_pyboy.profile import GameProfile
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.cartridge import Cartridge
from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.planner import RoutePlanner
from pkmn_pyboy.world.records import ENTER, Place, Role, WorldMap


@dataclass(frozen=True, slots=True)
class RoadProblem:
    """A milestone or errand that can't be walked to, or whose target is not there."""

    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.key}: {self.message}"


def check_foes(profile: GameProfile, cartridge: Cartridge) -> list[RoadProblem]:
    """Trainers that a game's goals name and its image has not."""
    return [
        RoadProblem(goal.key, f"the image has no trainer {foe.number} of class {foe.trainer_class}")
        for goal in (*profile.milestones, *profile.errands.values())
        for foe in goal.requires.foes
        if (foe.trainer_class, foe.number) not in cartridge.trainers
    ]


def check_roads(profile: GameProfile, world: World) -> list[RoadProblem]:
    """What stands in the way of a game's story on its own maps; nothing where all of it can be walked.

    The story is followed in its order, errands before the milestones that they are for. At each goal the player has
    the field moves that it, or one before it, needs or gives. Who stands in the way only until a flag is set is taken
    to have gone by then. Boulders are pushed from where the image has them, by someone who comes in from outside; one
    that was pushed into a hole is gone from then on.

    Args:
        profile: the game.
        world: its maps, from an image.
    """
    fallen: set[tuple[int, int]] = set()
    planner = RoutePlanner(world)
    problems: list[RoadProblem] = []
    moves: set[str] = set()
    by_item = {move.item: name for name, move in profile.field_moves.items()}
    place: Place | None = None
    begins = profile.milestones[0].key if profile.milestones else ""
    for goal in story(profile):
        moves.update(goal.requires.field_moves)
        # What only has to be learnt, caught or trained is done anywhere.
        placeless = goal.target is None and goal.requires == Requirements()
        if placeless and not goal.optional and goal.key != begins:
            problems.append(RoadProblem(goal.key, "it has no target, and the story does not go on without it"))
        if goal.target is not None:
            ends = _ends(goal.target, world)
            if not ends:
                problems.append(RoadProblem(goal.key, f"its target is not on {world.name(goal.target.map_id)}"))
                continue
            place = _first(ends, world) if place is None else _walk(goal, place, ends, planner, moves, problems)
            problems += _push(goal, goal.target, world, moves, fallen)
        moves.update(by_item[item] for item in goal.gives if item in by_item)
    return problems


def story(profile: GameProfile) -> Iterator[Milestone]:
    """All milestones in order, each after the errands that it and they need."""
    seen: set[str] = set()
    sources = {item: goal for goal in reversed([*profile.milestones, *profile.errands.values()]) for item in goal.gives}
    field_items = {name: move.item for name, move in profile.field_moves.items()}

    def unfold(goal: Milestone) -> Iterator[Milestone]:
        if goal.key in seen:
            return
        seen.add(goal.key)
        items = [*goal.requires.items, *(field_items[name] for name in goal.requires.field_moves)]
        for key in goal.errands:
            yield from unfold(profile.errands[key])
        for item in items:
            source = sources.get(item)
            if source is not None and source.key in profile.errands:
                yield from unfold(source)
        yield goal

    for milestone in profile.milestones:
        yield from unfold(milestone)


def _walk(
    goal: Milestone,
    place: Place,
    ends: list[Place | int],
    planner: RoutePlanner,
    moves: set[str],
    problems: list[RoadProblem],
) -> Place:
    """Where the player is afterwards: at the goal, whether it could be walked or not."""
    abilities = Abilities.of(moves)
    for end in ends:
        route = planner.route(place, end, abilities)
        if route is not None:
            return route.goal
    names = planner.world.name
    where = f"from {names(place.map_id)} ({place.x},{place.y})"
    for end in ends:
        route = planner.route(place, end, abilities, through_obstacles=True)
        if route is not None:
            missing = ", ".join(dict.fromkeys(f"{one.kind} at {one.place}" for one in route.blocked_by))
            problems.append(RoadProblem(goal.key, f"the way {where} is barred by {missing}"))
            return route.goal
    problems.append(RoadProblem(goal.key, f"there is no way {where}"))
    return _first(ends, planner.world) or place


def _push(
    goal: Milestone, target: Target, world: World, moves: set[str], fallen: set[tuple[int, int]]
) -> list[RoadProblem]:
    """Why a boulder can't be pushed to where a goal wants it; nothing where it can, or where none is to be pushed."""
    here = world.map(target.map_id)
    if target.push_to is None or here is None:
        return []
    grid, (x, y) = here.grid, target.push_to
    name = world.name(target.map_id)
    if not grid.inside(x, y):
        return [RoadProblem(goal.key, f"({x},{y}), where a boulder is to go, is not on {name}")]
    there = [one for one in here.people if (target.map_id, one.number) not in fallen]
    boulders = {one.number: grid.cell(one.x, one.y) for one in there if one.role is Role.BOULDER}
    if not boulders or (target.person and target.person not in boulders):
        return [RoadProblem(goal.key, f"person {target.person or 'of any number'} of {name} is no boulder")]
    warps = {grid.cell(way.x, way.y) for way in world.ways(target.map_id) if way.press == ENTER}
    walls = {grid.cell(one.x, one.y) for one in there if one.role is not Role.BOULDER and not one.walks}
    openings = Openings({tile: move for tile, move in world.openers.items() if move != "surf"}, frozenset(moves))
    planner = PushPlanner(Moves(grid, world.rules, openings=openings), walls=walls, warps=warps)
    to, which = grid.cell(x, y), boulders[target.person] if target.person else None
    for start in _entrances(here, world):
        plan = planner.plan(start, boulders.values(), to, which)
        if plan is not None:
            if target.person and to in warps:
                fallen.add((target.map_id, target.person))
            return []
    return [RoadProblem(goal.key, f"no boulder can be pushed to ({x},{y}) of {name} as the image has them")]


def _entrances(here: WorldMap, world: World) -> Iterator[int]:
    """Cells where the player may come in, one for each way out."""
    for way in world.ways(here.map_id):
        yield here.grid.cell(way.x, way.y)


def _ends(target: Target, world: World) -> list[Place | int]:
    """The tiles that would do for a target, or its map; nothing where it isn't there."""
    here = world.map(target.map_id)
    if here is None:
        return []
    if target.scene >= 0:
        return [Place(target.map_id, one.x, one.y) for one in here.triggers if one.scene == target.scene]
    if target.person:
        return [Place(target.map_id, one.x, one.y) for one in here.people if one.number == target.person]
    if target.x is None or target.y is None:
        return [target.map_id]
    return [Place(target.map_id, target.x, target.y)] if here.grid.inside(target.x, target.y) else []


def _first(ends: list[Place | int], world: World) -> Place | None:
    for end in ends:
        if isinstance(end, Place):
            return end
        ways = world.ways(end)
        if ways:
            return Place(end, ways[0].x, ways[0].y)
    return None
