"""Interface through which a planner sees a world, read from the cartridge or seen while playing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.world.records import ExitTile, WorldMap
from pkmn_pyboy.world.tile_rules import WATER, TileRules


class Terrain(Protocol):
    """Meaning of tiles."""

    @property
    def rules(self) -> TileRules:
        """Meaning of the collision bytes of maps."""
        ...

    @property
    def openers(self) -> Mapping[int, str]:
        """Field move that opens a tile, by its collision byte."""
        ...


class World(Terrain, Protocol):
    """Maps and their exits."""

    @property
    def version(self) -> int:
        """Number that rises whenever something new is known."""
        ...

    def map_ids(self) -> Sequence[int]:
        """Return the ids of all known maps, in order."""
        ...

    def map(self, map_id: int) -> WorldMap | None:
        """Return a map, or None if it is unknown."""
        ...

    def exits(self, map_id: int) -> Sequence[ExitTile]:
        """Return the exits of a map: warps, then tiles along connected edges."""
        ...

    def name(self, map_id: int) -> str:
        """Return the name of a map."""
        ...


def openers_of(profile: GameProfile, rules: TileRules) -> dict[int, str]:
    """Return field moves by the tiles that they open: as the profile says, else by the names of its tiles."""
    names = profile.collision.names
    found = {value: "surf" for value in range(256) if rules.kind[value] == WATER}
    for move, name in (("cut", "cut_tree"), ("whirlpool", "whirlpool"), ("waterfall", "waterfall")):
        if name in names:
            found[names[name]] = move
    for move, entry in profile.field_moves.items():
        found |= dict.fromkeys(entry.tiles, move)
    return found
