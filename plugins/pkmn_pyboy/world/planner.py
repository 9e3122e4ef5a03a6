"""Plans ways over tiles, warps and map edges, through what the player can do."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.records import Place
from pkmn_pyboy.world.route import Obstacle, Route


@dataclass(frozen=True, slots=True)
class Costs:
    """What a step counts beyond one."""

    grass: int = 0
    exit: int = 4
    use_move: int = 8
    someone: int = 30
    sight: int = 0


class RoutePlanner:
    """Finds the cheapest way. Keeps what it found out about a map for as long as nothing there changes."""

    def __init__(self, world: World, costs: Costs | None = None) -> None:
        self.world = world
        self.costs = costs or Costs()

    def route(
        self,
        start: Place,
        goal: Place | int,
        abilities: Abilities,
        *,
        came_from: Place | None = None,
        avoid: Collection[Place] = (),
        through_obstacles: bool = False,
    ) -> Route | None:
        """The way to a place, or to the nearest tile of a map (its id); None where there is none.

        Args:
            start: where the player stands.
            goal: where to. A tile that nobody can stand on (a person, a sign, a wall) is reached at a tile beside it.
            abilities: what the player can do.
            came_from: where exits that lead back lead; without it, anywhere that leads here.
            avoid: tiles and exits that did not work lately.
            through_obstacles: also ways that can't be walked yet; ``blocked_by`` then says what is missing.
        """
        raise NotImplementedError

    def blocked_by(self, start: Place, goal: Place | int, abilities: Abilities) -> tuple[Obstacle, ...] | None:
        """What would have to be opened to get there: nothing when it can be walked, None when nothing would help."""
        raise NotImplementedError

    def nearest(self, start: Place, kind: str, abilities: Abilities, *, visited: Collection[int] = ()) -> Route | None:
        """The way to the nearest of a kind: ``grass``, ``water``, ``healer``, ``shop``, ``item`` or ``unseen``.

        ``unseen`` is an exit to a map that is not in ``visited``. Healers, clerks and things are reached at the tile
        from which they are spoken to.
        """
        raise NotImplementedError
