"""Request for a route between two named places, and its answer."""

from __future__ import annotations

from dataclasses import dataclass

from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.goals import KINDS
from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.records import Place
from pkmn_pyboy.world.route import Route
from pkmn_pyboy.world.route_planner import RoutePlanner
from pkmn_pyboy.world.tile_rules import WALL
from pkmn_pyboy.world_command.place_names import find_place
from pkmncli.errors import ConfigurationError

NEAREST = tuple(kind for kind in KINDS if kind != "unseen")


@dataclass(frozen=True, slots=True)
class Journey:
    """Route from one place to another. ``route`` is None if there is none with any abilities."""

    start: Place
    start_name: str
    goal_name: str
    abilities: Abilities
    route: Route | None

    @property
    def walkable(self) -> bool:
        """True if it can be walked with these abilities."""
        return self.route is not None and not self.route.blocked_by


def find_journey(world: World, start_words: str, goal_words: str, abilities: Abilities) -> Journey:
    """Find the route; if it cannot be walked, the one with the fewest obstacles.

    Args:
        world: the maps.
        start_words: the start: a map, or a tile of one.
        goal_words: the destination: the same, or the nearest of a kind.
        abilities: the player's abilities.

    Raises:
        ConfigurationError: a place is unknown, or the start is blocked.
    """
    start = _start(world, start_words)
    planner = RoutePlanner(world)
    start_name = f"{world.name(start.map_id)} ({start.x},{start.y})"
    kind = goal_words.strip().lower()
    if kind in NEAREST:
        return Journey(start, start_name, f"the nearest {kind}", abilities, planner.nearest(start, kind, abilities))
    goal_map, tile = find_place(world, goal_words)
    goal = tile if tile is not None else goal_map
    goal_name = world.name(goal_map) + (f" ({tile.x},{tile.y})" if tile is not None else "")
    route = planner.route(start, goal, abilities) or planner.route(start, goal, abilities, through_obstacles=True)
    return Journey(start, start_name, goal_name, abilities, route)


def _start(world: World, words: str) -> Place:
    map_id, place = find_place(world, words)
    here = world.map(map_id)
    if here is None:
        raise ConfigurationError(f"{world.name(map_id)} cannot be read from this image")
    grid, kind = here.grid, world.rules.kind
    if place is not None:
        if kind[grid.tiles[grid.cell(place.x, place.y)]] == WALL:
            raise ConfigurationError(f"{world.name(map_id)} ({place.x},{place.y}) is a wall: choose another start")
        return place
    ways = world.exits(map_id)
    if ways:
        way = next((way for way in ways if way.warp), ways[0])
        return Place(map_id, way.x, way.y)
    free = [
        (abs(2 * x - here.width) + abs(2 * y - here.height), x, y)
        for y in range(here.height)
        for x in range(here.width)
        if kind[grid.tiles[grid.cell(x, y)]] != WALL
    ]
    if not free:
        raise ConfigurationError(f"{world.name(map_id)} has no tile to stand on")
    _, x, y = min(free)
    return Place(map_id, x, y)
