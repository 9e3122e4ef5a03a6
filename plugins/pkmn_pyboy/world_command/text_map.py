"""A whole map in letters, with rulers and a legend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.map_symbols import Ground, Thing, ground, meanings, things
from pkmn_pyboy.world.records import WorldMap
from pkmn_pyboy.world.route import Leg

_RULER = 5
_LEAST = 20
"""Minimum number of columns in one piece, at any width."""


def text_map(world: World, here: WorldMap, leg: Leg | None = None, width: int | None = None) -> list[str]:
    """Return the rows of a map, with column numbers above and row numbers before them.

    Args:
        world: the map's world.
        here: the map.
        leg: a route on it, to mark.
        width: maximum letters in a row; a wider map is shown in pieces.
    """
    marks = _marks(world, here, leg)
    margin = " " * (len(str(here.height - 1)) + 1)
    letters = [
        "".join(_symbol(world, here, marks, x, y).value.letter for x in range(here.width)) for y in range(here.height)
    ]
    room = here.width if width is None else max(_LEAST, (width - len(margin)) // _RULER * _RULER)
    rows: list[str] = []
    for first in range(0, here.width, room):
        last = min(first + room, here.width)
        if room < here.width:
            rows += ([""] if first else []) + [f"Columns {first} to {last - 1}"]
        rows.append(margin + _ruler(first, last))
        rows += [f"{y:>{len(margin) - 1}} {row[first:last]}" for y, row in enumerate(letters)]
    return rows


def legend(world: World, maps: Iterable[tuple[WorldMap, Leg | None]]) -> str:
    """Return the meaning of the letters on some maps."""
    used: set[Ground | Thing] = set()
    for here, leg in maps:
        marks = _marks(world, here, leg)
        used.update(_symbol(world, here, marks, x, y) for y in range(here.height) for x in range(here.width))
    return ", ".join(meanings(used))


def _marks(world: World, here: WorldMap, leg: Leg | None) -> dict[tuple[int, int], Thing]:
    marks = things(here, [(way.x, way.y) for way in world.exits(here.map_id) if way.warp])
    return marks | (path_marks(leg) if leg is not None else {})


def path_marks(leg: Leg) -> dict[tuple[int, int], Thing]:
    """Return the tiles of a route on a map, with its first and last."""
    marks: dict[tuple[int, int], Thing] = dict.fromkeys(leg.tiles, Thing.PATH)
    marks[leg.tiles[-1]] = Thing.GOAL
    marks[leg.tiles[0]] = Thing.START
    return marks


def _symbol(world: World, here: WorldMap, marks: Mapping[tuple[int, int], Thing], x: int, y: int) -> Ground | Thing:
    return marks.get((x, y)) or ground(world, here.grid, x, y)


def _ruler(first: int, last: int) -> str:
    """Return column numbers, each at its column, where there is room."""
    row = ""
    for x in range(first, last, _RULER):
        row = row.ljust(x - first) + str(x)
    return row.rstrip()
