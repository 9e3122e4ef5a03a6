"""Surroundings of the player for planning: the loaded map, its exits and people, and what can be reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.memory import GRASS, WATER, PilotMemory
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.goals import talk_ends
from pkmn_pyboy.world.loaded_map import LoadedMap
from pkmn_pyboy.world.map_exits import Exit, exits_of
from pkmn_pyboy.world.map_moves import Costs, MapMoves
from pkmn_pyboy.world.map_search import MapSearch
from pkmn_pyboy.world.records import NOWHERE, ExitTile, MapPerson, Role, WorldMap
from pkmn_pyboy.world.seen_world import SeenWorld, is_seen
from pkmn_pyboy.world.tile_rules import LAND, STEPS, WALL, MapGrid, TileRules
from pkmn_pyboy.world.tile_rules import WATER as WATER_TILE

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game


@dataclass(frozen=True, slots=True)
class Surroundings:
    """View of the map around the player."""

    map: WorldMap
    """Loaded map with its present people, as far as it is known."""
    start: int
    """Cell of the player."""
    steps: MapMoves
    abilities: Abilities
    """Field moves that can be used now."""
    exits: Sequence[Exit]
    search: MapSearch
    """Search in which pushable boulders can be passed at a cost."""
    walk: MapSearch
    """Search without pushing."""
    walls: frozenset[int]
    """Cells blocked by anything but a boulder."""
    boulders: frozenset[int]
    """Cells of boulders."""
    pushes: bool
    """True if boulders move when walked against."""
    strong: bool
    """True if boulders could be made to move."""
    verge: frozenset[tuple[int, int]]
    """Tiles beside unseen ones; empty if the whole map is known."""

    @property
    def grid(self) -> MapGrid:
        """Tiles of the map."""
        return self.map.grid

    @property
    def rules(self) -> TileRules:
        """Meaning of the tiles."""
        return self.steps.rules

    @property
    def people(self) -> tuple[MapPerson, ...]:
        """People on the map, at their present tiles."""
        return self.map.people

    def needs_use(self, cell: int, direction: int) -> bool:
        """Return whether a step begins with a field move on the tile ahead."""
        ahead = cell + self.grid.deltas[direction]
        return self.steps.begins_move(cell, direction) or (ahead in self.boulders and not self.pushes)

    def walkable(self, x: int, y: int) -> bool:
        """Return whether a tile of the map is not a wall."""
        return self.grid.inside(x, y) and self.rules.kind[self.tile_value(x, y)] != WALL

    def tile_value(self, x: int, y: int) -> int:
        """Return the collision byte of a tile; tiles may be one outside the map."""
        return self.grid.tiles[self.grid.cell(x, y)]

    def talk_ends(self, x: int, y: int, facing: int = -1) -> dict[int, int]:
        """Return the cells from which to talk to a tile, also over a counter, with the direction to face there.

        ``facing`` keeps only cells from which the player faces that direction, -1 for all.
        """
        ends = talk_ends(self.map, self.rules, x, y)
        return {self.grid.cell(*tile): way for tile, way in ends.items() if facing in (-1, way)}

    def is_ground(self, cell: int, on: str) -> bool:
        """Return whether wild Pokemon appear on a tile: of grass, of floor, or of water."""
        return self.grid.tiles[cell] in self._ground_values(on) and cell not in self.steps.enter

    def _ground_values(self, on: str) -> frozenset[int]:
        if on == GRASS:
            return frozenset(self.rules.grass)
        wanted = WATER_TILE if on == WATER else LAND
        return frozenset(value for value, kind in enumerate(self.rules.kind) if kind == wanted)

    def nearest_ground(self, on: str) -> tuple[int, int] | None:
        """Return the tile of a ground reached at the least cost, except the player's own, and that cost."""
        values = self._ground_values(on)
        cells = {cell for cell, tile in enumerate(self.grid.tiles) if tile in values}
        return self.walk.nearest(cells - self.steps.enter - {self.start})

    def behind_counter(self, person: MapPerson) -> bool:
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
        profile = game.profile
        self._game = game
        self._seen = seen
        self._loaded = LoadedMap(game.emulator, profile)
        self._strength = profile.field_moves.get("strength")
        self._steps: dict[int, MapMoves] = {}
        self._kept: tuple[tuple[object, ...], tuple[WorldMap, tuple[Exit, ...]]] | None = None
        self.readable = self._loaded.readable
        """True if the profile has enough addresses to read a map."""

    def look(self, state: GameState, memory: PilotMemory, *, grass_cost: int = 0) -> Surroundings | None:
        """Return the current surroundings; None while the player is between two maps."""
        known = self._known_map(state.map_id)
        if known is None or not known[0].grid.inside(state.x, state.y):
            return None
        here, exits = known
        grid, start = here.grid, here.grid.cell(state.x, state.y)
        people = [person for person in self._people(here) if grid.inside(person.x, person.y)]
        memory.walk.blocks = [block for block in memory.walk.blocks if block.until > self._game.steps]
        blocked = {grid.cell(person.x, person.y) for person in people}
        blocked |= {grid.cell(x, y) for map_id, x, y, _ in memory.walk.blocks if map_id == state.map_id}
        blocked.discard(start)
        boulders = frozenset(grid.cell(one.x, one.y) for one in people if one.role is Role.BOULDER)
        walls = frozenset(blocked) - boulders
        usable = self._game.usable_moves() if self._game.profile.field_moves else frozenset()
        strong = "strength" in usable
        steps = self._steps_on(here, grass_cost).stopped_by(frozenset(blocked))
        abilities = Abilities(usable | {"surf"} if steps.is_water(start) else usable)
        walk = search = MapSearch(steps, {start: 0}, abilities, blocked=blocked, sort_ties=True)
        if boulders and strong:
            search = MapSearch(steps, {start: 0}, abilities, blocked=walls, pushable=boulders, sort_ties=True)
        return Surroundings(
            replace(here, people=tuple(people)),
            start,
            steps,
            abilities,
            exits,
            search,
            walk,
            walls,
            boulders,
            self._pushes(state),
            strong,
            self._seen.verge(here.map_id) if self._seen is not None else frozenset(),
        )

    def hides_nothing(self, map_id: int, x: int, y: int) -> bool:
        """Return whether all tiles beside a tile were seen."""
        return self._seen is None or (x, y) not in self._seen.verge(map_id)

    def _known_map(self, map_id: int) -> tuple[WorldMap, tuple[Exit, ...]] | None:
        """Return the loaded map without people, and its exits, as far as they may be known."""
        seen = self._seen
        known = seen.map(map_id) if seen is not None else None
        if seen is not None and known is None:
            return None
        loaded = self._loaded.read(map_id)
        tiles = seen.exits(map_id) if seen is not None else ()
        parts = (loaded, known, tiles)
        if self._kept is None or any(one is not other for one, other in zip(self._kept[0], parts, strict=True)):
            here = loaded if known is None else _seen_part(loaded, known)
            exits = exits_of(here, self._loaded.rules)
            self._kept = parts, (here, exits if seen is None else _taken(exits, tiles, here.grid))
        return self._kept[1]

    def _people(self, here: WorldMap) -> list[MapPerson]:
        """Return the people that may be known, at their present tiles."""
        people = self._loaded.people()
        known = self._seen.map(here.map_id) if self._seen is not None else None
        if known is None:
            return people
        numbers = {one.number for one in known.people}
        return [person for person in people if person.number in numbers]

    def boulder_at(self, x: int, y: int) -> bool:
        """Return whether a boulder is on a tile."""
        return any(one.role is Role.BOULDER and (one.x, one.y) == (x, y) for one in self._loaded.people())

    def _pushes(self, state: GameState) -> bool:
        move = self._strength
        return move is not None and move.in_use is not None and move.in_use.holds(self._game.emulator, state.map_id)

    def _steps_on(self, here: WorldMap, grass_cost: int) -> MapMoves:
        steps = self._steps.get(grass_cost)
        if steps is None or steps.map is not here:
            steps = MapMoves(here, self._loaded.rules, self._loaded.openers, Costs(grass=grass_cost))
            self._steps[grass_cost] = steps
        return steps

    def nearby(self) -> dict[int, tuple[int, int]]:
        """Return the tiles of people near the screen, by number."""
        return self._loaded.nearby()


def _seen_part(loaded: WorldMap, known: WorldMap) -> WorldMap:
    """Return the loaded map with the tiles, signs and triggers that were seen."""
    return replace(
        loaded,
        grid=known.grid,
        signs=tuple(sign for sign in loaded.signs if is_seen(known.grid, sign.x, sign.y)),
        triggers=tuple(one for one in loaded.triggers if is_seen(known.grid, one.x, one.y)),
    )


def _taken(exits: Sequence[Exit], tiles: Sequence[ExitTile], grid: MapGrid) -> tuple[Exit, ...]:
    """Return the exits with the map that each leads to, if taking it has shown that."""
    leads = {(grid.cell(way.x, way.y), way.press): way.arrival.map_id for way in tiles if way.arrival is not None}
    return tuple(
        replace(exit_, destination=next((leads[end] for end in exit_.ends.items() if end in leads), NOWHERE))
        for exit_ in exits
    )
