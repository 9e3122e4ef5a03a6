"""Route through the world: one leg for each map, and its obstacles."""

from __future__ import annotations

from dataclasses import dataclass

from pkmn_pyboy.world.records import ENTER, Place


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Obstacle on a route, and what opens it.

    ``kind`` is ``cut``, ``surf``, ``strength``, ``whirlpool``, ``waterfall``, ``rock_smash`` (the field move that it
    needs) or ``person`` (a person blocks it; ``flag`` hides them once it is set).
    """

    kind: str
    place: Place
    flag: int = -1
    person: int = 0
    """Number of the person on the map; 0 for a tile."""


@dataclass(frozen=True, slots=True)
class Leg:
    """Part of a route on one map."""

    map_id: int
    tiles: tuple[tuple[int, int], ...]
    """Tiles in order, from the first to the last on this map. A tile that is jumped over is left out."""
    press: int = ENTER
    """Direction to press on the last tile to leave the map; ENTER if stepping on it is enough, and at the goal."""
    leads_to: Place | None = None
    """Arrival on the next map; None on the last leg."""
    warp: int = 0
    """Number of the warp by which it leaves; 0 over an edge, or at the goal."""

    @property
    def moves(self) -> int:
        """Number of steps and jumps on this map."""
        return len(self.tiles) - 1


@dataclass(frozen=True, slots=True)
class Route:
    """Route from one place to another."""

    legs: tuple[Leg, ...]
    cost: int
    """Number of moves, with the extra cost of grass, doors and obstacles."""
    obstacles: tuple[Obstacle, ...] = ()
    """Obstacles on the route, in order: trees to cut, water to surf, people to wait for."""
    blocked_by: tuple[Obstacle, ...] = ()
    """Obstacles that the player cannot pass yet. Empty if the route can be walked now."""

    @property
    def tiles(self) -> int:
        """Number of moves on all maps, including steps through exits."""
        return sum(leg.moves for leg in self.legs) + len(self.legs) - 1

    @property
    def maps(self) -> tuple[int, ...]:
        """Ids of its maps, in order."""
        return tuple(leg.map_id for leg in self.legs)

    @property
    def goal(self) -> Place:
        """Place where it ends."""
        leg = self.legs[-1]
        return Place(leg.map_id, *leg.tiles[-1])
