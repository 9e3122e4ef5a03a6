"""The bundled game sleeps: an emulator pays for every instruction, so hardly any time may pass outside HALT."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.battle_bench import BattleBench

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.emulation.rom import load_rom
from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.settings import EnvironmentSettings

HALT = b"\x76\x00"  # halt and nop; what stands before each is one byte long
VBLANK_HANDLER = 0x40
HOME_BANK = 0x4000
HALTS = 5  # in start.s and walk.s


class Sleep:
    """Counts the cycles that a game spends in HALT, by hooks where it goes to sleep and where it wakes up."""

    def __init__(self, emulator: Emulator) -> None:
        self._pyboy = emulator.pyboy
        self._asleep = 0
        self._since: int | None = None
        home = emulator.rom.data[:HOME_BANK]
        halts = [at for at in range(len(home)) if home.startswith(HALT, at)]
        assert len(halts) == HALTS, "a HALT was added or data looks like one: these hooks must be looked at"
        for at in halts:
            self._pyboy.hook_register(0, at - 1, self._sleep, None)
            self._pyboy.hook_register(0, at + 1, self._wake, None)
        self._pyboy.hook_register(0, VBLANK_HANDLER, self._wake, None)

    def _cycles(self) -> int:
        return int(self._pyboy._cycles())  # noqa: SLF001 - PyBoy counts them nowhere else

    def _sleep(self, _: object) -> None:
        if self._since is None:
            self._since = self._cycles()

    def _wake(self, _: object) -> None:
        if self._since is not None:
            self._asleep += self._cycles() - self._since
            self._since = None

    def awake_share(self, emulator: Emulator, presses: list[str | None]) -> float:
        """The share of all cycles outside HALT in actions of 24 frames with a button held for 10."""
        start, self._asleep = self._cycles(), 0
        for button in presses:
            emulator.press(button, 10, 24, render=False)
        return 1 - self._asleep / (self._cycles() - start)


@pytest.fixture
def bedroom() -> bytes:
    environment = PokemonEnvironment(EnvironmentSettings(observation_type="state"))
    environment.reset(seed=0)
    state = environment.emulator.save_state()
    environment.close()
    return state


def test_the_game_sleeps_while_the_player_stands_and_nearly_always_while_walking(
    rom_path: Path, bedroom: bytes
) -> None:
    emulator = Emulator(load_rom(rom_path))
    emulator.load_state(bedroom)
    sleep = Sleep(emulator)
    try:
        assert sleep.awake_share(emulator, [None] * 10) < 0.01
        assert sleep.awake_share(emulator, ["left", "right", "right", "left"] * 5) < 0.028
    finally:
        emulator.close()


def test_the_game_sleeps_through_most_of_a_battle_and_of_its_words(rom_path: Path, wild: BattleBench) -> None:
    emulator = Emulator(load_rom(rom_path))
    emulator.load_state(wild.emulator.save_state())
    sleep = Sleep(emulator)
    try:
        assert sleep.awake_share(emulator, [None] * 10) < 0.01, "the menu waits"
        assert sleep.awake_share(emulator, ["a", None, "a", *[None] * 8, "b", *[None] * 8]) < 0.03, "a turn"
    finally:
        emulator.close()
