"""What a world is made of: maps with their exits and people, as plain frozen records."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pkmn_pyboy.navigation.grid import MapGrid

ENTER = -1
"""Press of an exit that acts by itself when stepped on."""

NOWHERE = 0
"""Map id where none is known."""

NO_FLAG = -1
"""Event flag of what none hides."""

DIRECTIONS = ("down", "up", "left", "right")
"""Names of directions, in the order of :class:`~pkmn_pyboy.state.game_state.Facing`."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A tile of a map. ``map_id`` is group * 256 + number; column and row count from 0."""

    map_id: int
    x: int
    y: int

    def __str__(self) -> str:
        return f"{self.map_id >> 8}.{self.map_id & 0xFF}:{self.x},{self.y}"


@dataclass(frozen=True, slots=True)
class Warp:
    """A door, a staircase, a hole: a tile that leads to another map.

    ``target_map`` is :data:`NOWHERE` where it is not known. ``back``: it leads to where the player came from.
    """

    number: int
    """On its map, from 1; what other maps' warps call it."""
    x: int
    y: int
    target_map: int
    target_warp: int
    back: bool = False


@dataclass(frozen=True, slots=True)
class Connection:
    """A map that continues over an edge. A step over it lands on the tile plus the shift, on the near edge there."""

    direction: int
    """0 down (south), 1 up, 2 left, 3 right."""
    target_map: int
    shift: int
    """Tiles along the edge from a tile's column (or row) here to the one there."""
    edge: int
    """Row (or column) there on which the player lands."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """A tile that starts a scene when it is stepped on, while the map's scene has this number (255: always)."""

    scene: int
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Sign:
    """Something to read, or a hidden thing: then ``item`` tells which, and ``flag`` is set once it was taken."""

    x: int
    y: int
    kind: int
    item: int = 0
    flag: int = NO_FLAG


class Role(StrEnum):
    """What someone (or something) on a map is there for, as far as the image tells."""

    PERSON = "person"
    TRAINER = "trainer"
    ITEM = "item"
    HEALER = "healer"
    CLERK = "clerk"
    BOULDER = "boulder"
    ROCK = "rock"


MORNING_FROM, DAY_FROM, NIGHT_FROM = 4, 10, 18
"""Hours at which the times of day begin."""


DAY = 1


def time_of_day(hour: int) -> int:
    """0 morning, 1 day, 2 night."""
    return 0 if MORNING_FROM <= hour < DAY_FROM else DAY if DAY_FROM <= hour < NIGHT_FROM else 2


@dataclass(frozen=True, slots=True)
class MapPerson:
    """Someone, or something that stands on a map like a person.

    ``hours`` are the first and the last hour at which they are there, -1 for always. With -1 as the first alone, the
    second has a bit for each time of day: 0 morning, 1 day, 2 night. What is not told by the image, such as the trainer
    that a long script leads to, is 0.
    """

    number: int
    """On its map, from 1, as in the game's memory."""
    x: int
    y: int
    role: Role
    sprite: int = 0
    movement: int = 0
    walks: bool = False
    """Whether it leaves its tile by itself."""
    radius: tuple[int, int] = (0, 0)
    """Tiles that it goes from its place, sideways and up or down."""
    facing: int = -1
    """Direction in which it looks at first, -1 where it turns."""
    hours: tuple[int, int] = (-1, -1)
    sight: int = 0
    """Tiles at which a trainer sees the player."""
    flag: int = NO_FLAG
    """Event flag that hides it while set."""
    beaten_flag: int = NO_FLAG
    """Event flag that is set once a trainer is beaten."""
    trainer_class: int = 0
    trainer: int = 0
    """Number in the class, from 1."""
    item: int = 0
    quantity: int = 0
    shop: int = -1
    """Number of the shop that a clerk keeps, from 0; -1 for none."""

    @property
    def keeps_hours(self) -> bool:
        """Whether they are gone at some hours. The game takes equal hours for the whole day."""
        return self.hours[0] != self.hours[1]

    def stands_at(self, hour: int) -> bool:
        """Whether hours and times of day let them be there."""
        first, last = self.hours
        if not self.keeps_hours:
            return True
        if first < 0:
            return bool(last >> time_of_day(hour) & 1)
        return first <= hour <= last if first < last else hour >= first or hour <= last


@dataclass(frozen=True, slots=True)
class WorldMap:
    """One map, as it is when nobody has changed it."""

    map_id: int
    name: str
    tileset: int
    kind: int
    """1 town, 2 route, 3 indoor, 4 cave, 5 of no kind, 6 gate, 7 dungeon; 0 where it is not known."""
    landmark: int
    grid: MapGrid
    """Collision, with one tile of what lies beyond each edge."""
    warps: tuple[Warp, ...] = ()
    connections: tuple[Connection, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    signs: tuple[Sign, ...] = ()
    people: tuple[MapPerson, ...] = ()

    @property
    def width(self) -> int:
        """Columns of tiles."""
        return self.grid.width

    @property
    def height(self) -> int:
        """Rows of tiles."""
        return self.grid.height


@dataclass(frozen=True, slots=True)
class Way:
    """One tile by which a map can be left: stand on (x, y), press ``press`` (:data:`ENTER`: nothing, it acts).

    ``arrival`` is where that leads; None where it is not known, or depends on where the player came from (``back``).
    """

    x: int
    y: int
    press: int
    arrival: Place | None
    warp: int = 0
    """Number of the warp, 0 for an edge."""
    back: bool = False
