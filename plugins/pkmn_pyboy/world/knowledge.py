"""What a planner asks of a world, whether it was read from the cartridge or seen on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from pkmn_pyboy.navigation.grid import WATER, TileRules
from pkmn_pyboy.profile import GameProfile
from pkmn_pyboy.world.records import Way, WorldMap


class World(Protocol):
    """Maps and the ways between them."""

    @property
    def rules(self) -> TileRules:
        """What the collision bytes of its maps mean."""
        ...

    @property
    def openers(self) -> Mapping[int, str]:
        """Field move that opens a tile, by its collision byte."""
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


def openers_of(profile: GameProfile, rules: TileRules) -> dict[int, str]:
    """Field moves by the tiles that they open: as the profile says, else by the names of its tiles."""
    names = profile.collision.names
    found = {value: "surf" for value in range(256) if rules.kind[value] == WATER}
    for move, name in (("cut", "cut_tree"), ("whirlpool", "whirlpool"), ("waterfall", "waterfall")):
        if name in names:
            found[names[name]] = move
    for move, entry in profile.field_moves.items():
        found |= dict.fromkeys(entry.tiles, move)
    return found
