"""A wrong cartridge image is told in one line that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyboy_fakes import small_rom

from pkmn_pyboy.profile import GameProfile
from pkmn_pyboy.rom import check_identity, load_rom
from pkmn_pyboy.selection import select_game
from pkmn_pyboy.settings import EnvironmentSettings
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


def test_header_and_hash(tmp_path: Path) -> None:
    rom = load_rom(write(tmp_path, small_rom(title=b"PM_CRYSTAL", code=b"BYTE", version=1, cartridge_type=0x10)))
    assert (rom.header.title, rom.header.code, rom.header.version) == ("PM_CRYSTAL", "BYTE", 1)
    assert rom.header.has_clock
    assert rom.header.colour
    assert len(rom.sha1) == 40


@pytest.mark.parametrize(
    ("image", "says"),
    [
        ({"title": b"PM_CRYSTAL", "code": b"BYTE", "version": 6}, "Speedchoice"),
        ({"title": b"AP_CRYSTAL", "code": b"BYTE"}, "Archipelago"),
        ({"title": b"PM_CRYSTAL", "code": b"BXTJ"}, "Japanese"),
        ({"title": b"POKEMON_GLDAAUE"}, "Pokemon Gold"),
        ({"title": b"POKEMON_SLVAAXE"}, "Pokemon Silver"),
        ({"title": b"PM_CRYSTAL", "code": b"BYTE"}, "bytes differ"),
        ({"title": b"TETRIS"}, "English 1.0"),
    ],
)
def test_images_that_are_not_crystal(tmp_path: Path, image: dict[str, bytes], says: str) -> None:
    path = write(tmp_path, small_rom(**image))  # type: ignore[arg-type]
    with pytest.raises(RomError, match=says):
        select_game(EnvironmentSettings(game="crystal", rom_path=path))
    with pytest.raises(RomError):
        select_game(EnvironmentSettings(rom_path=path))


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
