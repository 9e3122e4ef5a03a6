"""The emulator: no files beside the image, a locked clock, and one clear error for every state that does not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.pyboy_fakes import fix_checksum, small_rom

from pkmn_pyboy.emulation.emulator import Emulator, current_state_version
from pkmn_pyboy.emulation.rom import load_rom
from pkmncli.errors import EmulatorError

Start = Callable[..., Emulator]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts an emulator with an image of the given bytes."""
    running: list[Emulator] = []

    def begin(data: bytes, name: str = "game.gbc") -> Emulator:
        (tmp_path / name).write_bytes(data)
        running.append(Emulator(load_rom(tmp_path / name)))
        return running[-1]

    yield begin
    for emulator in running:
        emulator.close()


def test_files_beside_the_image_are_neither_read_nor_written(start: Start, rom_path: Path, tmp_path: Path) -> None:
    ours = {"game.gbc.ram": b"\xaa" * 8192, "game.gbc.rtc": b"\xbb" * 48, "game.sav": b"mine"}
    for name, data in ours.items():
        (tmp_path / name).write_bytes(data)
    emulator = start(rom_path.read_bytes())
    for button in ("a", "start", "b", None) * 5:
        emulator.press(button, 4, 24)
    assert emulator.memory[0, 0xA000] != 0xAA
    emulator.close()
    emulator.close()
    assert {path.name for path in tmp_path.iterdir()} == {"game.gbc", *ours}
    assert all((tmp_path / name).read_bytes() == data for name, data in ours.items())


def clock_seconds(emulator: Emulator) -> int:
    """What a game reads from the cartridge's clock."""
    memory = emulator.memory
    memory[0x0000] = 0x0A
    memory[0x4000] = 0x08
    memory[0x6000] = 0
    memory[0x6000] = 1
    return int(memory[0xA000])


