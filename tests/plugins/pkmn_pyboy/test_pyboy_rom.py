"""A wrong cartridge image is told in one line that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.pyboy_fakes import small_rom
from support.variants import long_after

from pkmn_pyboy.emulation.rom import check_identity, load_rom
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.profile.selection import select_game
from pkmn_pyboy.settings import EnvironmentSettings
from pkmncli import cli
from pkmncli.errors import EnvironmentSetupError, RomError


def write(folder: Path, data: bytes, name: str = "game.gbc") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def damaged() -> bytes:
    data = bytearray(small_rom())
    data[0x14D] ^= 1
    return bytes(data)


def gba() -> bytes:
    data = bytearray(0x8000)
    data[3], data[0xB2] = 0xEA, 0x96
    return bytes(data)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("game.gbc", b"", "is empty"),
        ("game.gbc", small_rom()[:-100], "no multiple of 16 KiB"),
        ("game.gbc", b"hello", "no multiple of 16 KiB"),
        ("game.gbc", small_rom(size=0x10000, size_code=2), "is cut off: it has 65,536 bytes, its header says 131,072"),
        ("game.gbc", damaged(), "checksum"),
        ("game.gba", small_rom(), "Game Boy Advance"),
        ("game.gbc", gba(), "Game Boy Advance"),
        ("game.gbc", b"PK\x03\x04" + bytes(0x7FFC), "ZIP archive"),
        ("game.zip", small_rom(), "unpack it"),
        ("game.gbc", b"7z\xbc\xaf\x27\x1c" + bytes(0x3FFA), "7-Zip"),
    ],
)
def test_unusable_image(tmp_path: Path, name: str, data: bytes, says: str) -> None:
    path = write(tmp_path, data, name)
    with pytest.raises(RomError, match=says) as caught:
        load_rom(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 3


def test_missing_image_and_folder(tmp_path: Path) -> None:
    with pytest.raises(RomError, match="No cartridge image at"):
        load_rom(tmp_path / "none.gbc")
    with pytest.raises(RomError, match="is a folder"):
        load_rom(tmp_path)


def test_unreadable_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, small_rom())

    def refuse(self: Path, *_: object) -> bytes:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(RomError, match=r"game\.gbc can't be read: Permission denied; check its permissions"):
        load_rom(path)


@pytest.mark.parametrize("command", ["train", "play"])
@pytest.mark.parametrize("what", ["folder", "empty", "damaged", "missing", "unreadable"])
def test_the_command_line_says_it_in_one_line(
    command: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = {
        "folder": tmp_path,
        "empty": write(tmp_path, b""),
        "damaged": write(tmp_path, damaged(), "damaged.gbc"),
        "missing": tmp_path / "none.gbc",
        "unreadable": write(tmp_path, small_rom(), "locked.gbc"),
    }[what]
    if what == "unreadable":
        # a test that runs as root may read anything, so the question is answered for it
        monkeypatch.setattr("os.access", lambda *_args, **_keywords: False)
        path.chmod(0)
    assert cli.run([command, "--rom", str(path)]) == 3
    error = capfd.readouterr().err
    assert error.count("\n") == 1
    assert str(path) in error
    assert not (tmp_path / "runs").exists()


def test_header_and_hash(tmp_path: Path) -> None:
    rom = load_rom(write(tmp_path, small_rom(title=b"PM_CRYSTAL", code=b"BYTE", version=1, cartridge_type=0x10)))
    assert (rom.header.title, rom.header.code, rom.header.version) == ("PM_CRYSTAL", "BYTE", 1)
    assert rom.header.has_clock
    assert rom.header.colour
    assert len(rom.sha1) == 40


@pytest.mark.parametrize(
    ("image", "says"),
    long_after(
        1,
        [
            ({"title": b"PM_CRYSTAL", "code": b"BYTE", "version": 6}, "Speedchoice"),
            ({"title": b"AP_CRYSTAL", "code": b"BYTE"}, "Archipelago"),
            ({"title": b"PM_CRYSTAL", "code": b"BXTJ"}, "Japanese"),
            ({"title": b"POKEMON_GLDAAUE"}, "Pokemon Gold"),
            ({"title": b"POKEMON_SLVAAXE"}, "Pokemon Silver"),
            ({"title": b"POKEMON RED", "colour": 0}, "Pokemon Red"),
            ({"title": b"POKEMON BLUE", "colour": 0}, "Pokemon Blue"),
            ({"title": b"POKEMON YELLOW"}, "Pokemon Yellow"),
            ({"title": b"PM_CRYSTAL", "code": b"BYTD"}, "German"),
            ({"title": b"PM_CRYSTAL", "code": b"BYTS"}, "Spanish"),
            ({"title": b"PM_CRYSTAL", "code": b"BYTE"}, "bytes differ"),
            ({"title": b"TETRIS"}, "English 1.0"),
        ],
    ),
)
def test_images_that_are_not_crystal(tmp_path: Path, image: dict[str, bytes], says: str) -> None:
    path = write(tmp_path, small_rom(**image))  # type: ignore[arg-type]
    with pytest.raises(RomError, match=says):
        select_game(EnvironmentSettings(game="crystal", rom_path=path))
    with pytest.raises(RomError, match=r"--env gameboy|bytes differ"):
        select_game(EnvironmentSettings(rom_path=path))


@pytest.mark.long
def test_header_tells_editions_apart(tmp_path: Path) -> None:
    """A header like that of one edition, and bytes that differ, is told as a changed copy of that one."""
    for code, version, edition in (
        (b"BYTE", 0, "English 1.0"),
        (b"BYTE", 1, "English 1.1"),
        (b"BYTU", 0, "Australian"),
    ):
        path = write(tmp_path, small_rom(title=b"PM_CRYSTAL", code=code, version=version))
        with pytest.raises(RomError, match=rf"looks like Pokemon Crystal {edition} but its bytes differ"):
            select_game(EnvironmentSettings(rom_path=path))


def test_force_alone_asks_for_the_game(tmp_path: Path) -> None:
    path = write(tmp_path, small_rom(title=b"POKEMON_GLDAAUE"))
    with pytest.raises(RomError, match="--force-rom needs to be told which one to take it for: --game crystal"):
        select_game(EnvironmentSettings(rom_path=path, force_rom=True))


def test_force_goes_on_with_an_unknown_image(tmp_path: Path, crystal: GameProfile) -> None:
    path = write(tmp_path, small_rom(title=b"PM_CRYSTAL", code=b"BYTE"))
    profile, rom = select_game(EnvironmentSettings(game="crystal", rom_path=path, force_rom=True))
    assert profile.name == "crystal"
    assert check_identity(rom, crystal.title, crystal.roms, crystal.lookalikes, force=True) is None


def test_game_without_an_image_of_its_own_asks_for_one() -> None:
    with pytest.raises(EnvironmentSetupError, match="your own cartridge image"):
        select_game(EnvironmentSettings(game="crystal"))


def test_an_image_alone_tells_its_game(rom_path: Path) -> None:
    profile, rom = select_game(EnvironmentSettings(rom_path=rom_path))
    assert profile.name == "quillwood"
    assert rom.path == rom_path


def test_unknown_game_suggests_the_nearest() -> None:
    with pytest.raises(EnvironmentSetupError, match="did you mean crystal"):
        select_game(EnvironmentSettings(game="cristal"))
