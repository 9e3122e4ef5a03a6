"""Surroundings of the player for planning: the loaded map, its exits and people, and what can be reached."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pkmn_pyboy.navigation.exits import UNKNOWN_MAP, Exit, ExitReader
from pkmn_pyboy.navigation.grid import LAND, STEPS, WALL, GridReader, MapGrid, TileRules
from pkmn_pyboy.navigation.grid import WATER as WATER_TILE
from pkmn_pyboy.navigation.people import PeopleReader, Person
from pkmn_pyboy.navigation.search import Moves, Openings, Search
from pkmn_pyboy.pilot.memory import GRASS, WATER, PilotMemory
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.world.seen_world import UNSEEN, SeenWorld

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

_SWIMMING = (4, 8)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """View of the map around the player."""

    grid: MapGrid
    rules: TileRules
    exits: list[Exit]
    people: list[Person]
    signs: list[tuple[int, int]]
    search: Search
    """Search in which pushable boulders can be passed at a cost."""
    walk: Search
    """Search without pushing."""
    moves: Moves
    triggers: list[tuple[int, int, int]]
    """Scene, column and row of each tile that starts a scene."""
    boulders: frozenset[int] = frozenset()
    """Cells of boulders."""
    pushes: bool = False
    """True if boulders move when walked against."""
    verge: frozenset[tuple[int, int]] = frozenset()
    """Tiles beside unseen ones; empty if the whole map is known."""
    walls: frozenset[int] = frozenset()
    """Cells blocked by anything but a boulder."""
    warps: frozenset[int] = frozenset()
    """Cells that move the player elsewhere when stepped on."""
    strong: bool = False
    """True if boulders could be made to move."""

    def needs_use(self, cell: int, direction: int) -> bool:
        """Return whether a step begins with a field move on the tile ahead."""
        ahead = cell + self.grid.deltas[direction]
        return self.moves.needs_use(cell, direction) or (ahead in self.boulders and not self.pushes)

    def walkable(self, x: int, y: int) -> bool:
        """Return whether a tile of the map is not a wall."""
        grid = self.grid
        return grid.inside(x, y) and self.rules.kind[grid.tiles[grid.cell(x, y)]] != WALL

    def tile_value(self, x: int, y: int) -> int:
        """Return the collision byte of a tile; tiles may be one outside the map."""
        return self.grid.tiles[self.grid.cell(x, y)]

    def talk_ends(self, x: int, y: int, facing: int = -1) -> dict[int, int]:
        """Return the cells from which to talk to a tile, also over a counter, with the direction to face there.

        ``facing`` keeps only cells from which the player faces that direction, -1 for all.
        """
        grid, ends = self.grid, {}
        for direction, (dx, dy) in enumerate(STEPS):
            if facing not in (-1, direction):
                continue
            place = (x - dx, y - dy)
            if grid.inside(*place) and self.tile_value(*place) == self.rules.counter:
                place = (place[0] - dx, place[1] - dy)
            if grid.inside(*place):
                ends[grid.cell(*place)] = direction
        return ends

    def is_ground(self, cell: int, on: str) -> bool:
        """Return whether wild Pokemon appear on a tile: of grass, of floor, or of water."""
        return self.grid.tiles[cell] in self._ground_values(on) and cell not in self.warps

    def _ground_values(self, on: str) -> frozenset[int]:
        if on == GRASS:
            return frozenset(self.rules.grass)
        wanted = WATER_TILE if on == WATER else LAND
        return frozenset(value for value, kind in enumerate(self.rules.kind) if kind == wanted)

    def nearest_ground(self, on: str) -> tuple[int, int] | None:
        """Return the tile of a ground reached at the least cost, except the player's own, and that cost."""
        values = self._ground_values(on)
        cells = {cell for cell, tile in enumerate(self.grid.tiles) if tile in values}
        return self.walk.nearest(cells - self.warps - {self.walk.start})

    def behind_counter(self, person: Person) -> bool:
        """Return whether a counter is beside a person."""
        return any(
            self.grid.inside(person.x + dx, person.y + dy)
            and self.tile_value(person.x + dx, person.y + dy) == self.rules.counter
            for dx, dy in STEPS
        )