def test_the_clock_of_a_cartridge_stands_still(start: Start, rom_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data = bytearray(rom_path.read_bytes())
    data[0x147] = 0x10
    emulator = start(fix_checksum(data))
    assert emulator.rom.header.has_clock
    assert capfd.readouterr() == ("", ""), "PyBoy says that there is no file of the clock's"
    emulator.run(60 * 4)
    assert clock_seconds(emulator) == 0
    state = emulator.save_state()
    emulator.pyboy.rtc_lock_experimental(False)
    emulator.run(60 * 4)
    assert clock_seconds(emulator) >= 3, "without the lock it would have gone on"
    emulator.pyboy.rtc_lock_experimental(True)
    emulator.load_state(state)
    assert clock_seconds(emulator) == 0


def test_a_cartridge_without_a_clock_starts_too(start: Start) -> None:
    assert not start(small_rom()).rom.header.has_clock


def test_reads_at_the_ends_of_banks(start: Start) -> None:
    emulator = start(small_rom())
    emulator.memory[1, 0xDFFF] = 7
    emulator.memory[1, 0xD000] = 5
    emulator.memory[2, 0xD000] = 6
    assert emulator.read(1, 0xDFFE, 2) == b"\x00\x07"
    assert emulator.read(1, 0xDFFF, 1) == b"\x07"
    assert emulator.read(1, 0xD000, 1) == b"\x05"
    assert len(emulator.read(0, 0xC000, 0x1000)) == 0x1000
    assert emulator.read(-1, 0xFF80, 4) == bytes(emulator.memory[0xFF80:0xFF84])
    bound = emulator.bind([(1, 0xD000, 2), (-1, 0xFF80, 1)])
    assert bound() == emulator.read(1, 0xD000, 2) + emulator.read(-1, 0xFF80, 1)
    assert emulator.bind([(1, 0xDFFE, 2)])() == b"\x00\x07"
    assert emulator.read_rom(0, 0x134, 5) == b"SMALL"
    work_ram = emulator.work_ram()
    assert len(work_ram) == 8 * 0x1000
    assert (work_ram[0x1000], work_ram[0x2000]) == (5, 6)


@pytest.mark.parametrize("bank", range(8))
def test_what_is_switched_in_does_not_matter(start: Start, bank: int) -> None:
    """The game maps other banks for its windows and palettes; what is read is still bank 1."""
    emulator = start(small_rom())
    for number in range(2, 8):
        emulator.memory[number, 0xDCD7] = 0xEE
    emulator.memory[1, 0xDCD7] = 3
    bound = emulator.bind([(1, 0xDCD7, 1), (0, 0xC000, 2)])
    emulator.memory[0xFF70] = bank
    assert emulator.memory[0xFF70] & 7 == bank
    assert emulator.read(1, 0xDCD7, 1) == b"\x03"
    assert bound() == b"\x03\x00\x00"
    assert emulator.bind([(1, 0xDCD7, 1)])() == b"\x03"
    assert emulator.bind([])() == b""


def test_a_game_without_colour_has_one_bank(start: Start) -> None:
    emulator = start(small_rom(colour=0), "game.gb")
    emulator.memory[0xD123] = 9
    assert emulator.read(1, 0xD123, 1) == b"\x09"
    assert len(emulator.work_ram()) == 2 * 0x1000


@pytest.fixture
def states(start: Start, rom_path: Path) -> dict[str, bytes]:
    good = start(rom_path.read_bytes()).save_state()
    return {
        "good": good,
        "empty": b"",
        "cut off": good[:90_000],
        "too long": good + bytes(8192),
        "newer": bytes((current_state_version() + 1,)) + good[1:],
        "something else": b"PNG of a holiday",
        "older": bytes((current_state_version() - 1,)) + good[1:],
        "other colour mode": start(small_rom(colour=0), "other.gb").save_state(),
        "other game": start(small_rom(), "other.gbc").save_state(),
    }


@pytest.mark.parametrize(
    ("which", "says"),
    [
        ("empty", "is empty"),
        ("cut off", "cut off"),
        ("too long", "longer than one of this game"),
        ("newer", "of PyBoy's format"),
        ("older", "of PyBoy's format"),
        ("something else", "no saved state"),
        ("other colour mode", "other colour mode"),
        ("other game", "of another"),
    ],
)
def test_a_state_that_does_not_fit_changes_nothing(
    start: Start, rom_path: Path, states: dict[str, bytes], which: str, says: str
) -> None:
    emulator = start(rom_path.read_bytes())
    for button in ("start", "a", "right"):
        emulator.press(button, 4, 24)
    before, picture = emulator.work_ram(), emulator.screen.copy()
    with pytest.raises(EmulatorError, match=says) as caught:
        emulator.load_state(states[which])
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 3
    assert emulator.work_ram() == before
    assert (emulator.screen == picture).all()


def test_a_state_brings_back_memory_and_picture(start: Start, rom_path: Path) -> None:
    emulator = start(rom_path.read_bytes())
    emulator.press("start", 4, 200)
    state, memory, picture = emulator.save_state(), emulator.work_ram(), emulator.screen.copy()
    emulator.press("a", 4, 200)
    assert emulator.work_ram() != memory
    emulator.load_state(state)
    assert emulator.work_ram() == memory
    assert (emulator.screen == picture).all()


def test_an_unknown_cartridge_type_is_told(tmp_path: Path) -> None:
    (tmp_path / "odd.gbc").write_bytes(small_rom(cartridge_type=0xFC))
    with pytest.raises(EmulatorError, match="can't be started") as caught:
        Emulator(load_rom(tmp_path / "odd.gbc"))
    assert "\n" not in str(caught.value)


def test_a_window_without_a_display_is_told(rom_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("SDL_VIDEODRIVER", "x11")
    with pytest.raises(EmulatorError, match="is there a display"):
        Emulator(load_rom(rom_path), headless=False)


def test_a_window_shows_every_frame_and_plays_the_same(
    start: Start, rom_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    emulator = Emulator(load_rom(rom_path), headless=False)
    other = start(rom_path.read_bytes())
    try:
        for button in ("start", "a", None, "down"):
            emulator.press(button, 4, 24)
            other.press(button, 4, 24)
        assert emulator.work_ram() == other.work_ram()
    finally:
        emulator.close()
