"""Pictures of maps for charts: one pixel for each tile, in the colours of its ground, people and exits."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.map_symbols import ground, things


def map_pictures(world: World, maps: Collection[int]) -> dict[int, NDArray[np.uint8]]:
    """Return the picture of each of these maps that is known, (height, width, 3) uint8 by its id."""
    found = {}
    for map_id in maps:
        here = world.map(map_id)
        if here is None:
            continue
        picture = np.zeros((here.height, here.width, 3), np.uint8)
        for y, x in np.ndindex(here.height, here.width):
            picture[y, x] = ground(world, here.grid, x, y).value.colour
        doors = [(way.x, way.y) for way in world.exits(map_id) if way.warp]
        for (x, y), thing in things(here, doors).items():
            if 0 <= x < here.width and 0 <= y < here.height:
                picture[y, x] = thing.value.colour
        found[map_id] = picture
    return found
