"""Keeps a seen world up to date while a game is played: what is loaded, and where the exits led that were taken."""

from __future__ import annotations

from pkmn_pyboy.emulator import Emulator
from pkmn_pyboy.navigation.exits import ExitReader
from pkmn_pyboy.navigation.grid import STEPS, GridReader
from pkmn_pyboy.navigation.people import PeopleReader
from pkmn_pyboy.profile import GameProfile
from pkmn_pyboy.state.game_state import GameState, Phase
from pkmn_pyboy.world.records import ENTER, MapPerson, Place, Role
from pkmn_pyboy.world.seen_world import SeenWorld

_STANDING = frozenset({Phase.FREE, Phase.DIALOGUE, Phase.CHOICE})
_DIRECTIONS = {"south": 0, "north": 1, "west": 2, "east": 3}
_ROLES = {1: Role.ITEM, 2: Role.TRAINER}


class WorldObserver:
    """Tells a :class:`SeenWorld` what the player sees. Call :meth:`note` after every step.

    Args:
        emulator: runs the game.
        profile: says where it keeps its maps.
        world: what is told.
    """

    def __init__(self, emulator: Emulator, profile: GameProfile, world: SeenWorld) -> None:
        self.world = world
        self._grids = GridReader(emulator, profile)
        self._exits = ExitReader(emulator, profile, self._grids.rules)
        self._people = PeopleReader(emulator, profile)
        self._last: tuple[Place, int] | None = None

    def reset(self) -> None:
        """An episode begins: the player comes from nowhere. What is known of the world stays."""
        self._last = None

    def note(self, state: GameState) -> bool:
        """Takes in the state after a step. Returns whether something new was learnt."""
        if state.phase not in _STANDING or not self._grids.readable:
            return False
        place = Place(state.map_id, state.x, state.y)
        last, self._last = self._last, (place, int(state.facing))
        if last is not None and last[0].map_id == place.map_id:
            return False
        grid = self._grids.read(state.map_id)
        if not grid.inside(state.x, state.y):
            self._last = last
            return False
        edges = [
            _DIRECTIONS[way.key.removeprefix("edge ")] for way in self._exits.read(grid) if way.key.startswith("edge")
        ]
        learnt = self.world.learn(
            grid,
            [(x, y, number) for x, y, number, _ in self._exits.warp_tiles()],
            [(one.number, one.x, one.y, False, one.kind) for one in self._people.all()],
            self._exits.signs(),
            edges,
        )
        origin = self._left_by(*last) if last is not None else None
        return (origin is not None and self.world.learn_way(origin, place)) or learnt

    def look_at_people(self, state: GameState) -> bool:
        """Takes in who stands on the loaded map now. Returns whether that changed."""
        here = self.world.map(state.map_id)
        if here is None:
            return False
        people = [
            MapPerson(one.number, one.x, one.y, _ROLES.get(one.kind, Role.PERSON))
            for one in self._people.all()
            if here.grid.inside(one.x, one.y)
        ]
        return self.world.learn_people(state.map_id, people)

    def _left_by(self, place: Place, facing: int) -> Place | None:
        """The exit that someone took who stood here last; None where they were taken away by something else."""
        ways = self.world.ways(place.map_id)
        dx, dy = STEPS[facing]
        for way in ways:
            if way.press == ENTER and (way.x, way.y) == (place.x + dx, place.y + dy):
                return Place(place.map_id, way.x, way.y)
        entered = [way for way in ways if way.press == ENTER and abs(way.x - place.x) + abs(way.y - place.y) == 1]
        for way in [*(way for way in ways if (way.x, way.y) == (place.x, place.y)), *entered]:
            return Place(place.map_id, way.x, way.y)
        return None
