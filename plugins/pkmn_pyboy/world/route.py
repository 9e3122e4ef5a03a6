"""A way through the world: one leg for each map, and what stands in it."""

from __future__ import annotations

from dataclasses import dataclass

from pkmn_pyboy.world.records import ENTER, Place


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Something in the way, and what opens it.

    ``kind`` is ``cut``, ``surf``, ``strength``, ``whirlpool``, ``waterfall``, ``rock_smash`` (the field move that it
    needs) or ``person`` (someone stands there; ``flag`` hides them once it is set).
    """

    kind: str
    place: Place
    flag: int = -1
    person: int = 0
    """Number on the map of who stands there; 0 for a tile."""


@dataclass(frozen=True, slots=True)
class Leg:
    """The part of a way on one map."""

    map_id: int
    tiles: tuple[tuple[int, int], ...]
    """Every tile stood on, in order, from the first to the last on this map. A jump leaves one out."""
    press: int = ENTER
    """Direction to press on the last tile to leave the map; ENTER where stepping on it is enough, and at the goal."""
    leads_to: Place | None = None
    """Where that arrives; None on the last leg."""
    warp: int = 0
    """Number of the warp by which it leaves; 0 over an edge, or at the goal."""

    @property
    def moves(self) -> int:
        """Steps and jumps on this map."""
        return len(self.tiles) - 1


@dataclass(frozen=True, slots=True)
class Route:
    """A way from a place to another one."""

    legs: tuple[Leg, ...]
    cost: int
    """Moves, with what grass, doors and obstacles count beyond one."""
    obstacles: tuple[Obstacle, ...] = ()
    """What is on the way and has to be dealt with, in order: trees to cut, water to surf, people to wait for."""
    blocked_by: tuple[Obstacle, ...] = ()
    """Those that the player can't deal with yet. Empty for a way that can be walked now."""

    @property
    def tiles(self) -> int:
        """Moves on all maps, steps through exits included."""
        return sum(leg.moves for leg in self.legs) + len(self.legs) - 1

    @property
    def maps(self) -> tuple[int, ...]:
        """Ids of the maps that it leads over, in order."""
        return tuple(leg.map_id for leg in self.legs)

    @property
    def goal(self) -> Place:
        """Where it ends."""
        leg = self.legs[-1]
        return Place(leg.map_id, *leg.tiles[-1])
