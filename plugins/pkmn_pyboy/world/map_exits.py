"""Exit tiles of a map, and where each leads."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pkmn_pyboy.navigation.grid import OPPOSITE, STEPS, WALL, TileRules
from pkmn_pyboy.world.records import ENTER, NOWHERE, Connection, Place, Warp, Way, WorldMap


def ways_out(
    here: WorldMap,
    rules: TileRules,
    warps_of: Callable[[int], tuple[Warp, ...]],
    size_of: Callable[[int], tuple[int, int] | None],
) -> tuple[Way, ...]:
    """Return all exits of a map.

    Args:
        here: the map.
        rules: meaning of tiles.
        warps_of: returns another map's warps; empty if it is unknown.
        size_of: returns another map's columns and rows.
    """
    return (*_by_warps(here, rules, warps_of, size_of), *_over_edges(here, rules, size_of))


def _by_warps(
    here: WorldMap,
    rules: TileRules,
    warps_of: Callable[[int], tuple[Warp, ...]],
    size_of: Callable[[int], tuple[int, int] | None],
) -> Iterator[Way]:
    grid = here.grid
    for warp in here.warps:
        if not grid.inside(warp.x, warp.y):
            continue
        tile = grid.tiles[grid.cell(warp.x, warp.y)]
        if tile in rules.warps:
            press = ENTER
        elif rules.mats[tile] < len(STEPS):
            press = rules.mats[tile]
        else:
            continue
        arrival = _arrival(warp, warps_of)
        size = size_of(arrival.map_id) if arrival is not None else None
        if arrival is not None and (size is None or arrival.x >= size[0] or arrival.y >= size[1]):
            arrival = None
        yield Way(warp.x, warp.y, press, arrival, warp.number, warp.back)


def _arrival(warp: Warp, warps_of: Callable[[int], tuple[Warp, ...]]) -> Place | None:
    if warp.back or warp.target_map == NOWHERE:
        return None
    for other in warps_of(warp.target_map):
        if other.number == warp.target_warp:
            return Place(warp.target_map, other.x, other.y)
    return None


def _over_edges(here: WorldMap, rules: TileRules, size_of: Callable[[int], tuple[int, int] | None]) -> Iterator[Way]:
    grid, tiles = here.grid, here.grid.tiles
    for connection in here.connections:
        size = size_of(connection.target_map)
        if size is None:
            continue
        direction = connection.direction
        delta = grid.deltas[direction]
        for cell in grid.edge(direction):
            inner, outer = tiles[cell], tiles[cell + delta]
            if rules.kind[inner] == WALL or rules.kind[outer] == WALL:
                continue
            if rules.sides[inner] >> direction & 1 or rules.sides[outer] >> OPPOSITE[direction] & 1:
                continue
            x, y = grid.tile_of(cell)
            arrival = _over_edge(connection, x, y, size)
            if arrival is not None:
                yield Way(x, y, direction, arrival)


def _over_edge(connection: Connection, x: int, y: int, size: tuple[int, int]) -> Place | None:
    if connection.direction < 2:
        x, y = x + connection.shift, connection.edge
    else:
        x, y = connection.edge, y + connection.shift
    return Place(connection.target_map, x, y) if 0 <= x < size[0] and 0 <= y < size[1] else None
