"""Checks of a profile against the image: items to buy for its goals, blocks that change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.world.cartridge import Cartridge


@dataclass(frozen=True, slots=True)
class RoadProblem:
    """Goal that cannot be reached or done, or a key of the profile that contradicts the image."""

    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.key}: {self.message}"


def check_supplies(profile: GameProfile, cartridge: Cartridge) -> list[RoadProblem]:
    """Return the items to carry for a game's goals that no shop of its image sells."""
    if not cartridge.shops:
        return []
    sold = {item for shop in cartridge.shops for item in shop}
    return [
        RoadProblem(goal.key, f"no shop of the image sells {profile.names.items.get(item, f'item {item}')}")
        for goal in (*profile.milestones, *profile.errands.values())
        for item, _ in goal.supplies
        if item not in sold
    ]


def check_blocks(profile: GameProfile, cartridge: Cartridge) -> list[RoadProblem]:
    """Return the blocks of world.toml that are not on their map, or not in its tileset."""
    return [
        RoadProblem(f"changed {map_id >> 8}.{map_id & 0xFF}", message)
        for map_id in profile.world.changed
        for message in _wrong_blocks(map_id, cartridge)
    ]


def _wrong_blocks(map_id: int, cartridge: Cartridge) -> Iterator[str]:
    world = cartridge.world
    size, most = world.size(map_id), world.block_count(map_id)
    if size is None:
        yield "the image has no such map"
        return
    story = world.story_blocks[map_id]
    for block in sorted({*story.always, *(one for blocks in story.by_event.values() for one in blocks)}):
        where = f"block {block.number} at ({block.x},{block.y})"
        if block.x >= size[0] or block.y >= size[1]:
            yield f"{where} is not on {world.name(map_id)}, which has {size[0]} x {size[1]} tiles"
        elif block.number >= most:
            yield f"{where}: the tileset of {world.name(map_id)} has {most} blocks at most"
