"""Surroundings of the player in letters, with coordinates, for a language model or a person.

Only tiles that were on the screen in this episode are shown; a legend explains the letters that occur, and lists give
the exits with their destinations, and the people.
"""

from __future__ import annotations

from dataclasses import replace

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.profile.model import GameProfile, Names
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.state.seen_tiles import SeenTiles
from pkmn_pyboy.world.loaded_map import LoadedMap
from pkmn_pyboy.world.map_exits import Exit, exits_of
from pkmn_pyboy.world.map_symbols import THING_OF, Ground, Thing, ground, meanings, things
from pkmn_pyboy.world.records import NOWHERE
from pkmn_pyboy.world.tile_rules import MapGrid

YOU, UNSEEN = "@", "?"


class TextMap:
    """Text maps of a game.

    Args:
        emulator: runs the game.
        profile: addresses of the map in memory.
        names: names of maps.
    """

    def __init__(self, emulator: Emulator, profile: GameProfile, names: Names) -> None:
        self._loaded = LoadedMap(emulator, profile)
        self._names = names

    def draw(self, state: GameState, seen: SeenTiles, columns: int, rows: int) -> str:
        """Return the map around the player, at most ``columns`` x ``rows`` tiles of it.

        Empty if the profile does not describe maps, before a game is loaded, and between two maps.
        """
        if not self._loaded.readable or not state.map_group:
            return ""
        here = self._loaded.read(state.map_id)
        grid = here.grid
        if not grid.inside(state.x, state.y):
            return ""
        in_sight = seen.on_map(state.map_id, grid.width, grid.height)
        across = _window(state.x, columns, grid.width)
        down = _window(state.y, rows, grid.height)
        exits = exits_of(here, self._loaded.rules)
        exits = tuple(one for one in exits if any(grid.tile_of(cell) in in_sight for cell in one.ends))
        people = [person for person in self._loaded.people() if (person.x, person.y) in in_sight]
        doors = [grid.tile_of(cell) for one in exits if not one.edge for cell in one.ends]
        marks = things(replace(here, people=tuple(people)), doors)
        lines = [
            f"{self._names.map_name(state.map_id)}, {grid.width} x {grid.height} tiles; x to the right, y down, from 0",
            "y\\x " + "".join(f"{x:3}" for x in across),
        ]
        used: set[Ground | Thing] = set()
        unseen = False
        for y in down:
            row = ""
            for x in across:
                letter = UNSEEN
                if (x, y) == (state.x, state.y):
                    letter = YOU
                elif (x, y) in in_sight:
                    symbol = marks.get((x, y)) or ground(self._loaded, grid, x, y)
                    used.add(symbol)
                    letter = symbol.value.letter
                unseen |= letter == UNSEEN
                row += f"  {letter}"
            lines.append(f"{y:3} {row}")
        legend = [f"{YOU} you, facing {state.facing.name.lower()}", *meanings(used)]
        legend += [f"{UNSEEN} not seen yet"] if unseen else []
        lines.append("; ".join(legend))
        if exits:
            lines.append("Exits: " + "; ".join(self._exit(grid, one) for one in exits))
        if people:
            letters = (f"{THING_OF[one.role].value.letter} ({one.x}, {one.y})" for one in people)
            lines.append("People and things: " + ", ".join(letters))
        return "\n".join(lines)

    def _exit(self, grid: MapGrid, exit_: Exit) -> str:
        tiles = sorted(grid.tile_of(cell) for cell in exit_.ends)
        to = "back where you came from"
        if exit_.destination != NOWHERE:
            to = f"to {self._names.map_name(exit_.destination)}"
        if not exit_.edge:
            return f"{Thing.DOOR.value.letter} {' '.join(f'({x}, {y})' for x, y in tiles)} {to}"
        first, last = tiles[0], tiles[-1]
        return f"{exit_.edge} edge, ({first[0]}, {first[1]}) to ({last[0]}, {last[1]}), {to}"


def _window(centre: int, size: int, length: int) -> range:
    start = max(0, min(centre - size // 2, length - size))
    return range(start, min(start + size, length))
