"""A picture of the surroundings in letters: which tiles can be walked on, where people stand, where the player is."""

from __future__ import annotations

from pkmn_pyboy.emulator import Emulator
from pkmn_pyboy.profile import GameProfile
from pkmn_pyboy.state.game_state import GameState

COLUMNS, ROWS = 11, 9
LEGEND = "@ you, . free, # wall, ~ water, v ^ < > a way out or down, P someone"

_BORDER_BLOCKS = 3
_OBJECT_BYTES, _OBJECTS, _OBJECT_X, _OBJECT_Y, _OBJECT_SHIFT = 40, 13, 0x10, 0x11, 4
_WAYS = {0x70: "v", 0x76: "<", 0x78: "^", 0x7E: ">", 0x71: "^", 0x7A: "^", 0x7B: "^", 0xA0: ">", 0xA1: "<", 0xA3: "v"}
_NEEDED = ("wOverworldMapBlocks", "wMapWidth", "wMapHeight", "wTilesetCollisionBank", "wTilesetCollisionAddress")


def draw_text_map(emulator: Emulator, profile: GameProfile, state: GameState) -> str:
    """The tiles around the player, one letter each; empty where the profile does not say how to read them."""
    memory = profile.memory
    if any(name not in memory for name in _NEEDED):
        return ""
    width, height = memory.read(emulator, "wMapWidth"), memory.read(emulator, "wMapHeight")
    stride = width + 2 * _BORDER_BLOCKS
    blocks_field = memory["wOverworldMapBlocks"]
    blocks = emulator.read(
        blocks_field.bank, blocks_field.address, min(blocks_field.size, stride * (height + 2 * _BORDER_BLOCKS))
    )
    collision_bank = memory.read(emulator, "wTilesetCollisionBank")
    collision_address = memory.read(emulator, "wTilesetCollisionAddress")
    people = _people(emulator, profile)
    rows = []
    for y in range(state.y - ROWS // 2, state.y + ROWS // 2 + 1):
        row = ""
        for x in range(state.x - COLUMNS // 2, state.x + COLUMNS // 2 + 1):
            if (x, y) == (state.x, state.y):
                row += "@"
            elif (x, y) in people:
                row += "P"
            else:
                place = (y // 2 + _BORDER_BLOCKS) * stride + x // 2 + _BORDER_BLOCKS
                block = blocks[place] if 0 <= place < len(blocks) else 0
                data = emulator.read_rom(collision_bank, collision_address + block * 4 + (y & 1) * 2 + (x & 1), 1)
                row += _letter(profile, data[0] if block and data else 0xFF)
        rows.append(row)
    return "\n".join([*rows, LEGEND])


def _letter(profile: GameProfile, collision: int) -> str:
    if collision in profile.collision.wall:
        return "#"
    if collision in profile.collision.water:
        return "~"
    return _WAYS.get(collision, ".")


def _people(emulator: Emulator, profile: GameProfile) -> set[tuple[int, int]]:
    if "wObjectStructs" not in profile.memory:
        return set()
    field = profile.memory["wObjectStructs"]
    data = emulator.read(field.bank, field.address, field.size)
    people = set()
    for start in range(_OBJECT_BYTES, min(len(data), _OBJECTS * _OBJECT_BYTES), _OBJECT_BYTES):
        if data[start]:
            people.add((data[start + _OBJECT_X] - _OBJECT_SHIFT, data[start + _OBJECT_Y] - _OBJECT_SHIFT))
    return people
