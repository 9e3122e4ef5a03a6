"""What a planner asks of a world, whether it was read from the cartridge or seen on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pkmn_pyboy.navigation.grid import TileRules
from pkmn_pyboy.world.records import Way, WorldMap


class World(Protocol):
    """Maps and the ways between them."""

    @property
    def rules(self) -> TileRules:
        """What the collision bytes of its maps mean."""
        ...

    @property
    def version(self) -> int:
        """Rises whenever something is learnt."""
        ...

    def map_ids(self) -> Sequence[int]:
        """All maps known, in order."""
        ...

    def map(self, map_id: int) -> WorldMap | None:
        """A map, or None where it is not known."""
        ...

    def ways(self, map_id: int) -> Sequence[Way]:
        """The tiles by which a map can be left: warps, then tiles along connected edges."""
        ...

    def name(self, map_id: int) -> str:
        """What a map is called."""
        ...
