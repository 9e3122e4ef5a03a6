"""Observer that keeps a seen world up to date during a game: tiles on the screen, and exits that were taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import BATTLE_PHASES, GameState, Phase
from pkmn_pyboy.state.seen_tiles import VIEW_DOWN, VIEW_LEFT, VIEW_RIGHT, VIEW_UP
from pkmn_pyboy.world.loaded_map import LoadedMap
from pkmn_pyboy.world.records import ENTER, MapPerson, Place, WorldMap
from pkmn_pyboy.world.seen_world import UNSEEN, SeenWorld, is_seen
from pkmn_pyboy.world.tile_rules import STEPS, WALL, MapGrid

_LOOK_PHASES = frozenset({Phase.FREE, Phase.DIALOGUE, Phase.CHOICE})
_WALK_PHASES = frozenset({Phase.FREE, Phase.MOVING})
_NOT_WALKING = BATTLE_PHASES | {Phase.DIALOGUE, Phase.CHOICE, Phase.MENU}
"""Phases after which a player on another map did not get there by an exit."""
LONGEST_JUMP = 2
"""Maximum tiles between two steps of a walking player: a jump over a ledge."""


class WorldObserver:
    """Observer that records in a :class:`SeenWorld` what the player sees. Call :meth:`note` after every step.

    Args:
        emulator: runs the game.
        profile: addresses of the maps in memory.
        world: the world to update.
    """

    def __init__(self, emulator: Emulator, profile: GameProfile, world: SeenWorld) -> None:
        self.world = world
        self._loaded = LoadedMap(emulator, profile)
        kinds = self._loaded.rules.kind
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
        if phase in _LOOK_PHASES and self._loaded.readable and self._last_look != (place, phase):
            here = self._loaded.read(state.map_id)
            if not here.grid.inside(state.x, state.y):
                return False
            is_new = self._look(here, state.x, state.y)
        if (
            last is not None
            and phase in _LOOK_PHASES | _WALK_PHASES
            and (last.map_id != place.map_id or self._used_exit(last, place))
        ):
            origin = self._exit_taken(last, int(state.facing))
            is_new = (origin is not None and self.world.learn_exit(origin, place)) or is_new
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

    def _look(self, here: WorldMap, x: int, y: int) -> bool:
        grid = here.grid
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
            [(warp.x, warp.y, warp.back) for warp in here.warps if is_seen(seen, warp.x, warp.y)],
            self._people_seen(known, x, y),
            [(sign.x, sign.y) for sign in here.signs if is_seen(seen, sign.x, sign.y)],
            [connection.direction for connection in here.connections],
        )

    def _people_seen(self, known: WorldMap | None, x: int, y: int) -> list[MapPerson]:
        """Return the people in view, and those seen before.

        A person who walks keeps the place where they were first seen.
        """
        found = {
            one.number: MapPerson(one.number, one.x, one.y, one.role, walks=one.walks)
            for one in self._loaded.people()
            if _in_view(x, y, one.x, one.y)
        }
        for one in known.people if known is not None else ():
            there = found.get(one.number)
            if (there is None and not (_in_view(x, y, one.x, one.y) and not one.walks)) or (
                there is not None and one.walks and there.walks
            ):
                found[one.number] = one
        return [found[number] for number in sorted(found)]

    # Destinations of exits -------------------------------------------------------------------------------------

    def _used_exit(self, last: Place, place: Place) -> bool:
        """Return True if the player moved by an exit on the same map: onto an exit, farther than a jump."""
        if abs(last.x - place.x) + abs(last.y - place.y) <= LONGEST_JUMP:
            return False
        return any((exit_.x, exit_.y) == (place.x, place.y) for exit_ in self.world.exits(place.map_id))

    def _exit_taken(self, place: Place, facing: int) -> Place | None:
        """Return the exit that the player took from their last place, given their direction now; None if none."""
        dx, dy = STEPS[facing]
        exits = self.world.exits(place.map_id)
        here = [exit_ for exit_ in exits if (exit_.x, exit_.y) == (place.x, place.y)]
        ahead = [
            exit_ for exit_ in exits if exit_.press == ENTER and (exit_.x, exit_.y) == (place.x + dx, place.y + dy)
        ]
        beside = [
            exit_ for exit_ in exits if exit_.press == ENTER and abs(exit_.x - place.x) + abs(exit_.y - place.y) == 1
        ]
        turned = [exit_ for exit_ in here if exit_.press in (facing, ENTER)]
        for exit_ in (*turned, *ahead, *here, *beside):
            return Place(place.map_id, exit_.x, exit_.y)
        return None


def _rows_in_view(grid: MapGrid, x: int, y: int) -> Iterator[slice]:
    """Yield the cells on the screen, row by row, with one tile beyond the map."""
    left, right = max(x - VIEW_LEFT, -1), min(x + VIEW_RIGHT, grid.width)
    for row in range(max(y - VIEW_UP, -1), min(y + VIEW_DOWN, grid.height) + 1):
        yield slice(grid.cell(left, row), grid.cell(right, row) + 1)


def _in_view(x: int, y: int, at_x: int, at_y: int) -> bool:
    return -VIEW_LEFT <= at_x - x <= VIEW_RIGHT and -VIEW_UP <= at_y - y <= VIEW_DOWN
