"""World of a cartridge with the story's changes: those of its event flags, and those seen on loaded maps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from pkmn_pyboy.profile.story_blocks import Tile
from pkmn_pyboy.world.cartridge_world import CartridgeWorld
from pkmn_pyboy.world.records import ExitTile, WorldMap
from pkmn_pyboy.world.tile_rules import MapGrid, TileRules

_EVENTS, _LOADED = "events", "loaded"
_WATER_MOVE = "surf"


class ChangedWorld:
    """World with changes.

    Blocks that scripts set by event flags are known from the profile (:meth:`follow`). A map that was seen differently
    replaces that (:meth:`note`), except for blocks that flags have changed since.

    Args:
        world: the unchanged maps.
    """

    def __init__(self, world: CartridgeWorld) -> None:
        self._world = world
        self._events: frozenset[int] | None = None
        self._block_events = frozenset(event for one in world.story_blocks.values() for event in one.events)
        self._blocks: dict[int, dict[Tile, int]] = {}
        self._by_story: dict[int, WorldMap] = {}
        self._seen: dict[int, WorldMap] = {}
        self._exits: dict[int, tuple[WorldMap, tuple[ExitTile, ...]]] = {}
        self._noted: MapGrid | None = None
        self._flags = b""
        self._changes = 0

    @property
    def rules(self) -> TileRules:
        """Meaning of the collision bytes of its maps."""
        return self._world.rules

    @property
    def openers(self) -> Mapping[int, str]:
        """Field move that opens a tile, by its collision byte."""
        return self._world.openers

    @property
    def problems(self) -> Mapping[int, str]:
        """Reason why a map, or its events, were left out, by map id."""
        return self._world.problems

    @property
    def version(self) -> int:
        """Number that rises whenever a map has changed."""
        return self._world.version + self._changes

    def map_ids(self) -> Sequence[int]:
        """Return the ids of all known maps, in order."""
        return self._world.map_ids()

    def map(self, map_id: int) -> WorldMap | None:
        """Return a map as it was last seen, or as the story sets it; None if it is unknown."""
        return self._seen.get(map_id) or self._story_map(map_id)

    def exits(self, map_id: int) -> Sequence[ExitTile]:
        """Return the present exits of a map: warps, then tiles along connected edges."""
        here = self.map(map_id)
        if here is None or here is self._world.map(map_id):
            return self._world.exits(map_id)
        known = self._exits.get(map_id)
        if known is None or known[0] is not here:
            known = self._exits[map_id] = (here, self._world.exit_tiles_of(here))
        return known[1]

    def name(self, map_id: int) -> str:
        """Return the name of a map."""
        return self._world.name(map_id)

    # Changes by the story ---------------------------------------------------------------------------------------

    def follow(self, flags: Collection[int]) -> bool:
        """Update to the event flags that are set. Return True if a map is different now.

        Args:
            flags: all set flags; those that change no block are ignored.
        """
        events = self._block_events.intersection(flags)
        if events == self._events:
            return False
        self._events = events
        changed = False
        for map_id, story in self._world.story_blocks.items():
            before, now = self._blocks.get(map_id, {}), story.now(events)
            if before != now:
                changed |= self._set_blocks(map_id, before, now)
        self._changes += changed
        return changed

    def follow_bytes(self, flags: bytes) -> bool:
        """Update to event flags as in the game's memory. Return True if a map is different now."""
        if flags == self._flags or not self._block_events:
            return False
        self._flags = flags
        return self.follow([event for event in self._block_events if flags[event >> 3] >> (event & 7) & 1])

    def _set_blocks(self, map_id: int, before: dict[Tile, int], now: dict[Tile, int]) -> bool:
        """Replace the blocks of a map. Return True if its tiles are different now."""
        known, story_map_before, seen = self.map(map_id), self._story_map(map_id), self._seen.get(map_id)
        self._blocks[map_id] = now
        self._by_story.pop(map_id, None)
        story_map = self._story_map(map_id)
        if known is None or story_map_before is None or story_map is None:
            return False
        if story_map.grid.tiles == story_map_before.grid.tiles:
            # other blocks, the same tiles: keep the object, so that caches of this map stay valid
            self._by_story[map_id] = story_map_before
        if seen is not None:
            tiles = bytearray(seen.grid.tiles)
            for x, y in {*before, *now}:
                if before.get((x, y)) != now.get((x, y)) and seen.grid.inside(x, y):
                    for row in (y, y + 1):
                        cells = slice(seen.grid.cell(x, row), seen.grid.cell(x, row) + 2)
                        tiles[cells] = story_map.grid.tiles[cells]
            self._remember(map_id, bytes(tiles))
        return self.map(map_id) is not known

    def _story_map(self, map_id: int) -> WorldMap | None:
        """Return a map with the blocks that the story sets."""
        blocks = self._blocks.get(map_id)
        if not blocks:
            return self._world.map(map_id)
        story_map = self._by_story.get(map_id)
        if story_map is None:
            story_map = self._world.with_blocks(map_id, blocks)
            if story_map is None:
                return None
            self._by_story[map_id] = story_map
        return story_map

    # Changes that were seen ------------------------------------------------------------------------------------

    def note(self, grid: MapGrid, *, arrived: bool = True) -> bool:
        """Record the map that is loaded now. Return True if it differs from what was known.

        Args:
            grid: the map. Tiles beyond its edges belong to another map.
            arrived: True if it was just entered. Else only changes since the last call count, except tiles that
                field moves opened, because they close again.
        """
        noted, self._noted = self._noted, grid
        if not arrived and grid == noted:
            return False
        story_map, known = self._story_map(grid.map_id), self.map(grid.map_id)
        if (
            story_map is None
            or known is None
            or (story_map.grid.width, story_map.grid.height) != (grid.width, grid.height)
        ):
            return False
        tiles = bytearray(known.grid.tiles)
        for y in range(grid.height):
            row = slice(grid.cell(0, y), grid.cell(grid.width, y))
            tiles[row] = grid.tiles[row]
        if not arrived and noted is not None and noted.map_id == grid.map_id:
            for cell, tile in enumerate(known.grid.tiles):
                same = noted.tiles[cell] == grid.tiles[cell]
                if same or self.openers.get(noted.tiles[cell], _WATER_MOVE) != _WATER_MOVE:
                    tiles[cell] = tile
        if known.grid.tiles == tiles:
            return False
        self._changes += 1
        self._remember(grid.map_id, bytes(tiles))
        return True

    def _remember(self, map_id: int, tiles: bytes) -> None:
        story_map = self._story_map(map_id)
        if story_map is None or tiles == story_map.grid.tiles:
            self._seen.pop(map_id, None)
        elif map_id not in self._seen or self._seen[map_id].grid.tiles != tiles:
            self._seen[map_id] = replace(story_map, grid=replace(story_map.grid, tiles=tiles))

    # Episodes -----------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Forget all changes."""
        if self._seen or any(self._blocks.values()):
            self._changes += 1
        for kept in (self._seen, self._blocks, self._by_story, self._exits):
            kept.clear()
        self._events, self._noted, self._flags = None, None, b""

    def save_state(self) -> dict[str, str]:
        """Return the tiles of differing maps by id, the current events and the last noted map, as plain values."""
        state = {str(map_id): here.grid.tiles.hex() for map_id, here in self._seen.items()}
        if self._events is not None and self._block_events:
            state[_EVENTS] = " ".join(str(event) for event in sorted(self._events))
        if self._noted is not None:
            grid = self._noted
            state[_LOADED] = f"{grid.map_id} {grid.width} {grid.height} {grid.tiles.hex()}"
        return state

    def load_state(self, state: Mapping[str, str]) -> None:
        """Restore the state from :meth:`save_state`."""
        self.clear()
        if _EVENTS in state:
            self.follow([int(event) for event in state[_EVENTS].split()])
        for key, tiles in state.items():
            here = self._world.map(int(key)) if key.isdigit() else None
            if here is not None and len(tiles) == 2 * len(here.grid.tiles):
                self._changes += 1
                self._remember(here.map_id, bytes.fromhex(tiles))
        if _LOADED in state:
            map_id, width, height, tiles = state[_LOADED].split()
            self._noted = MapGrid(int(map_id), int(width), int(height), bytes.fromhex(tiles))
