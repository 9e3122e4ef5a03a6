"""Battery saves of the bundled game, made as a player makes them: by its own menu, on the emulator."""

from __future__ import annotations

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.emulation.rom import load_rom
from pkmn_pyboy.environments.starts import play_recipe
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.reader import StateReader

HOLD, FRAMES = 10, 24
RAM_BYTES = 32_768
TO_SAVE = "start . down down down down a . . . a . . . . a . b . . . ."


def save_by_the_menu(profile: GameProfile, way: str = "") -> tuple[bytes, tuple[int, int, int]]:
    """A new game in which some buttons are pressed, "." for a wait, and which is saved then.

    Returns:
        What the cartridge's battery keeps, and where the player stood: map, column, row.
    """
    assert profile.bundled_rom is not None
    emulator = Emulator(load_rom(profile.bundled_rom))
    play_recipe(emulator, profile)
    for button in f"{way} . . {TO_SAVE}".split():
        emulator.press(None if button == "." else button, HOLD, FRAMES, render=False)
    state = StateReader(profile).read(emulator)
    return emulator.close_with_cartridge(), (state.map_id, state.x, state.y)
