"""Frozen records that make up a world: maps with their exits and people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pkmn_pyboy.rules_gen2.clock import time_of_day
from pkmn_pyboy.world.tile_rules import MapGrid

ENTER = -1
"""Press of an exit that acts by itself when stepped on."""

NOWHERE = 0
"""Map id if no map is known."""

NO_FLAG = -1
"""Event flag of a person or object that no flag hides."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Tile of a map. ``map_id`` is group * 256 + number; column and row count from 0."""

    map_id: int
    x: int
    y: int

    def __str__(self) -> str:
        return f"{self.map_id >> 8}.{self.map_id & 0xFF}:{self.x},{self.y}"


@dataclass(frozen=True, slots=True)
class Warp:
    """Door, staircase or hole: a tile that leads to another map.

    ``target_map`` is :data:`NOWHERE` if it is unknown. ``back``: it leads to the map that the player came from.
    """

    number: int
    """Number on its map, from 1, by which warps of other maps refer to it."""
    x: int
    y: int
    target_map: int
    target_warp: int
    back: bool = False


@dataclass(frozen=True, slots=True)
class Connection:
    """Map that continues over an edge.

    A step over the edge lands on the tile plus ``shift``, on the near edge of that map.
    """

    direction: int
    """0 down (south), 1 up, 2 left, 3 right."""
    target_map: int
    shift: int
    """Difference between a tile's column (or row) here and there."""
    edge: int
    """Row (or column) of the other map on which the player lands."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """Tile that starts a scene when stepped on while the map's scene has this number (255: always)."""

    scene: int
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Sign:
    """Text to read, or a hidden item: then ``item`` is its number, and ``flag`` is set once it was taken."""

    x: int
    y: int
    kind: int
    item: int = 0
    flag: int = NO_FLAG


class Role(StrEnum):
    """Role of a person or object on a map, as far as the image shows it."""

    PERSON = "person"
    TRAINER = "trainer"
    ITEM = "item"
    HEALER = "healer"
    CLERK = "clerk"
    BOULDER = "boulder"
    ROCK = "rock"


@dataclass(frozen=True, slots=True)
class MapPerson:
    """Person, or object that the game handles like a person.

    ``hours`` are the first and the last hour at which they are present, -1 for always. If only the first is -1, the
    second has a bit for each time of day: 0 morning, 1 day, 2 night. Values that the image does not show, such as the
    trainer that a long script leads to, are 0.
    """

    number: int
    """Number on its map, from 1, as in the game's memory."""
    x: int
    y: int
    role: Role
    sprite: int = 0
    movement: int = 0
    walks: bool = False
    """True if it leaves its tile by itself."""
    radius: tuple[int, int] = (0, 0)
    """Tiles that it walks from its place, sideways and up or down."""
    facing: int = -1
    """Initial direction, -1 if it turns."""
    hours: tuple[int, int] = (-1, -1)
    sight: int = 0
    """Distance in tiles at which a trainer sees the player."""
    flag: int = NO_FLAG
    """Event flag that hides it while set."""
    beaten_flag: int = NO_FLAG
    """Event flag that is set once the trainer is beaten."""
    trainer_class: int = 0
    trainer: int = 0
    """Number in the class, from 1."""
    item: int = 0
    quantity: int = 0
    shop: int = -1
    """Number of a clerk's shop, from 0; -1 for none."""

    @property
    def keeps_hours(self) -> bool:
        """True if they are absent at some hours. The game treats equal hours as the whole day."""
        return self.hours[0] != self.hours[1]

    def stands_at(self, hour: int) -> bool:
        """Return True if hours and times of day allow them to be there."""
        first, last = self.hours
        if not self.keeps_hours:
            return True
        if first < 0:
            return bool(last >> time_of_day(hour) & 1)
        return first <= hour <= last if first < last else hour >= first or hour <= last


@dataclass(frozen=True, slots=True)
class WorldMap:
    """A map, as it is before anything changes it."""

    map_id: int
    name: str
    tileset: int
    kind: int
    """Environment: 1 town, 2 route, 3 indoor, 4 cave, 5 none, 6 gate, 7 dungeon; 0 if unknown."""
    landmark: int
    grid: MapGrid
    """Collision bytes, with one tile beyond each edge."""
    warps: tuple[Warp, ...] = ()
    connections: tuple[Connection, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    signs: tuple[Sign, ...] = ()
    people: tuple[MapPerson, ...] = ()

    @property
    def width(self) -> int:
        """Number of tile columns."""
        return self.grid.width

    @property
    def height(self) -> int:
        """Number of tile rows."""
        return self.grid.height


@dataclass(frozen=True, slots=True)
class ExitTile:
    """Exit tile of a map: at (x, y), press ``press`` (:data:`ENTER`: no press, it acts when stepped on).

    ``arrival`` is its destination; None if it is unknown, or depends on where the player came from (``back``).
    """

    x: int
    y: int
    press: int
    arrival: Place | None
    warp: int = 0
    """Number of the warp, 0 for an edge."""
    back: bool = False
