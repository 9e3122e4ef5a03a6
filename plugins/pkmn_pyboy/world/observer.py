"""Observer that keeps a seen world up to date during a game: tiles on the screen, and exits that were taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.navigation.exits import ExitReader
from pkmn_pyboy.navigation.grid import STEPS, WALL, GridReader, MapGrid
from pkmn_pyboy.navigation.people import PeopleReader, Person
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import BATTLE_PHASES, GameState, Phase
from pkmn_pyboy.state.seen_tiles import VIEW_DOWN, VIEW_LEFT, VIEW_RIGHT, VIEW_UP
from pkmn_pyboy.world.records import ENTER, MapPerson, Place, Role, WorldMap
from pkmn_pyboy.world.seen_world import UNSEEN, SeenWorld

_LOOK_PHASES = frozenset({Phase.FREE, Phase.DIALOGUE, Phase.CHOICE})
_WALK_PHASES = frozenset({Phase.FREE, Phase.MOVING})
_NOT_WALKING = BATTLE_PHASES | {Phase.DIALOGUE, Phase.CHOICE, Phase.MENU}
"""Phases after which a player on another map did not get there by an exit."""
LONGEST_JUMP = 2
"""Maximum tiles between two steps of a walking player: a jump over a ledge."""
_ROLES = {1: Role.ITEM, 2: Role.TRAINER}


class WorldObserver:
    """Observer that records in a :class:`SeenWorld` what the player sees. Call :meth:`note` after every step.

    Args:
        emulator: runs the game.
        profile: addresses of the maps in memory.
        world: the world to update.
    """

    def __init__(self, emulator: Emulator, profile: GameProfile, world: SeenWorld) -> None:
        self.world = world
        self._grids = GridReader(emulator, profile)
        self._exits = ExitReader(emulator, profile, self._grids.rules)
        self._people = PeopleReader(emulator, profile)
        self._rules = profile.world
        strength = profile.field_moves.get("strength")
        self._boulder = strength.movement if strength is not None else None
        kinds = self._grids.rules.kind
        # a wall that replaces a map's own byte if it equals UNSEEN
        self._void = bytes([next((value for value in range(UNSEEN) if kinds[value] == WALL), UNSEEN)])
        self._last: Place | None = None
        self._last_look: tuple[Place, Phase] | None = None

    def reset(self) -> None:
        """Start an episode: there is no previous place. The seen world is kept."""
        self._last = self._last_look = None

    def note(self, state: GameState) -> bool:
        """Record the state after a step. Return True if something new was seen."""
        phase, place = state.phase, Place(state.map_id, state.x, state.y)
        last, is_new = self._last, False
        if phase in _LOOK_PHASES and self._grids.readable and self._last_look != (place, phase):
            grid = self._grids.read(state.map_id)
            if not grid.inside(state.x, state.y):
                return False
            is_new = self._look(grid, state.x, state.y)
        if (
            last is not None
            and phase in _LOOK_PHASES | _WALK_PHASES
            and (last.map_id != place.map_id or self._used_exit(last, place))
        ):
            origin = self._exit_taken(last, int(state.facing))
            is_new = (origin is not None and self.world.learn_way(origin, place)) or is_new
        # changes on the screen while the player does not move are recorded when control returns
        self._last_look = (place, phase) if phase in _LOOK_PHASES else None
        if phase in _WALK_PHASES:
            self._last = place
        elif phase in _NOT_WALKING:
            self._last = None
        return is_new

    def save_state(self) -> dict[str, Any]:
        """Return the state for :meth:`load_state`, without the world, as plain values."""
        last, looked = self._last, self._last_look
        return {
            "last": [last.map_id, last.x, last.y] if last is not None else None,
            "looked": [looked[0].map_id, looked[0].x, looked[0].y, int(looked[1])] if looked is not None else None,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore a saved state."""
        last, looked = state.get("last"), state.get("looked")
        self._last = Place(*last) if last is not None else None
        self._last_look = (Place(*looked[:3]), Phase(looked[3])) if looked is not None else None

    # Tiles and people on the screen ----------------------------------------------------------------------------

    def _look(self, grid: MapGrid, x: int, y: int) -> bool:
        known = self.world.map(grid.map_id)
        if known is not None and (known.width, known.height) != (grid.width, grid.height):
            known = None
        tiles = bytearray(known.grid.tiles if known is not None else bytes([UNSEEN]) * len(grid.tiles))
        for row in _rows_in_view(grid, x, y):
            tiles[row] = grid.tiles[row].replace(bytes([UNSEEN]), self._void)
        seen = known.grid if known is not None and tiles == known.grid.tiles else None
        seen = seen or MapGrid(grid.map_id, grid.width, grid.height, bytes(tiles))
        return self.world.learn(
            seen,
            [(at_x, at_y, number) for at_x, at_y, number, _ in self._exits.warp_tiles() if _is_seen(seen, at_x, at_y)],
            self._people_seen(known, grid, x, y),
            [sign for sign in self._exits.signs() if _is_seen(seen, *sign)],
            self._exits.directions(),
        )

    def _people_seen(self, known: WorldMap | None, grid: MapGrid, x: int, y: int) -> list[MapPerson]:
        """Return the people in view, and those seen before.

        A person who walks keeps the place where they were first seen.
        """
        here = {one.number: one for one in self._people.all() if _in_view(x, y, one.x, one.y)}
        found = {one.number: self._map_person(one) for one in here.values()}
        for one in known.people if known is not None else ():
            there = found.get(one.number)
            if (there is None and not (_in_view(x, y, one.x, one.y) and not one.walks)) or (
                there is not None and one.walks and there.walks
            ):
                found[one.number] = one
        return [found[number] for number in sorted(found)]

    def _map_person(self, person: Person) -> MapPerson:
        if person.movement == self._boulder:
            role = Role.BOULDER
        elif person.movement in self._rules.roles:
            role = Role(self._rules.roles[person.movement])
        else:
            role = _ROLES.get(person.kind, Role.PERSON)
        return MapPerson(person.number, person.x, person.y, role, walks=person.movement in self._rules.walks)

    # Destinations of exits -------------------------------------------------------------------------------------

    def _used_exit(self, last: Place, place: Place) -> bool:
        """Return True if the player moved by an exit on the same map: onto an exit, farther than a jump."""
        if abs(last.x - place.x) + abs(last.y - place.y) <= LONGEST_JUMP:
            return False
        return any((way.x, way.y) == (place.x, place.y) for way in self.world.ways(place.map_id))

    def _exit_taken(self, place: Place, facing: int) -> Place | None:
        """Return the exit that the player took from their last place, given their direction now; None if none."""
        dx, dy = STEPS[facing]
        ways = self.world.ways(place.map_id)
        here = [way for way in ways if (way.x, way.y) == (place.x, place.y)]
        ahead = [way for way in ways if way.press == ENTER and (way.x, way.y) == (place.x + dx, place.y + dy)]
        beside = [way for way in ways if way.press == ENTER and abs(way.x - place.x) + abs(way.y - place.y) == 1]
        turned = [way for way in here if way.press in (facing, ENTER)]
        for way in (*turned, *ahead, *here, *beside):
            return Place(place.map_id, way.x, way.y)
        return None


def _rows_in_view(grid: MapGrid, x: int, y: int) -> Iterator[slice]:
    """Yield the cells on the screen, row by row, with one tile beyond the map."""
    left, right = max(x - VIEW_LEFT, -1), min(x + VIEW_RIGHT, grid.width)
    for row in range(max(y - VIEW_UP, -1), min(y + VIEW_DOWN, grid.height) + 1):
        yield slice(grid.cell(left, row), grid.cell(right, row) + 1)


def _in_view(x: int, y: int, at_x: int, at_y: int) -> bool:
    return -VIEW_LEFT <= at_x - x <= VIEW_RIGHT and -VIEW_UP <= at_y - y <= VIEW_DOWN


def _is_seen(grid: MapGrid, x: int, y: int) -> bool:
    return grid.inside(x, y) and grid.tiles[grid.cell(x, y)] != UNSEEN
