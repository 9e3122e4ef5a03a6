"""Surroundings of the player in letters, with coordinates, for a language model or a person.

Only tiles that were on the screen in this episode are shown; a legend explains the letters that occur, and lists give
the exits with their destinations, and the people.
"""

from __future__ import annotations

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.navigation.exits import UNKNOWN_MAP, Exit, ExitReader
from pkmn_pyboy.navigation.grid import WALL, WATER, GridReader, MapGrid, TileRules
from pkmn_pyboy.navigation.people import ITEM, TRAINER, PeopleReader, Person
from pkmn_pyboy.profile.model import GameProfile, Names
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.state.seen_tiles import SeenTiles

YOU, UNSEEN, FREE, WALL_LETTER, WATER_LETTER, GRASS, DOOR, SIGN = "@", "?", ".", "#", "~", '"', "D", "S"
_PEOPLE = {ITEM: "I", TRAINER: "T"}
_SPEAKER = "P"
_LEDGES = "v^<>"
_NAMED_TILES = {"cut_tree": "C", "whirlpool": "W", "waterfall": "F", "counter": "c", "ice": "i", "pit": "O"}
"""Letters of tiles by the names that a profile gives them."""

_MEANINGS = {
    FREE: "free",
    WALL_LETTER: "wall",
    GRASS: "tall grass",
    WATER_LETTER: "water",
    "v": "ledge, jump down",
    "^": "ledge, jump up",
    "<": "ledge, jump left",
    ">": "ledge, jump right",
    "C": "tree that can be cut",
    "W": "whirlpool",
    "F": "waterfall",
    "c": "counter, talk across it",
    "i": "ice",
    "O": "hole",
    DOOR: "door or stairs",
    SIGN: "sign or thing to read",
    _SPEAKER: "person",
    "T": "trainer",
    "I": "item to pick up",
    UNSEEN: "not seen yet",
}


class TextMap:
    """Text maps of a game.

    Args:
        emulator: runs the game.
        profile: addresses of the map in memory.
        names: names of maps.
    """

    def __init__(self, emulator: Emulator, profile: GameProfile, names: Names) -> None:
        self._grids = GridReader(emulator, profile)
        self._exits = ExitReader(emulator, profile, self._grids.rules)
        self._people = PeopleReader(emulator, profile)
        self._names = names
        self._named = {
            profile.collision.names[name]: letter
            for name, letter in _NAMED_TILES.items()
            if name in profile.collision.names
        }

    def draw(self, state: GameState, seen: SeenTiles, columns: int, rows: int) -> str:
        """Return the map around the player, at most ``columns`` x ``rows`` tiles of it.

        Empty if the profile does not describe maps, before a game is loaded, and between two maps.
        """
        if not self._grids.readable or not state.map_group:
            return ""
        grid = self._grids.read(state.map_id)
        if not grid.inside(state.x, state.y):
            return ""
        in_sight = seen.on_map(state.map_id, grid.width, grid.height)
        across = _window(state.x, columns, grid.width)
        down = _window(state.y, rows, grid.height)
        exits = [way for way in self._exits.read(grid) if any(grid.tile_of(cell) in in_sight for cell in way.ends)]
        people = [person for person in self._people.all() if (person.x, person.y) in in_sight]
        letters = self._letters(state, grid, exits, people)
        lines = [
            f"{self._names.map_name(state.map_id)}, {grid.width} x {grid.height} tiles; x to the right, y down, from 0",
            "y\\x " + "".join(f"{x:3}" for x in across),
        ]
        used: set[str] = set()
        for y in down:
            row = [
                letters.get((x, y)) or _tile(grid, self._grids.rules, self._named, x, y)
                if (x, y) in in_sight or (x, y) == (state.x, state.y)
                else UNSEEN
                for x in across
            ]
            used.update(row)
            lines.append(f"{y:3} " + "".join(f"  {letter}" for letter in row))
        legend = [f"{YOU} you, facing {state.facing.name.lower()}"]
        legend += [f"{letter} {meaning}" for letter, meaning in _MEANINGS.items() if letter in used]
        lines.append("; ".join(legend))
        if exits:
            lines.append("Ways out: " + "; ".join(self._way(grid, way) for way in exits))
        if people:
            lines.append("People and things: " + ", ".join(_person(person) for person in people))
        return "\n".join(lines)

    def _letters(
        self, state: GameState, grid: MapGrid, exits: list[Exit], people: list[Person]
    ) -> dict[tuple[int, int], str]:
        """Return the letters of tiles with people and objects, the more important over the less."""
        letters = dict.fromkeys(self._exits.signs(), SIGN)
        for way in exits:
            if not way.key.startswith("edge"):
                letters |= {grid.tile_of(cell): DOOR for cell in way.ends}
        letters |= {(person.x, person.y): _PEOPLE.get(person.kind, _SPEAKER) for person in people}
        letters[state.x, state.y] = YOU
        return letters

    def _way(self, grid: MapGrid, way: Exit) -> str:
        tiles = sorted(grid.tile_of(cell) for cell in way.ends)
        to = "back where you came from"
        if way.destination != UNKNOWN_MAP:
            to = f"to {self._names.map_name(way.destination)}"
        if not way.key.startswith("edge"):
            return f"{DOOR} {_places(tiles)} {to}"
        first, last = tiles[0], tiles[-1]
        return f"{way.key.removeprefix('edge ')} edge, ({first[0]}, {first[1]}) to ({last[0]}, {last[1]}), {to}"


def _window(centre: int, size: int, length: int) -> range:
    start = max(0, min(centre - size // 2, length - size))
    return range(start, min(start + size, length))


def _tile(grid: MapGrid, rules: TileRules, named: dict[int, str], x: int, y: int) -> str:
    value = grid.tiles[grid.cell(x, y)]
    letter = named.get(value)
    if letter is not None:
        return letter
    if rules.jumps[value]:
        return _LEDGES[(rules.jumps[value] & -rules.jumps[value]).bit_length() - 1]
    if value in rules.grass:
        return GRASS
    kind = rules.kind[value]
    return WALL_LETTER if kind == WALL else WATER_LETTER if kind == WATER else FREE


def _places(tiles: list[tuple[int, int]]) -> str:
    return " ".join(f"({x}, {y})" for x, y in tiles)


def _person(person: Person) -> str:
    return f"{_PEOPLE.get(person.kind, _SPEAKER)} ({person.x}, {person.y})"
