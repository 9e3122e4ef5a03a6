"""World as far as it was seen: tiles that were on the screen, and exits that were taken."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.world.knowledge import openers_of
from pkmn_pyboy.world.map_exits import edge_cells, working_warps
from pkmn_pyboy.world.records import NOWHERE, ExitTile, MapPerson, Place, Role, Sign, Warp, WorldMap
from pkmn_pyboy.world.tile_rules import OFF_MAP, WALL, MapGrid, TileRules

UNSEEN = OFF_MAP
"""Collision byte of an unseen tile: a wall for planners."""


class SeenWorld:
    """World that starts empty and grows by :meth:`learn` and :meth:`learn_exit`.

    An exit has no arrival until it was taken, in either direction.

    Args:
        profile: meaning of tiles and names of maps.
    """

    def __init__(self, profile: GameProfile) -> None:
        self.rules = TileRules.of(profile.collision)
        self.openers = openers_of(profile, self.rules)
        kinds = self.rules.kind
        self._stands = bytes(kinds[value] != WALL or value in self.openers for value in range(256))
        self._names = profile.names
        self._version = 0
        self._maps: dict[int, WorldMap] = {}
        self._taken: dict[Place, Place] = {}
        self._arrived: dict[Place, Place] = {}
        self._verges: dict[int, frozenset[tuple[int, int]]] = {}
        self._directions: dict[int, tuple[int, ...]] = {}
        self._edges: dict[int, tuple[tuple[int, int, int], ...]] = {}
        self._exits: dict[int, tuple[ExitTile, ...]] = {}

    @property
    def version(self) -> int:
        """Number that rises whenever something new is seen."""
        return self._version

    def map_ids(self) -> Sequence[int]:
        """Return the ids of the visited maps, in order."""
        return tuple(sorted(self._maps))

    def map(self, map_id: int) -> WorldMap | None:
        """Return a visited map, or None."""
        return self._maps.get(map_id)

    def name(self, map_id: int) -> str:
        """Return the profile's name of a map."""
        return self._names.map_name(map_id)

    def exits(self, map_id: int) -> Sequence[ExitTile]:
        """Return the exits of a map; an exit that was not taken yet has no arrival."""
        found = self._exits.get(map_id)
        if found is None:
            here = self._maps.get(map_id)
            found = () if here is None else tuple(self._find_exits(here))
            self._exits[map_id] = found
        return found

    def learn(
        self,
        grid: MapGrid,
        warps: Iterable[tuple[int, int, bool]] = (),
        people: Iterable[MapPerson] = (),
        signs: Iterable[tuple[int, int]] = (),
        edges: Iterable[int] = (),
    ) -> bool:
        """Record a map, as far as it was seen. Return True if something about it is new.

        Args:
            grid: its tiles; :data:`UNSEEN` for unseen ones.
            warps: column and row of each warp, in the game's order, and True if it leads back.
            people: the people seen there.
            signs: column and row of each.
            edges: directions in which the map continues.
        """
        map_id = grid.map_id
        known_warps = tuple(Warp(number, x, y, NOWHERE, 0, back) for number, (x, y, back) in enumerate(warps, 1))
        known_people = tuple(person for person in people if grid.inside(person.x, person.y))
        known_signs = tuple(Sign(x, y, 0) for x, y in signs if grid.inside(x, y))
        directions = tuple(sorted(set(edges)))
        new = WorldMap(map_id, self.name(map_id), 0, 0, 0, grid, known_warps, (), (), known_signs, known_people)
        if new == self._maps.get(map_id) and self._directions.get(map_id) == directions:
            return False
        self._maps[map_id] = new
        self._directions[map_id] = directions
        self._edges[map_id] = tuple(
            (*grid.tile_of(cell), direction)
            for direction in directions
            for cell in edge_cells(grid, self.rules, direction)
        )
        self._changed(map_id)
        return True

    def learn_exit(self, origin: Place, arrival: Place) -> bool:
        """Record that an exit led to a place, on another map or the same. Return True if that is new."""
        if self._taken.get(origin) == arrival or origin == arrival:
            return False
        before = self._taken.get(origin)
        self._taken[origin] = arrival
        if before is None:
            self._arrived.setdefault(arrival, origin)
        else:
            self._arrived.clear()
            for one, other in self._taken.items():
                self._arrived.setdefault(other, one)
        self._changed(origin.map_id)
        self._changed(arrival.map_id)
        return True

    def verge(self, map_id: int) -> frozenset[tuple[int, int]]:
        """Return the tiles of a map that were seen, are no walls, and have an unseen neighbour."""
        found = self._verges.get(map_id)
        if found is None:
            here = self._maps.get(map_id)
            found = frozenset() if here is None else frozenset(self._find_verge(here))
            self._verges[map_id] = found
        return found

    def clear(self) -> None:
        """Forget everything."""
        self._maps.clear()
        self._directions.clear()
        self._edges.clear()
        self._taken.clear()
        self._arrived.clear()
        self._exits.clear()
        self._verges.clear()
        self._version += 1

    def save_state(self) -> dict[str, Any]:
        """Return the state for :meth:`load_state`, as plain values."""
        return {
            "maps": [
                {
                    "id": here.map_id,
                    "width": here.width,
                    "height": here.height,
                    "tiles": base64.b85encode(zlib.compress(here.grid.tiles)).decode(),
                    "warps": [[warp.x, warp.y, 0 if warp.back else 1] for warp in here.warps],
                    "people": [[one.number, one.x, one.y, int(one.walks), str(one.role)] for one in here.people],
                    "signs": [[sign.x, sign.y] for sign in here.signs],
                    "edges": list(self._directions[here.map_id]),
                }
                for here in self._maps.values()
            ],
            "ways": [[*_plain(origin), *_plain(arrival)] for origin, arrival in self._taken.items()],
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore a saved state. Raises ValueError if it is invalid."""
        try:
            maps, taken = list(state["maps"]), list(state["ways"])
            self.clear()
            for entry in maps:
                width, height = int(entry["width"]), int(entry["height"])
                tiles = zlib.decompress(base64.b85decode(entry["tiles"]))
                if width < 1 or height < 1 or len(tiles) != (width + 2) * (height + 2):
                    raise ValueError("a map's tiles do not fit its size")
                self.learn(
                    MapGrid(int(entry["id"]), width, height, tiles),
                    [(int(x), int(y), int(leads_on) == 0) for x, y, leads_on in entry["warps"]],
                    [
                        MapPerson(int(number), int(x), int(y), Role(role), walks=bool(walks))
                        for number, x, y, walks, role in entry["people"]
                    ],
                    [(int(x), int(y)) for x, y in entry["signs"]],
                    [int(direction) for direction in entry["edges"]],
                )
            for origin_map, x, y, arrival_map, to_x, to_y in taken:
                self.learn_exit(Place(int(origin_map), int(x), int(y)), Place(int(arrival_map), int(to_x), int(to_y)))
        except (KeyError, TypeError, zlib.error) as error:
            raise ValueError(f"not the state of a seen world: {error}") from error

    def _changed(self, map_id: int) -> None:
        self._exits.pop(map_id, None)
        self._verges.pop(map_id, None)
        self._version += 1

    def _find_exits(self, here: WorldMap) -> Iterable[ExitTile]:
        for warp, press in working_warps(here, self.rules):
            arrival = None if warp.back else self._through(here, warp)
            yield ExitTile(warp.x, warp.y, press, arrival, warp.number, warp.back)
        for x, y, direction in self._edges[here.map_id]:
            yield ExitTile(x, y, direction, self._beyond(here, x, y, direction))

    def _through(self, here: WorldMap, warp: Warp) -> Place | None:
        """Return a warp's destination: as it was taken, or the exit that was left when the player arrived by it."""
        known = self._taken.get(Place(here.map_id, warp.x, warp.y))
        if known is not None:
            return known
        # the game walks one step out of a door, so the player may first be seen on the tile below it
        doorstep = (Place(here.map_id, warp.x, warp.y), Place(here.map_id, warp.x, warp.y + 1))
        return next((self._arrived[place] for place in doorstep if place in self._arrived), None)

    def _beyond(self, here: WorldMap, x: int, y: int, direction: int) -> Place | None:
        """Return an edge's destination, from any tile of it that was crossed, in either direction."""
        known = self._taken.get(Place(here.map_id, x, y))
        if known is not None:
            return known
        for ox, oy, other in self._edges[here.map_id]:
            crossed = self._crossed(Place(here.map_id, ox, oy)) if other == direction else None
            if crossed is None:
                continue
            place = Place(crossed.map_id, crossed.x + x - ox, crossed.y + y - oy)
            there = self._maps.get(crossed.map_id)
            if there is not None and there.grid.inside(place.x, place.y):
                return place
        return None

    def _crossed(self, tile: Place) -> Place | None:
        """Return the place on the other side of an edge, from a step over this tile in either direction."""
        known = self._taken.get(tile)
        if known is not None:
            return known
        return self._arrived.get(tile)

    def _find_verge(self, here: WorldMap) -> Iterable[tuple[int, int]]:
        """Yield frontier tiles. All cells are tested at once, as the bytes of one long integer."""
        grid = here.grid
        stride, onward = grid.stride, self._directions[here.map_id]
        unseen = bytearray(grid.tiles.translate(bytes(value == UNSEEN for value in range(256))))
        # a map's size shows on its edges; beyond an edge there is something to see only if the map continues there
        if 0 not in onward:
            unseen[-stride:] = bytes(stride)
        if 1 not in onward:
            unseen[:stride] = bytes(stride)
        if 2 not in onward:
            unseen[::stride] = bytes(grid.height + 2)
        if 3 not in onward:
            unseen[stride - 1 :: stride] = bytes(grid.height + 2)
        hidden = int.from_bytes(unseen, "little")
        beside = hidden << 8 | hidden >> 8 | hidden << 8 * stride | hidden >> 8 * stride
        found = beside & int.from_bytes(grid.tiles.translate(self._stands), "little")
        for cell, marked in enumerate(found.to_bytes(len(grid.tiles), "little")):
            if marked and grid.inside(*grid.tile_of(cell)):
                yield grid.tile_of(cell)


def is_seen(grid: MapGrid, x: int, y: int) -> bool:
    """Return whether a tile is inside the map and not :data:`UNSEEN`."""
    return grid.inside(x, y) and grid.tiles[grid.cell(x, y)] != UNSEEN


def _plain(place: Place) -> tuple[int, int, int]:
    return (place.map_id, place.x, place.y)
