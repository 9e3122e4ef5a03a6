"""Search for the map that a user means, by its name, part of it, or its numbers; and a tile on it."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.records import Place
from pkmncli.errors import ConfigurationError

_NUMBERS = re.compile(r"^(\d+)\.(\d+)$")
_TILE = re.compile(r"^(?P<map>.*?):(?P<x>\d+),(?P<y>\d+)$")
_LISTED = 6
_ALIKE = 0.5


def find_map(world: World, words: str) -> int:
    """Return the id of a map.

    Args:
        world: the maps.
        words: its name in any case, a unique part of it, or group.number.

    Raises:
        ConfigurationError: no map or several maps match; the message lists near ones.
    """
    wanted = words.strip()
    ids = world.map_ids()
    numbers = _NUMBERS.match(wanted)
    if numbers:
        map_id = int(numbers[1]) << 8 | int(numbers[2])
        if map_id in ids:
            return map_id
        raise ConfigurationError(f"there is no map {wanted}; see: pkmn world")
    names = {map_id: _plain(world.name(map_id)) for map_id in ids}
    plain = _plain(wanted)
    if not plain:
        raise ConfigurationError("name a map, as in: pkmn world Alderbrook; or see all of them: pkmn world")
    for fits in (
        [map_id for map_id, name in names.items() if name == plain],
        [map_id for map_id, name in names.items() if name.startswith(plain)],
        [map_id for map_id, name in names.items() if plain in name],
        [map_id for map_id, name in names.items() if all(word in name for word in plain.split())],
    ):
        if len(fits) == 1:
            return fits[0]
        if fits:
            listed = ", ".join(f"{world.name(one)} ({_id(one)})" for one in fits[:_LISTED])
            more = f" and {len(fits) - _LISTED} more" if len(fits) > _LISTED else ""
            raise ConfigurationError(f"{wanted!r} may be {listed}{more}: give the full name or the numbers")
    near = sorted(names, key=lambda map_id: -SequenceMatcher(None, plain, names[map_id]).ratio())[:3]
    near = [one for one in near if SequenceMatcher(None, plain, names[one]).ratio() >= _ALIKE]
    hint = f"did you mean {' or '.join(world.name(one) for one in near)}?" if near else "see: pkmn world"
    raise ConfigurationError(f"no map is called {wanted!r}; {hint}")


def find_place(world: World, words: str) -> tuple[int, Place | None]:
    """Return a map, and the tile on it if one is named, as in ``Fern Trail:5,0``.

    Raises:
        ConfigurationError: there is no such map, or the tile is outside of it.
    """
    tile = _TILE.match(words.strip())
    if tile is None:
        return find_map(world, words), None
    map_id = find_map(world, tile["map"])
    place = Place(map_id, int(tile["x"]), int(tile["y"]))
    here = world.map(map_id)
    if here is None or not here.grid.inside(place.x, place.y):
        size = f"{here.width} x {here.height} tiles, counted from 0" if here is not None else "no tiles"
        raise ConfigurationError(f"{world.name(map_id)} has {size}; {place.x},{place.y} is outside")
    return map_id, place


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", name.lower()).strip()


def _id(map_id: int) -> str:
    return f"{map_id >> 8}.{map_id & 0xFF}"
