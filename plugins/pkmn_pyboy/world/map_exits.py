"""Exit tiles of a map, and where each leads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pkmn_pyboy.world.records import ENTER, NOWHERE, Connection, ExitTile, Place, Warp, WorldMap
from pkmn_pyboy.world.tile_rules import OPPOSITE, STEPS, WALL, MapGrid, TileRules

EDGES = ("south", "north", "west", "east")
"""Names of the edges by direction."""


def exit_tiles(
    here: WorldMap,
    rules: TileRules,
    warps_of: Callable[[int], tuple[Warp, ...]],
    size_of: Callable[[int], tuple[int, int] | None],
) -> tuple[ExitTile, ...]:
    """Return all exits of a map.

    Args:
        here: the map.
        rules: meaning of tiles.
        warps_of: returns another map's warps; empty if it is unknown.
        size_of: returns another map's columns and rows.
    """
    return (*_by_warps(here, rules, warps_of, size_of), *_over_edges(here, rules, size_of))


@dataclass(frozen=True, slots=True)
class Exit:
    """Exit of a map: all tiles that lead through one door or over one edge.

    ``ends`` maps its cells to the direction to press there, :data:`~pkmn_pyboy.world.records.ENTER` for none.
    """

    key: str
    """Key that stays the same while the map does: the destination or the edge."""
    destination: int
    """Map id, or :data:`~pkmn_pyboy.world.records.NOWHERE`."""
    ends: dict[int, int]
    back: bool = False
    """True if it leads back to the previous map."""
    edge: str = ""
    """Name of the edge; empty for a warp."""


def exits_of(here: WorldMap, rules: TileRules) -> tuple[Exit, ...]:
    """Return the exits of a map, warps first. Two mats of one door are one exit."""
    exits: dict[str, Exit] = {}
    for warp, press in working_warps(here, rules):
        target = warp.target_map
        key = f"warp back {warp.x},{warp.y}" if warp.back else f"warp {target >> 8}.{target & 0xFF} {warp.target_warp}"
        known = exits.setdefault(key, Exit(key, target, {}, warp.back))
        known.ends[here.grid.cell(warp.x, warp.y)] = press
    edges = []
    for one in here.connections:
        ends = dict.fromkeys(edge_cells(here.grid, rules, one.direction), one.direction)
        name = EDGES[one.direction]
        edges.append(Exit(f"edge {name}", one.target_map, ends, edge=name))
    return (*exits.values(), *edges)


def working_warps(here: WorldMap, rules: TileRules) -> Iterator[tuple[Warp, int]]:
    """Yield the warps whose tile leads away, with the direction to press there, ENTER for none."""
    grid = here.grid
    for warp in here.warps:
        if not grid.inside(warp.x, warp.y):
            continue
        tile = grid.tiles[grid.cell(warp.x, warp.y)]
        press = ENTER if tile in rules.warps else rules.mats[tile]
        if press < len(STEPS):
            yield warp, press


def edge_cells(grid: MapGrid, rules: TileRules, direction: int) -> Iterator[int]:
    """Yield the cells from which a step in a direction leaves the map."""
    tiles, delta = grid.tiles, grid.deltas[direction]
    for cell in grid.edge(direction):
        inner, outer = tiles[cell], tiles[cell + delta]
        if WALL in (rules.kind[inner], rules.kind[outer]):
            continue
        if not (rules.sides[inner] >> direction & 1 or rules.sides[outer] >> OPPOSITE[direction] & 1):
            yield cell


def _by_warps(
    here: WorldMap,
    rules: TileRules,
    warps_of: Callable[[int], tuple[Warp, ...]],
    size_of: Callable[[int], tuple[int, int] | None],
) -> Iterator[ExitTile]:
    for warp, press in working_warps(here, rules):
        arrival = _arrival(warp, warps_of)
        size = size_of(arrival.map_id) if arrival is not None else None
        if arrival is not None and (size is None or arrival.x >= size[0] or arrival.y >= size[1]):
            arrival = None
        yield ExitTile(warp.x, warp.y, press, arrival, warp.number, warp.back)


def _arrival(warp: Warp, warps_of: Callable[[int], tuple[Warp, ...]]) -> Place | None:
    if warp.back or warp.target_map == NOWHERE:
        return None
    for other in warps_of(warp.target_map):
        if other.number == warp.target_warp:
            return Place(warp.target_map, other.x, other.y)
    return None


def _over_edges(
    here: WorldMap, rules: TileRules, size_of: Callable[[int], tuple[int, int] | None]
) -> Iterator[ExitTile]:
    for connection in here.connections:
        size = size_of(connection.target_map)
        if size is None:
            continue
        for cell in edge_cells(here.grid, rules, connection.direction):
            x, y = here.grid.tile_of(cell)
            arrival = _over_edge(connection, x, y, size)
            if arrival is not None:
                yield ExitTile(x, y, connection.direction, arrival)


def _over_edge(connection: Connection, x: int, y: int, size: tuple[int, int]) -> Place | None:
    if connection.direction < 2:
        x, y = x + connection.shift, connection.edge
    else:
        x, y = connection.edge, y + connection.shift
    return Place(connection.target_map, x, y) if 0 <= x < size[0] and 0 <= y < size[1] else None
