"""Files of other programs are named for what they are, wherever one is given, and nothing of a battery save is lost."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from support.saved_games import RAM_BYTES, save_by_the_menu
from support.variants import long_after

from pkmn_pyboy.emulation.battery import read_battery_save
from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.emulation.foreign_files import BATTERY_BYTES, CLOCK_BYTES, foreign_state
from pkmn_pyboy.emulation.rom import load_rom
from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.profile.model import GameProfile
from pkmncli import cli
from pkmncli.errors import EmulatorError, EnvironmentSetupError, RomError

Make = Callable[..., PokemonEnvironment]
STUFF = bytes(range(256)) * 200


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("game.state", STUFF)
    return buffer.getvalue()


def tarred() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("game.state"), io.BytesIO())
    return buffer.getvalue()


def png(*chunks: tuple[bytes, bytes]) -> bytes:
    parts = [b"\x89PNG\r\n\x1a\n"]
    for name, content in ((b"IHDR", bytes(13)), *chunks, (b"IEND", b"")):
        parts += [struct.pack(">I", len(content)), name, content, struct.pack(">I", zlib.crc32(name + content))]
    return b"".join(parts)


COMPRESSED = {
    "a ZIP archive": zipped(),
    "a 7-Zip archive": b"7z\xbc\xaf\x27\x1c\x00\x04" + STUFF,
    "a RAR archive": b"Rar!\x1a\x07\x01\x00" + STUFF,
    "a gzip file": gzip.compress(STUFF),
    "a Zstandard file": b"\x28\xb5\x2f\xfd\x24" + STUFF,
    "a bzip2 file": bz2.compress(STUFF),
    "an xz file": lzma.compress(STUFF),
    "an LZ4 file": b"\x04\x22\x4d\x18\x64" + STUFF,
    "a tar archive": tarred(),
}

PATCHES = {
    "an IPS patch": b"PATCH\x00\x01\x02\x00\x01\x05EOF",
    "a BPS patch": b"BPS1" + STUFF[:100],
    "a UPS patch": b"UPS1" + STUFF[:100],
    "an xdelta patch": b"\xd6\xc3\xc4\x00\x05" + STUFF[:100],
    "a PPF patch": b"PPF30\x02" + STUFF[:100],
}

STATES = {
    "mGBA": struct.pack("<I", 0x00400002) + STUFF,
    "mGBA ": png((b"gbAs", zlib.compress(STUFF))),
    "VisualBoyAdvance": gzip.compress(struct.pack("<I", 12) + b"PM_CRYSTAL\0BYTE"[:15] + STUFF),
    "BGB": b"BGB1.0\x00" + struct.pack("<I", 4) + STUFF,
    "SameBoy": b"EMAS" + STUFF,
    "SameBoy, or another emulator": STUFF + b"NAME" + struct.pack("<I", 100) + b"BESS",
    "Gambatte": b"\x00\x01\x00\x00\x04abcdcc\x00\x00\x00\x04" + STUFF,
    "RetroArch": b"RASTATE\x01" + STUFF,
}


@pytest.fixture
def emulator(rom_path: Path) -> Emulator:
    return Emulator(load_rom(rom_path))


@pytest.mark.parametrize("name", STATES)
def test_another_emulators_state_is_named_and_leads_to_its_battery_save(name: str, emulator: Emulator) -> None:
    with pytest.raises(EmulatorError, match=rf"That is a saved state of {name.strip()}.*--cartridge FILE\.sav"):
        emulator.load_state(STATES[name])
    emulator.close()


@pytest.mark.parametrize("kind", [*COMPRESSED, *PATCHES])
def test_an_archive_or_patch_given_as_a_state_is_named(kind: str, emulator: Emulator) -> None:
    with pytest.raises(EmulatorError, match=f"That is {kind}"):
        emulator.load_state((COMPRESSED | PATCHES)[kind])
    emulator.close()


@pytest.mark.parametrize("ram", BATTERY_BYTES)
@pytest.mark.parametrize("clock", CLOCK_BYTES)
def test_a_battery_save_given_as_a_state_leads_to_its_option(ram: int, clock: int, emulator: Emulator) -> None:
    with pytest.raises(EmulatorError, match=r"as long as a battery save .* begin in it with --cartridge"):
        emulator.load_state(b"\xff" * (ram + clock))
    emulator.close()


def test_a_state_of_this_program_is_nothing_foreign(emulator: Emulator) -> None:
    state = emulator.save_state()
    assert foreign_state(state) is None
    emulator.load_state(state)
    emulator.close()


@pytest.mark.parametrize(
    "option", long_after(1, [["play", "--terminal", "--state"], ["train", "--steps=10", "--init-state"]])
)
def test_the_command_line_names_the_file_and_the_option(
    option: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.sav").write_bytes(b"\xff" * (RAM_BYTES + 44))
    assert cli.run([*option, "mine.sav"]) == 3
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "mine.sav" in line
    assert "--cartridge" in line
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("kind", [*COMPRESSED, *PATCHES])
def test_an_archive_or_patch_given_as_an_image_is_named(kind: str, tmp_path: Path) -> None:
    content = (COMPRESSED | PATCHES)[kind]
    what = "unpack it and name the .gbc file inside" if kind in COMPRESSED else "apply it with a patcher"
    for name, more in (("game.gbc", b""), ("large.gbc", bytes(9 * 1024 * 1024))):
        (tmp_path / name).write_bytes(content + more)
        with pytest.raises(RomError, match=rf"{name} is {kind}.*{what}") as told:
            load_rom(tmp_path / name)
        assert "\n" not in str(told.value)


@pytest.mark.parametrize("kind", [*COMPRESSED, *PATCHES])
def test_an_archive_or_patch_given_as_a_battery_save_is_named(kind: str, tmp_path: Path, rom_path: Path) -> None:
    (tmp_path / "mine.sav").write_bytes((COMPRESSED | PATCHES)[kind])
    with pytest.raises(EnvironmentSetupError, match=rf"mine\.sav is {kind}"):
        read_battery_save(tmp_path / "mine.sav", load_rom(rom_path))


@pytest.mark.parametrize("name", STATES)
def test_a_state_given_as_a_battery_save_is_named(name: str, tmp_path: Path, rom_path: Path) -> None:
    (tmp_path / "mine.sav").write_bytes(STATES[name])
    with pytest.raises(EnvironmentSetupError, match=rf"mine\.sav is a saved state of {name.strip()}"):
        read_battery_save(tmp_path / "mine.sav", load_rom(rom_path))


def test_a_state_of_this_program_given_as_a_battery_save_leads_to_its_option(
    make: Make, tmp_path: Path, rom_path: Path
) -> None:
    environment = make()
    environment.reset(seed=0)
    (tmp_path / "mine.sav").write_bytes(environment.save_state())
    with pytest.raises(EnvironmentSetupError, match="begin in it with --init-state"):
        read_battery_save(tmp_path / "mine.sav", load_rom(rom_path))


# Battery saves come back as long as they were ---------------------------------------------------------------------

PADDED = [0x10000 - RAM_BYTES, 0x20000 - RAM_BYTES]
RESTS = [
    *(bytes(range(1, clock + 1)) for clock in CLOCK_BYTES),
    *(fill * size for size in PADDED for fill in (b"\x00", b"\xff")),
    *(b"\xff" * size + bytes(range(44)) for size in PADDED),
]


@pytest.fixture(scope="module")
def saved(quillwood: GameProfile) -> bytes:
    return save_by_the_menu(quillwood, "right")[0]


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """Plays with a battery save; the game writes its first byte, and ends. ``meanwhile`` happens while it is played."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.chdir(tmp_path)

    def run(file: Path, meanwhile: Callable[[], object] = lambda: None) -> int:
        def write_and_end(self: Emulator) -> bool:
            meanwhile()
            self.memory[0x0000], self.memory[0x4000] = 0x0A, 0
            self.memory[0xA000] = 77
            return False

        monkeypatch.setattr(Emulator, "show_frame", write_and_end)
        return cli.run(["play", "--save-state=a.state", f"--cartridge={file}"])

    return run