class Lookout:
    """Maker of :class:`Surroundings`.

    Args:
        game: the running game.
        seen: the seen world, if nothing else may be known.
    """

    def __init__(self, game: Game, seen: SeenWorld | None = None) -> None:
        emulator, profile = game.emulator, game.profile
        self._game = game
        self._seen = seen
        self._grids = GridReader(emulator, profile)
        self._exits = ExitReader(emulator, profile, self._grids.rules)
        self._people = PeopleReader(emulator, profile)
        self._moves: Moves | None = None
        field_moves = profile.field_moves
        self._gates = {tile: name for name, move in field_moves.items() if name != "surf" for tile in move.tiles}
        self._strength = field_moves.get("strength")
        self.readable = self._grids.readable
        """True if the profile has enough addresses to read a map."""

    def look(self, state: GameState, memory: PilotMemory, *, grass_cost: int = 0) -> Surroundings | None:
        """Return the current surroundings; None while the player is between two maps."""
        grid = self._grid(state.map_id)
        if grid is None or not grid.inside(state.x, state.y):
            return None
        rules = self._grids.rules
        exits, people = self._exits.read(grid), self._people.all()
        signs, triggers = self._exits.signs(), self._exits.triggers()
        verge: frozenset[tuple[int, int]] = frozenset()
        if self._seen is not None:
            exits, people = self._taken(grid, exits, self._seen), self._met(grid, people, self._seen)
            signs = [(x, y) for x, y in signs if _is_seen(grid, x, y)]
            triggers = [(scene, x, y) for scene, x, y in triggers if _is_seen(grid, x, y)]
            verge = self._seen.verge(grid.map_id)
        blocked = {grid.cell(person.x, person.y) for person in people if grid.inside(person.x, person.y)}
        memory.blocks = [block for block in memory.blocks if block[3] > self._game.steps]
        blocked |= {grid.cell(x, y) for map_id, x, y, _ in memory.blocks if map_id == state.map_id}
        start = grid.cell(state.x, state.y)
        blocked.discard(start)
        warps = frozenset(cell for exit_ in exits for cell, press in exit_.ends.items() if press < 0)
        usable = self._game.usable_moves() if self._game.profile.field_moves else frozenset()
        stops = frozenset(blocked) if rules.ice in grid.tiles else frozenset()
        moves = self._moves_on(grid, usable, swims=state.movement in _SWIMMING).stopped_by(stops)
        boulders = frozenset(
            grid.cell(person.x, person.y)
            for person in people
            if self.is_boulder(person) and grid.inside(person.x, person.y)
        )
        walk = search = Search(moves, start, blocked=blocked, warps=warps, grass_cost=grass_cost)
        if boulders and "strength" in usable:
            search = Search(moves, start, blocked=blocked, warps=warps, grass_cost=grass_cost, pushable=boulders)
        return Surroundings(
            grid,
            rules,
            exits,
            people,
            signs,
            search,
            walk,
            moves,
            triggers,
            boulders,
            self._pushes(state),
            verge,
            frozenset(blocked) - boulders,
            warps,
            "strength" in usable,
        )

    def hides_nothing(self, map_id: int, x: int, y: int) -> bool:
        """Return whether all tiles beside a tile were seen."""
        return self._seen is None or (x, y) not in self._seen.verge(map_id)

    def _grid(self, map_id: int) -> MapGrid | None:
        if self._seen is None:
            return self._grids.read(map_id)
        here = self._seen.map(map_id)
        return here.grid if here is not None else None

    @staticmethod
    def _taken(grid: MapGrid, exits: list[Exit], seen: SeenWorld) -> list[Exit]:
        """Return the exits with the map that each leads to, if taking it has shown that."""
        leads = {
            (way.x, way.y, way.press): way.arrival.map_id for way in seen.ways(grid.map_id) if way.arrival is not None
        }
        found = []
        for exit_ in exits:
            known = (leads.get((*grid.tile_of(cell), press)) for cell, press in exit_.ends.items())
            found.append(replace(exit_, destination=next((one for one in known if one is not None), UNKNOWN_MAP)))
        return found

    @staticmethod
    def _met(grid: MapGrid, people: list[Person], seen: SeenWorld) -> list[Person]:
        here = seen.map(grid.map_id)
        numbers = {one.number for one in here.people} if here is not None else set()
        return [person for person in people if person.number in numbers]

    def is_boulder(self, person: Person) -> bool:
        """Return whether a person is a boulder that Strength moves."""
        return self._strength is not None and person.movement == self._strength.movement

    def boulder_at(self, x: int, y: int) -> bool:
        """Return whether a boulder is on a tile."""
        return any(self.is_boulder(person) and (person.x, person.y) == (x, y) for person in self._people.all())

    def _pushes(self, state: GameState) -> bool:
        move = self._strength
        return move is not None and move.in_use is not None and move.in_use.holds(self._game.emulator, state.map_id)

    def _moves_on(self, grid: MapGrid, usable: frozenset[str], *, swims: bool) -> Moves:
        moves = self._moves
        if moves is None or moves.grid is not grid or moves.swims != swims or moves.openings.usable != usable:
            openings = Openings(self._gates, usable)
            moves = self._moves = Moves(grid, self._grids.rules, swims=swims, openings=openings)
        return moves

    def nearby(self) -> dict[int, tuple[int, int]]:
        """Return the tiles of people near the screen, by number."""
        return self._people.nearby()


def _is_seen(grid: MapGrid, x: int, y: int) -> bool:
    return grid.inside(x, y) and grid.tiles[grid.cell(x, y)] != UNSEEN
