"""Goals of a route: a tile, beside a person, in a scene, anywhere on a map, or at the nearest of a kind."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pkmn_pyboy.profile.milestones import Target
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.links import Box, box_around
from pkmn_pyboy.world.records import ENTER, MapPerson, Place, Role, WorldMap
from pkmn_pyboy.world.tile_rules import DIRECTIONS, STEPS, WALL, WATER, TileRules

KINDS = ("grass", "water", "healer", "shop", "item", "unseen")

Ends = Mapping[tuple[int, int], int]
"""Tiles where a route may end, with the direction to press there, ENTER for none."""

_SPOKEN_TO = {"healer": Role.HEALER, "shop": Role.CLERK, "item": Role.ITEM}


@dataclass(frozen=True)
class RouteGoal:
    """Goal tiles by map; None for a map that only has to be reached.

    ``enters``: goal tiles without a press are exits that act when stepped on.
    """

    ends: Mapping[int, Ends | None]
    enters: bool = False

    def tiles_on(self, place: Place) -> Iterable[tuple[tuple[int, int], int]]:
        """Return the goal tiles on the map of a place where it was entered."""
        if place.map_id not in self.ends:
            return ()
        ends = self.ends[place.map_id]
        return (((place.x, place.y), ENTER),) if ends is None else ends.items()

    def press_at(self, place: Place) -> int:
        """Return the direction to press at the end."""
        ends = self.ends.get(place.map_id)
        return ENTER if ends is None else ends.get((place.x, place.y), ENTER)

    @cached_property
    def boxes(self) -> dict[int, Box]:
        """Boxes around the goal tiles on each map."""
        anywhere = (0, 0, 1 << 16, 1 << 16)
        return {map_id: anywhere if ends is None else box_around(ends) for map_id, ends in self.ends.items()}


def on_map(map_id: int) -> RouteGoal:
    """Return the goal of being anywhere on a map."""
    return RouteGoal({map_id: None})


def at_place(world: World, place: Place, press: int = ENTER) -> RouteGoal:
    """Return the goal of a tile, with a direction to press there.

    If the tile is blocked and no direction is given, the goal is to face it. Without tiles if the map is unknown or has
    no such tile.
    """
    here = world.map(place.map_id)
    if here is None or not here.grid.inside(place.x, place.y):
        return RouteGoal({})
    tile = here.grid.tiles[here.grid.cell(place.x, place.y)]
    taken = any((person.x, person.y) == (place.x, place.y) and not person.walks for person in here.people)
    closed = world.rules.kind[tile] == WALL and tile not in world.openers
    if press != ENTER or (not taken and not closed):
        return RouteGoal({place.map_id: {(place.x, place.y): press}})
    ends = talk_ends(here, world.rules, place.x, place.y)
    return RouteGoal({place.map_id: ends} if ends else {})


def of_target(world: World, target: Target) -> RouteGoal:
    """Return the goal of a milestone's target: beside its person, on a tile of its scene, on its tile, on its map.

    For a boulder to push that is beside it, or beside any boulder if none is named. Without tiles if the map is
    unknown, or does not have what the target names; its map may still be reached by :func:`on_map`.
    """
    here = world.map(target.map_id)
    if here is None:
        return RouteGoal({})
    ends: Ends
    if target.person:
        someone = next((one for one in here.people if one.number == target.person), None)
        ends = talk_ends(here, world.rules, someone.x, someone.y) if someone is not None else {}
        if target.facing is not None:
            side = DIRECTIONS.index(target.facing)
            ends = {place: way for place, way in ends.items() if way == side}
    elif target.push_to is not None:
        boulders = [one for one in here.people if one.role is Role.BOULDER]
        ends = {place: way for one in boulders for place, way in talk_ends(here, world.rules, one.x, one.y).items()}
    elif target.scene >= 0:
        ends = {(one.x, one.y): ENTER for one in here.triggers if one.scene == target.scene}
    elif target.x is None or target.y is None:
        return on_map(target.map_id)
    else:
        press = DIRECTIONS.index(target.facing) if target.facing is not None else ENTER
        return at_place(world, Place(target.map_id, target.x, target.y), press)
    return RouteGoal({target.map_id: ends} if ends else {})


def talk_ends(here: WorldMap, rules: TileRules, x: int, y: int) -> dict[tuple[int, int], int]:
    """Return the tiles from which a person or text can be reached, also over a counter, with the direction to face."""
    grid, ends = here.grid, {}
    for direction, (dx, dy) in enumerate(STEPS):
        place = (x - dx, y - dy)
        if grid.inside(*place) and grid.tiles[grid.cell(*place)] == rules.counter:
            place = (place[0] - dx, place[1] - dy)
        if grid.inside(*place) and rules.kind[grid.tiles[grid.cell(*place)]] != WALL:
            ends[place] = direction
    return ends


def of_kind(world: World, kind: str, abilities: Abilities, visited: Collection[int]) -> RouteGoal:
    """Return the goal of everything of a kind. Raises ValueError for an unknown kind."""
    if kind == "unseen":
        return RouteGoal(dict(_unseen(world, visited)), enters=True)
    if kind in _SPOKEN_TO:
        return RouteGoal(dict(_spoken_to(world, _SPOKEN_TO[kind], abilities)))
    if kind == "grass":
        return RouteGoal(dict(_tiles(world, world.rules.grass)))
    if kind == "water":
        return RouteGoal(dict(_shores(world)))
    raise ValueError(f"there is no nearest {kind!r}; choose from {', '.join(KINDS)}")


def _maps(world: World) -> Iterator[WorldMap]:
    for map_id in world.map_ids():
        here = world.map(map_id)
        if here is not None:
            yield here


def _unseen(world: World, visited: Collection[int]) -> Iterator[tuple[int, Ends]]:
    for map_id in visited:
        ends = {
            (way.x, way.y): way.press
            for way in world.exits(map_id)
            if not way.back and (way.arrival is None or way.arrival.map_id not in visited)
        }
        if ends:
            yield map_id, ends


def _spoken_to(world: World, role: Role, abilities: Abilities) -> Iterator[tuple[int, Ends]]:
    for here in _maps(world):
        ends: dict[tuple[int, int], int] = {}
        for person in here.people:
            if person.role is role and not _gone(person, abilities):
                ends |= talk_ends(here, world.rules, person.x, person.y)
        if ends:
            yield here.map_id, ends


def _gone(person: MapPerson, abilities: Abilities) -> bool:
    hidden = abilities.flags is not None and person.flag in abilities.flags
    return hidden or (abilities.hour is not None and not person.stands_at(abilities.hour))


def _tiles(world: World, values: Collection[int]) -> Iterator[tuple[int, Ends]]:
    wanted = bytes(value in values for value in range(256))
    for here in _maps(world):
        grid = here.grid
        marked = grid.tiles.translate(wanted)
        ends = {
            grid.tile_of(cell): ENTER
            for cell, wanted_here in enumerate(marked)
            if wanted_here and grid.inside(*grid.tile_of(cell))
        }
        if ends:
            yield here.map_id, ends


def _shores(world: World) -> Iterator[tuple[int, Ends]]:
    """Yield land tiles beside water, facing it."""
    rules = world.rules
    water = frozenset(value for value in range(256) if rules.kind[value] == WATER)
    for map_id, tiles in _tiles(world, water):
        here = world.map(map_id)
        if here is None:
            continue
        ends = {}
        for x, y in tiles:
            for direction, (dx, dy) in enumerate(STEPS):
                place = (x - dx, y - dy)
                if here.grid.inside(*place) and rules.kind[here.grid.tiles[here.grid.cell(*place)]] not in (
                    WALL,
                    WATER,
                ):
                    ends[place] = direction
        if ends:
            yield map_id, ends
