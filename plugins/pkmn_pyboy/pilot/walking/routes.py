"""Routes over the world known to the pilot: planned once, kept as plain legs from map to map, and followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pkmn_pyboy.pilot.memory import PilotMemory
from pkmn_pyboy.pilot.notes import RouteLeg
from pkmn_pyboy.profile.milestones import Target
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.world.goals import RouteGoal, of_kind, of_target, on_map
from pkmn_pyboy.world.knowledge import World
from pkmn_pyboy.world.records import ENTER, Place
from pkmn_pyboy.world.route import Route
from pkmn_pyboy.world.route_planner import RoutePlanner
from pkmn_pyboy.world.seen_world import SeenWorld

if TYPE_CHECKING:
    from pkmn_pyboy.game import Game

_MOST_AVOIDED = 12

Key = tuple[int | str, ...]
"""Purpose of a route, which is followed until another one is wanted."""


class Roads:
    """Routes over maps: their length, and the next leg.

    Args:
        game: the running game.
        planner: planner over the cartridge's world or the seen world.
    """

    def __init__(self, game: Game, planner: RoutePlanner) -> None:
        self._game = game
        self._planner = planner

    @property
    def world(self) -> World:
        """Known maps."""
        return self._planner.world

    @property
    def seen(self) -> SeenWorld | None:
        """Known maps if they are only what was seen; otherwise None."""
        return self.world if isinstance(self.world, SeenWorld) else None

    # Distances ----------------------------------------------------------------------------------------------

    def route(self, goal: RouteGoal | int, state: GameState, memory: PilotMemory) -> Route | None:
        """Return the cheapest route to a goal or a map, avoiding what failed lately if possible."""
        start, able = Place(state.map_id, state.x, state.y), self._game.abilities()
        avoid = memory.route.avoid[-_MOST_AVOIDED:]
        route = self._planner.route(start, goal, able, avoid=avoid)
        return route if route is not None or not avoid else self._planner.route(start, goal, able)

    def route_from(self, start: Place, goal: RouteGoal | int) -> Route | None:
        """Return the cheapest route from another place."""
        return self._planner.route(start, goal, self._game.abilities())

    def of_kind(self, kind: str, memory: PilotMemory) -> RouteGoal:
        """Return all known places of a kind: ``grass``, ``healer``, ``shop``, ``unseen`` exits and others."""
        visited = {int(map_id) for map_id in memory.visits}
        return of_kind(self.world, kind, self._game.abilities(), visited)

    def of_target(self, target: Target) -> RouteGoal:
        """Return the place of a milestone's target; its whole map if nothing more is known."""
        found = of_target(self.world, target)
        return found if found.ends else on_map(target.map_id)

    def unexplored(self, memory: PilotMemory) -> RouteGoal:
        """Return the exits not taken yet and the tiles beside unseen ones."""
        found = self.of_kind("unseen", memory)
        if self.seen is None:
            return found
        ends = {map_id: dict(there or {}) for map_id, there in found.ends.items()}
        for map_id in self.seen.map_ids():
            verge = self.seen.verge(map_id)
            if verge:
                ends[map_id] = dict.fromkeys(verge, ENTER) | ends.get(map_id, {})
        return RouteGoal(ends, enters=True)

    def verge_of(self, map_id: int) -> RouteGoal:
        """Return the tiles of a map beside unseen ones."""
        verge = self.seen.verge(map_id) if self.seen is not None else ()
        return RouteGoal({map_id: dict.fromkeys(verge, ENTER)} if verge else {})

    def untaken_around(self, map_id: int) -> RouteGoal:
        """Return the exits not taken yet of a map and its neighbours: one may lead to the map's other parts."""
        if self.seen is None:
            return RouteGoal({})
        exits = self.seen.exits(map_id)
        near = {map_id, *(exit_.arrival.map_id for exit_ in exits if exit_.arrival is not None)}
        ends = {
            one: {
                (exit_.x, exit_.y): exit_.press
                for exit_ in self.seen.exits(one)
                if not exit_.back and exit_.arrival is None
            }
            for one in near
        }
        return RouteGoal({one: there for one, there in ends.items() if there}, enters=True)

    # Route ------------------------------------------------------------------------------------------------------

    def next_leg(
        self, key: Key, goal: RouteGoal, state: GameState, memory: PilotMemory
    ) -> tuple[int, int, int, int] | None:
        """Return column, row, press (-1 for none: it acts when entered) and next map of the leg over this map.

        The next map is -1 if the route ends here. None without a known route. The route is planned once and followed
        from map to map; it is planned again when the player is off it or can do something new.

        Args:
            key: purpose of the route, as plain values; another key plans again.
            goal: destination. If it can't be reached yet, the route goes up to the first obstacle.
            state: the current state.
            memory: keeps the route.
        """
        leg = self._known_leg(self._full(key), state, memory)
        if leg is None:
            if self.plan(key, goal, state, memory) is None:
                start, able = Place(state.map_id, state.x, state.y), self._game.abilities()
                self._keep(key, self._planner.route(start, goal, able, through_obstacles=True), memory)
            leg = self._known_leg(self._full(key), state, memory)
        return leg

    def plan(self, key: Key, goal: RouteGoal, state: GameState, memory: PilotMemory) -> Route | None:
        """Plan a route and keep it for :meth:`next_leg` with the same key."""
        route = self.route(goal, state, memory)
        self._keep(key, route, memory)
        return route

    def _keep(self, key: Key, route: Route | None, memory: PilotMemory) -> None:
        memory.route.key = self._full(key)
        memory.route.legs = []
        for leg in route.legs if route is not None else ():
            onward = leg.leads_to.map_id if leg.leads_to is not None else -1
            memory.route.legs.append(RouteLeg(leg.map_id, *leg.tiles[0], *leg.tiles[-1], leg.press, onward))

    def _full(self, key: Key) -> list[int | str]:
        """Return the key with the number of field moves: another one may open a shorter route."""
        return [*key, len(self._game.usable_moves())]

    @staticmethod
    def _known_leg(key: list[int | str], state: GameState, memory: PilotMemory) -> tuple[int, int, int, int] | None:
        if memory.route.key != key:
            return None
        here = [index for index, leg in enumerate(memory.route.legs) if leg.map_id == state.map_id]
        if not here:
            return None
        # A route may cross a map several times: a later leg has begun if the player is on its first tile.
        begun = [index for index in here if memory.route.legs[index].starts_at(state.x, state.y)]
        index = begun[-1] if begun else here[0]
        del memory.route.legs[:index]
        leg = memory.route.legs[0]
        return leg.x, leg.y, leg.press, leg.onward
