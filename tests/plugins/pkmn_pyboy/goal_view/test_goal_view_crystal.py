"""The goal's numbers of the real game: written from its recordings, with Crystal's profile and without its image."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.pyboy_fakes import FakeMemory
from support.recordings import RECORDINGS, apply, recorded_rows

from pkmn_pyboy.goal_view.local_map import MAP_SIZE
from pkmn_pyboy.goal_view.table import GOAL_NUMBERS, GOAL_SIZE
from pkmn_pyboy.goal_view.view import GoalView
from pkmn_pyboy.pilot.memory import LEAVE, Aim, PilotMemory
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import BATTLE_PHASES, Phase
from pkmn_pyboy.state.reader import StateReader
from pkmn_pyboy.state.seen_tiles import SeenTiles
from pkmn_pyboy.world.cartridge import Cartridge

NAMES = [number.name for number in GOAL_NUMBERS]


class NoImage(FakeMemory):
    """Memory with an image of which nothing is known."""

    def read_rom(self, bank: int, address: int, size: int) -> bytes:
        return bytes(size)


@pytest.mark.parametrize("name", RECORDINGS)
def test_recordings_of_crystal_give_numbers_in_range(crystal: GameProfile, name: str) -> None:
    emulator, reader, seen = NoImage(crystal.memory), StateReader(crystal), SeenTiles()
    game: Any = SimpleNamespace(
        emulator=emulator,
        profile=crystal,
        cartridge=Cartridge(b"", crystal),
        knowledge="cartridge",
        seen=seen,
        pressed=8,
    )
    view, memory = GoalView(game), PilotMemory(aim=Aim(LEAVE, 0, 0))
    goal, tiles = np.full(GOAL_SIZE, np.nan, np.float32), np.zeros((MAP_SIZE, MAP_SIZE), np.uint16)
    for _, changed in recorded_rows(name)[::4]:
        apply(emulator, changed)
        game.state = state = reader.read(emulator)
        seen.note(state)
        for of in (memory, None):
            view.write_goal(goal, of)
            view.write_local_map(tiles, of)
            assert np.isfinite(goal).all()
            assert np.abs(goal).max() <= 1
            numbers = dict(zip(NAMES, goal.tolist(), strict=True))
            assert numbers["wants_leave"] == float(of is memory)
            assert numbers[f"phase_{state.phase.name.lower()}"] == 1
            assert (numbers["wild"] + numbers["trainer"]) == (state.battle is not None)
            if state.battle is not None and state.battle.opponent is not None:
                assert numbers["enemy_level"] == pytest.approx(state.battle.opponent.level / 100)
            if state.phase in BATTLE_PHASES | {Phase.MENU}:
                assert not tiles.any()