@pytest.mark.parametrize("rest", long_after(1, RESTS), ids=len)
def test_what_lies_behind_the_ram_comes_back_as_it_was(
    rest: bytes, play: Callable[..., int], saved: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "mine.sav"
    file.write_bytes(saved + rest)
    assert play(file) == 0
    assert file.read_bytes() == bytes((77,)) + saved[1:] + rest


@pytest.mark.parametrize("size", long_after(1, [0, 1, 512, 2048, 8192, RAM_BYTES - 1]))
def test_a_file_that_is_too_short_is_named_as_that_and_stays(
    size: int, play: Callable[..., int], saved: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.sav"
    file.write_bytes(saved[:size])
    assert play(file) == 3
    assert f"mine.sav is too short, cut off or of another game: it has {size:,} bytes" in capsys.readouterr().err
    assert file.read_bytes() == saved[:size]


@pytest.mark.parametrize("rest", [b"\x01", bytes(45), bytes(range(256)) * 128, bytes(RAM_BYTES + 1)], ids=len)
def test_a_file_with_something_else_behind_the_ram_stays(
    rest: bytes, play: Callable[..., int], saved: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "mine.sav"
    file.write_bytes(saved + rest)
    assert play(file) == 3
    assert file.read_bytes() == saved + rest


def test_a_link_stays_one_and_permissions_stay(play: Callable[..., int], saved: bytes, tmp_path: Path) -> None:
    (tmp_path / "saves").mkdir()
    kept = tmp_path / "saves" / "kept.sav"
    kept.write_bytes(saved)
    kept.chmod(0o640)
    (tmp_path / "mine.sav").symlink_to(kept)
    assert play(tmp_path / "mine.sav") == 0
    assert (tmp_path / "mine.sav").is_symlink()
    assert kept.read_bytes() == bytes((77,)) + saved[1:]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640


def test_what_another_program_saved_meanwhile_is_not_overwritten(
    play: Callable[..., int], saved: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, other = tmp_path / "mine.sav", saved[:-1] + b"\x5a"
    file.write_bytes(saved)
    assert play(file, meanwhile=lambda: file.write_bytes(other)) == 0
    assert file.read_bytes() == other
    assert (tmp_path / "mine-2.sav").read_bytes() == bytes((77,)) + saved[1:]
    assert f"What the game itself saved is in {tmp_path / 'mine-2.sav'}." in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.state", "mine-2.sav", "mine.sav"]


@pytest.mark.parametrize("rest", RESTS, ids=len)
def test_a_training_begins_in_a_save_of_any_length(rest: bytes, saved: bytes, tmp_path: Path, rom_path: Path) -> None:
    file = tmp_path / "mine.sav"
    file.write_bytes(saved + rest)
    found = read_battery_save(file, load_rom(rom_path))
    assert (found.ram, found.rest) == (saved, rest)
