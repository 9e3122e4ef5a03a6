"""Keys of a terminal: bytes taken apart wherever they are cut, and buttons held as long as a key repeats."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.emulation.rom import load_rom
from pkmn_pyboy.play.keys import TAP_FRAMES, Key, KeyDecoder, Pad

HOLD_FRAMES = 10


def test_every_key_that_is_promised() -> None:
    text = b"\x1b[A\x1b[B\x1b[C\x1b[D\x1bOA\x1b[1;2Akjhl zaxb\r\n\x7f\x08\t sqS"
    assert KeyDecoder().feed(text) == [
        *(Key.UP, Key.DOWN, Key.RIGHT, Key.LEFT, Key.UP, Key.UP),
        *(Key.UP, Key.DOWN, Key.LEFT, Key.RIGHT),
        *(Key.A, Key.A, Key.B, Key.B),
        *(Key.START, Key.START, Key.SELECT, Key.SELECT, Key.SELECT),
        *(Key.SAVE, Key.QUIT, Key.SAVE),
    ]


def test_bytes_cut_anywhere_give_the_same_keys() -> None:
    data = b"a\x1b[Ah\x1b[0n\x1bOCz\x1b[1;5Dq\xc3\xa4\x1b[3~l"
    whole = KeyDecoder().feed(data)
    single = KeyDecoder()
    assert [key for at in range(len(data)) for key in single.feed(data[at : at + 1])] == whole
    assert whole == [Key.A, Key.UP, Key.LEFT, Key.ANSWER, Key.RIGHT, Key.A, Key.LEFT, Key.QUIT, Key.RIGHT]


def test_escape_alone_means_nothing_and_swallows_nothing() -> None:
    decoder = KeyDecoder()
    assert decoder.feed(b"\x1b") == []
    assert decoder.feed(b"z") == [Key.A]


@pytest.fixture
def emulator(rom_path: Path) -> Iterator[Emulator]:
    emulator = Emulator(load_rom(rom_path))
    yield emulator
    emulator.close()


def held(emulator: Emulator) -> set[str]:
    """The buttons that the hardware sees, in both halves of the joypad register."""
    found: set[str] = set()
    for select, names in ((0x20, ("right", "left", "up", "down")), (0x10, ("a", "b", "select", "start"))):
        emulator.memory[0xFF00] = select
        bits = emulator.memory[0xFF00]
        found |= {name for bit, name in enumerate(names) if not bits & 1 << bit}
    return found


def frames_held(emulator: Emulator, pad: Pad, name: str) -> int:
    frames = 0
    while True:
        emulator.run(1)
        if name not in held(emulator):
            return frames
        frames += 1
        pad.frame_passed()


def test_a_press_is_released_by_itself_and_a_repeated_one_lasts(emulator: Emulator) -> None:
    pad = Pad(emulator, HOLD_FRAMES)
    pad.press(Key.A)
    assert frames_held(emulator, pad, "a") == TAP_FRAMES
    pad.press(Key.LEFT)
    assert frames_held(emulator, pad, "left") == HOLD_FRAMES
    pad.press(Key.LEFT)
    emulator.run(1)
    for _ in range(HOLD_FRAMES - 1):
        pad.frame_passed()
    pad.press(Key.LEFT)
    assert frames_held(emulator, pad, "left") == HOLD_FRAMES


def test_one_direction_at_a_time_beside_a_button(emulator: Emulator) -> None:
    pad = Pad(emulator, HOLD_FRAMES)
    for key in (Key.LEFT, Key.B, Key.UP):
        pad.press(key)
    emulator.run(1)
    assert held(emulator) == {"up", "b"}
    pad.release_all()
    emulator.run(1)
    assert held(emulator) == set()
