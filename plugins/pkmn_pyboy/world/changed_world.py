"""The world of a cartridge with the maps as they were last seen: the story may have opened or closed ways on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pkmn_pyboy.navigation.grid import MapGrid, TileRules
from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.records import Way, WorldMap


class ChangedWorld:
    """A world, and what differs from it.

    Args:
        world: the maps as nobody has changed them.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._changed: dict[int, WorldMap] = {}
        self._changes = 0

    @property
    def rules(self) -> TileRules:
        """What the collision bytes of its maps mean."""
        return self._world.rules

    @property
    def openers(self) -> Mapping[int, str]:
        """Field move that opens a tile, by its collision byte."""
        return self._world.openers

    @property
    def version(self) -> int:
        """Rises whenever a map is found changed."""
        return self._world.version + self._changes

    def map_ids(self) -> Sequence[int]:
        """All maps known, in order."""
        return self._world.map_ids()

    def map(self, map_id: int) -> WorldMap | None:
        """A map as it was last seen, or None where it is not known."""
        return self._changed.get(map_id) or self._world.map(map_id)

    def ways(self, map_id: int) -> Sequence[Way]:
        """The tiles by which a map can be left: warps, then tiles along connected edges."""
        return self._world.ways(map_id)

    def name(self, map_id: int) -> str:
        """What a map is called."""
        return self._world.name(map_id)

    def note(self, grid: MapGrid) -> None:
        """Takes in a map that is loaded now. What lies beyond its edges is another map's."""
        here = self._world.map(grid.map_id)
        if here is None or (here.grid.width, here.grid.height) != (grid.width, grid.height):
            return
        tiles = bytearray(here.grid.tiles)
        for y in range(grid.height):
            row = slice(grid.cell(0, y), grid.cell(grid.width, y))
            tiles[row] = grid.tiles[row]
        known = self.map(grid.map_id)
        if known is None or known.grid.tiles == tiles:
            return
        self._changes += 1
        if tiles == here.grid.tiles:
            del self._changed[grid.map_id]
        else:
            self._changed[grid.map_id] = replace(here, grid=replace(here.grid, tiles=bytes(tiles)))

    def clear(self) -> None:
        """Forgets all changes."""
        if self._changed:
            self._changed.clear()
            self._changes += 1

    def save_state(self) -> dict[str, str]:
        """The tiles of changed maps by id, as plain values."""
        return {str(map_id): here.grid.tiles.hex() for map_id, here in self._changed.items()}

    def load_state(self, state: Mapping[str, str]) -> None:
        """Goes on from :meth:`save_state`."""
        self.clear()
        for key, tiles in state.items():
            here = self._world.map(int(key))
            if here is not None and len(tiles) == 2 * len(here.grid.tiles):
                self.note(replace(here.grid, tiles=bytes.fromhex(tiles)))
