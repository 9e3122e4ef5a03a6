"""Letters, meanings and colours of tiles, people and exits, for text maps and pictures."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from pkmn_pyboy.world.knowledge import Terrain
from pkmn_pyboy.world.records import NO_FLAG, Role, WorldMap
from pkmn_pyboy.world.tile_rules import WALL, WATER, MapGrid

Colour = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Look:
    """Letter, its meaning, and a colour."""

    letter: str
    meaning: str
    colour: Colour


class Ground(Enum):
    """Kinds of ground."""

    FLOOR = Look(".", "free", (244, 240, 228))
    WALL = Look("#", "wall", (94, 98, 106))
    GRASS = Look('"', "tall grass", (150, 200, 118))
    WATER = Look("~", "water", (120, 176, 224))
    WHIRLPOOL = Look("W", "whirlpool", (70, 110, 176))
    WATERFALL = Look("F", "waterfall", (176, 210, 240))
    TREE = Look("C", "tree that can be cut", (46, 120, 70))
    ICE = Look("i", "ice", (206, 232, 240))
    COUNTER = Look("c", "counter to talk across", (176, 150, 118))
    HOLE = Look("O", "hole", (60, 62, 68))
    LEDGE_DOWN = Look("v", "ledge to jump down", (206, 180, 140))
    LEDGE_UP = Look("^", "ledge to jump up", (206, 180, 140))
    LEDGE_LEFT = Look("<", "ledge to jump left", (206, 180, 140))
    LEDGE_RIGHT = Look(">", "ledge to jump right", (206, 180, 140))


LEDGES = (Ground.LEDGE_DOWN, Ground.LEDGE_UP, Ground.LEDGE_LEFT, Ground.LEDGE_RIGHT)
"""Ledges by the direction of the jump."""


class Thing(Enum):
    """Kinds of people, objects and exits."""

    DOOR = Look("D", "door or stairs", (200, 88, 60))
    SIGN = Look("S", "sign or text to read", (238, 218, 150))
    HIDDEN = Look("h", "hidden item", (214, 150, 70))
    PERSON = Look("P", "person", (60, 90, 190))
    TRAINER = Look("T", "trainer", (190, 50, 110))
    ITEM = Look("I", "item to take", (226, 166, 30))
    HEALER = Look("H", "healer", (230, 110, 160))
    CLERK = Look("$", "shop clerk", (40, 140, 150))
    BOULDER = Look("B", "boulder to push", (110, 90, 70))
    ROCK = Look("R", "rock to smash", (140, 120, 100))
    PATH = Look("*", "the route", (214, 40, 40))
    START = Look("@", "start", (20, 20, 20))
    GOAL = Look("X", "goal", (214, 40, 40))


THING_OF: Mapping[Role, Thing] = {
    Role.PERSON: Thing.PERSON,
    Role.TRAINER: Thing.TRAINER,
    Role.ITEM: Thing.ITEM,
    Role.HEALER: Thing.HEALER,
    Role.CLERK: Thing.CLERK,
    Role.BOULDER: Thing.BOULDER,
    Role.ROCK: Thing.ROCK,
}
"""Symbols of people and objects by their role."""

_OPENED = {"cut": Ground.TREE, "whirlpool": Ground.WHIRLPOOL, "waterfall": Ground.WATERFALL}


def ground(terrain: Terrain, grid: MapGrid, x: int, y: int) -> Ground:
    """Return the kind of ground of a tile."""
    rules, value = terrain.rules, grid.tiles[grid.cell(x, y)]
    opened = _OPENED.get(terrain.openers.get(value, ""))
    if opened is not None:
        return opened
    if value == rules.counter:
        return Ground.COUNTER
    if value == rules.ice:
        return Ground.ICE
    if value == rules.pit:
        return Ground.HOLE
    jumps = rules.jumps[value]
    if jumps:
        return LEDGES[(jumps & -jumps).bit_length() - 1]
    if value in rules.grass:
        return Ground.GRASS
    kind = rules.kind[value]
    return Ground.WALL if kind == WALL else Ground.WATER if kind == WATER else Ground.FLOOR


def things(here: WorldMap, doors: Iterable[tuple[int, int]]) -> dict[tuple[int, int], Thing]:
    """Return the people, objects and doors on the tiles of a map, the more important over the less.

    Args:
        here: the map.
        doors: tiles of its warps.
    """
    found = {(sign.x, sign.y): Thing.HIDDEN if sign.item or sign.flag != NO_FLAG else Thing.SIGN for sign in here.signs}
    found |= dict.fromkeys(doors, Thing.DOOR)
    return found | {(person.x, person.y): THING_OF[person.role] for person in here.people}


def meanings(used: Collection[Ground | Thing]) -> list[str]:
    """Return letter and meaning of each symbol that is used."""
    return [f"{one.value.letter} {one.value.meaning}" for one in (*Ground, *Thing) if one in used]
