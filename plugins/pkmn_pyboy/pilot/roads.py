"""The way over maps never seen: the route that the cartridge's world gives, kept as plain exits from map to map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmn_pyboy.milestones import Target
from pkmn_pyboy.pilot.memory import PilotMemory
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.world.abilities import Abilities
from pkmn_pyboy.world.planner import RoutePlanner
from pkmn_pyboy.world.records import Place
from pkmn_pyboy.world.route import Route

if TYPE_CHECKING:
    from pkmn_pyboy.environment import PokemonEnvironment

_MOST_AVOIDED = 12


def usable_moves(environment: PokemonEnvironment) -> frozenset[str]:
    """Field moves that someone in the party knows and the badges allow."""
    state, map_id = environment.state, environment.state.map_id
    known = {move for member in state.party.members if not member.egg for move in member.moves}
    return frozenset(
        name
        for name, move in environment.profile.field_moves.items()
        if move.move in known and move.badge.holds(environment.emulator, map_id)
    )


def abilities(environment: PokemonEnvironment) -> Abilities:
    """What the player can do about obstacles now, event flags included."""
    flags: set[int] | None = None
    place = environment.profile.memory.fields.get("wEventFlags")
    if place is not None:
        data = environment.emulator.read(place.bank, place.address, place.size)
        flags = {index * 8 + bit for index, byte in enumerate(data) if byte for bit in range(8) if byte >> bit & 1}
    return Abilities.of(usable_moves(environment), flags)


class Roads:
    """Knows the next exit on the way to a target.

    Args:
        environment: the game.
        planner: plans over the world; None where none is known.
    """

    def __init__(self, environment: PokemonEnvironment, planner: RoutePlanner | None) -> None:
        self._environment = environment
        self._planner = planner

    def next_exit(self, target: Target, state: GameState, memory: PilotMemory) -> list[int] | None:
        """Column, row, press (-1: it acts when entered) and map of the next exit towards another map.

        None where no way is known. The way is planned once and followed from map to map; it is planned anew where the
        player is not on it any more, or can do something new.
        """
        key = [target.map_id, target.x or 0, target.y or 0, len(usable_moves(self._environment))]
        leg = self._known_leg(key, state.map_id, memory)
        if leg is None:
            memory.route = self._plan(target, state, memory)
            memory.route_key = key
            leg = self._known_leg(key, state.map_id, memory)
        return leg

    def drop(self, memory: PilotMemory) -> None:
        """Forgets the way, as it did not work."""
        memory.route, memory.route_key = [], []

    def distance(self, state: GameState, target: Target) -> int | None:
        """Moves to a target, with what stands in between; None where no way is known."""
        route = self._route(Place(state.map_id, state.x, state.y), _goal(target), ())
        return route.cost if route is not None else None

    def nearest(self, kind: str, state: GameState, memory: PilotMemory) -> Route | None:
        """The way to the nearest ``grass``, ``water``, ``healer``, ``shop``, ``item`` or ``unseen`` exit."""
        if self._planner is None:
            return None
        visited = [int(map_id) for map_id in memory.visits]
        place = Place(state.map_id, state.x, state.y)
        return self._planner.nearest(place, kind, abilities(self._environment), visited=visited)

    def missing(self, state: GameState, target: Target) -> tuple[str, ...]:
        """Field moves that would open a way to a target; empty where there is one, or none would help."""
        if self._planner is None:
            return ()
        place = Place(state.map_id, state.x, state.y)
        found = self._planner.blocked_by(place, _goal(target), abilities(self._environment))
        return tuple(dict.fromkeys(obstacle.kind for obstacle in found or ()))

    @staticmethod
    def _known_leg(key: list[int], map_id: int, memory: PilotMemory) -> list[int] | None:
        if memory.route_key != key:
            return None
        for index, leg in enumerate(memory.route):
            if leg[0] == map_id:
                del memory.route[:index]
                return leg[1:]
        return None

    def _plan(self, target: Target, state: GameState, memory: PilotMemory) -> list[list[int]]:
        avoid = [Place(*place) for place in memory.avoid[-_MOST_AVOIDED:]]
        start, goal = Place(state.map_id, state.x, state.y), _goal(target)
        route = self._route(start, goal, avoid) or (self._route(start, goal, ()) if avoid else None)
        if route is None and not isinstance(goal, int):
            route = self._route(start, target.map_id, ())
        if route is None:
            return []
        return [
            [leg.map_id, *leg.tiles[-1], leg.press, leg.leads_to.map_id]
            for leg in route.legs
            if leg.leads_to is not None
        ]

    def _route(self, start: Place, goal: Place | int, avoid: list[Place] | tuple[Place, ...]) -> Route | None:
        if self._planner is None:
            return None
        return self._planner.route(start, goal, abilities(self._environment), avoid=avoid)


def _goal(target: Target) -> Place | int:
    if target.x is None or target.y is None:
        return target.map_id
    return Place(target.map_id, target.x, target.y)
