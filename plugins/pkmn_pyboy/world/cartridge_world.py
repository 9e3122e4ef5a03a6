"""World of a cartridge image: every map, read on first use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.world.image import Image, OutOfImage
from pkmn_pyboy.world.knowledge import openers_of
from pkmn_pyboy.world.map_events import EventReader, Events
from pkmn_pyboy.world.map_exits import exit_tiles
from pkmn_pyboy.world.map_layout import Header, MapLayouts
from pkmn_pyboy.world.records import ExitTile, Warp, WorldMap
from pkmn_pyboy.world.tile_rules import TileRules


class CartridgeWorld:
    """All maps of an image, read on first use and kept.

    Invalid data (another game's image, a truncated one) are left out; ``problems`` says what and why.

    Args:
        rom: the cartridge image.
        profile: addresses of its tables.
    """

    def __init__(self, rom: bytes, profile: GameProfile) -> None:
        self.rules = TileRules.of(profile.collision)
        self.openers = openers_of(profile, self.rules)
        self.story_blocks = profile.world.changed
        """Blocks that the story changes, by map id."""
        self.problems: dict[int, str] = {}
        """Reason why a map, or its events, were left out, by map id."""
        self._names = profile.names
        self._image = Image(rom, profile.memory.rom_tables)
        self._layouts = MapLayouts(self._image, profile)
        self._profile = profile
        self._events: dict[int, Events] = {}
        self._maps: dict[int, WorldMap | None] = {}
        self._exits: dict[int, tuple[ExitTile, ...]] = {}

    @property
    def version(self) -> int:
        """Always 0: an image does not change."""
        return 0

    @cached_property
    def _places(self) -> dict[int, int]:
        return self._layouts.places()

    @cached_property
    def _event_reader(self) -> EventReader:
        return EventReader(self._image, self._profile, self._places)

    @cached_property
    def _ids(self) -> tuple[int, ...]:
        return tuple(map_id for map_id in sorted(self._places) if self._header(map_id) is not None)

    def map_ids(self) -> Sequence[int]:
        """Return the ids of all valid maps, in order."""
        return self._ids

    def name(self, map_id: int) -> str:
        """Return the profile's name of a map."""
        return self._names.map_name(map_id)

    def map(self, map_id: int) -> WorldMap | None:
        """Return a map, or None if the image has no map of that number."""
        if map_id not in self._maps:
            self._maps[map_id] = self._read(map_id)
        return self._maps[map_id]

    def exits(self, map_id: int) -> Sequence[ExitTile]:
        """Return the exits of a map: warps, then tiles along connected edges."""
        found = self._exits.get(map_id)
        if found is None:
            here = self.map(map_id)
            found = () if here is None else self.exit_tiles_of(here)
            self._exits[map_id] = found
        return found

    def with_blocks(self, map_id: int, blocks: Mapping[tuple[int, int], int]) -> WorldMap | None:
        """Return a map with other blocks, as its script sets them; None if the image has no such map.

        Args:
            map_id: the map.
            blocks: numbers of blocks by their upper left tile. If one is invalid, none is set.
        """
        here, header = self.map(map_id), self._header(map_id)
        if here is None or header is None:
            return None
        try:
            return replace(here, grid=self._layouts.changed(header, here.grid, blocks))
        except OutOfImage as error:
            self.problems[map_id] = f"without the story's changes: {error}"
            return here

    def exit_tiles_of(self, here: WorldMap) -> tuple[ExitTile, ...]:
        """Return the exits of a map that differs from the image's."""
        return exit_tiles(here, self.rules, self._warps_of, self.size)

    def size(self, map_id: int) -> tuple[int, int] | None:
        """Return columns and rows of a map, without reading its tiles; None if the image has no such map."""
        header = self._header(map_id)
        return None if header is None else (header.width * 2, header.height * 2)

    def block_count(self, map_id: int) -> int:
        """Return the maximum number of blocks of a map's tileset; 0 if the image has no such map."""
        header = self._header(map_id)
        if header is None:
            return 0
        tilesets = {found.tileset for one in self._ids if (found := self._header(one)) is not None}
        return self._layouts.block_count(header.tileset, tilesets)

    def _read(self, map_id: int) -> WorldMap | None:
        header = self._header(map_id)
        if header is None:
            return None
        try:
            grid = self._layouts.grid(header, self._places)
        except OutOfImage as error:
            self.problems[map_id] = f"left out: {error}"
            return None
        events = self._events_of(map_id)
        return WorldMap(
            map_id,
            self.name(map_id),
            header.tileset,
            header.kind,
            header.landmark,
            grid,
            events.warps,
            header.connections,
            events.triggers,
            events.signs,
            events.people,
        )

    def _header(self, map_id: int) -> Header | None:
        place = self._places.get(map_id)
        if place is None:
            return None
        try:
            return self._layouts.header(map_id, place)
        except OutOfImage as error:
            self.problems[map_id] = f"left out: {error}"
            return None

    def _events_of(self, map_id: int) -> Events:
        found = self._events.get(map_id)
        if found is None:
            found = Events()
            header = self._header(map_id)
            try:
                if header is not None:
                    found = self._event_reader.read(header)
            except OutOfImage as error:
                self.problems[map_id] = f"without exits and people: {error}"
            self._events[map_id] = found
        return found

    def _warps_of(self, map_id: int) -> tuple[Warp, ...]:
        return self._events_of(map_id).warps
