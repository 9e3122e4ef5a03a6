"""Catching what is needed: who would do, on which of the maps seen it lives, and the way there."""

from __future__ import annotations

from collections.abc import Collection

from pkmn_pyboy.milestones import Target
from pkmn_pyboy.pilot.memory import PilotMemory
from pkmn_pyboy.pilot.roads import Roads
from pkmn_pyboy.state.game_state import GameState
from pkmn_pyboy.world.cartridge import Cartridge
from pkmn_pyboy.world.goals import Goal


def hunting_ground(
    cartridge: Cartridge, species: Collection[int], state: GameState, roads: Roads, memory: PilotMemory
) -> Target | None:
    """The nearest map seen, this one included, where one of some species lives in the grass; None where none does.

    Args:
        cartridge: says who lives where.
        species: who would do; any where it is empty.
        state: where the player is.
        roads: how far it is.
        memory: which maps were seen.
    """
    seen = {state.map_id, *(int(map_id) for map_id in memory.visits)}
    grounds = [
        map_id
        for map_id in sorted(seen)
        for table in cartridge.wild_on(map_id)
        if not table.water and (not species or any(slot.species in species for slots in table.slots for slot in slots))
    ]
    if state.map_id in grounds:
        return Target(state.map_id)
    route = roads.route(Goal(dict.fromkeys(grounds)), state, memory) if grounds else None
    return Target(route.goal.map_id) if route is not None else None
