"""Catching what is needed: who would do, on which of the maps seen it lives, and the way there."""

from __future__ import annotations

from collections.abc import Collection

from pkmn_pyboy.milestones import Target
from pkmn_pyboy.navigation.world import World
from pkmn_pyboy.pilot.memory import PilotMemory
from pkmn_pyboy.world.cartridge import Cartridge

FAR = 1 << 20


def hunting_ground(
    cartridge: Cartridge, species: Collection[int], here: int, world: World, memory: PilotMemory
) -> Target | None:
    """The nearest map seen, this one included, where one of some species lives in the grass; None where none does.

    Args:
        cartridge: says who lives where.
        species: who would do; any where it is empty.
        here: the map of the player.
        world: which maps hang together.
        memory: which maps were seen.
    """
    seen = {here, *(int(map_id) for map_id in memory.visits)}
    options = [
        (world.distances(map_id).get(here, FAR), map_id)
        for map_id in sorted(seen)
        for table in cartridge.wild_on(map_id)
        if not table.water and (not species or any(slot.species in species for slots in table.slots for slot in slots))
    ]
    return Target(min(options)[1]) if options and min(options)[0] < FAR else None
