"""Battery saves: continued from power-on by the profile's recipe, refused in one line where there is nothing to go on
with, and never written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.saved_games import RAM_BYTES, save_by_the_menu

from pkmn_pyboy.emulation.battery import BatterySave, read_battery_save
from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.emulation.foreign_files import CLOCK_BYTES
from pkmn_pyboy.emulation.rom import load_rom
from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.environments import starts
from pkmn_pyboy.environments.starts import check_saved_game, continue_game
from pkmn_pyboy.gameboy.environment import GameBoyEnvironment
from pkmn_pyboy.gameboy.settings import GameBoySettings
from pkmn_pyboy.profile.model import GameProfile
from pkmn_pyboy.state.game_state import Phase
from pkmncli.errors import EnvironmentSetupError

Make = Callable[..., PokemonEnvironment]
MARK, PLAYER, SUM = 0x2008, 0x2009, 0x2D0D


@pytest.fixture(scope="module")
def saved(quillwood: GameProfile) -> tuple[bytes, tuple[int, int, int]]:
    return save_by_the_menu(quillwood, "right right down")


@pytest.fixture
def file(saved: tuple[bytes, tuple[int, int, int]], tmp_path: Path) -> Path:
    path = tmp_path / "mine.sav"
    path.write_bytes(saved[0])
    return path


def place(environment: PokemonEnvironment) -> tuple[int, int, int]:
    state = environment.state
    return state.map_id, state.x, state.y


@pytest.mark.long
def test_episodes_begin_in_the_saved_game(make: Make, file: Path, saved: tuple[bytes, tuple[int, int, int]]) -> None:
    before = file.stat().st_mtime_ns
    environment = make(cartridge=file, seed_noops=(0, 0), seed_presses=0)
    environment.reset(seed=0)
    assert environment.state.phase is Phase.FREE
    assert place(environment) == saved[1]
    new_game = make(seed_noops=(0, 0), seed_presses=0)
    new_game.reset(seed=0)
    assert place(new_game) != saved[1]
    for _ in range(30):
        environment.step(environment.action_space.sample())
    environment.close()
    assert file.read_bytes() == saved[0]
    assert file.stat().st_mtime_ns == before


def test_seeds_begin_a_saved_game_differently_and_the_same_one_alike(make: Make, file: Path) -> None:
    environment = make(cartridge=file)
    hashes = []
    for seed in (1, 2, 3, 1):
        environment.reset(seed=seed)
        hashes.append(environment.memory_hash())
    assert hashes[0] == hashes[3]
    assert len(set(hashes)) > 1


@pytest.mark.parametrize("clock", CLOCK_BYTES)
def test_an_emulators_clock_after_the_save_changes_nothing(clock: int, file: Path, rom_path: Path) -> None:
    rom = load_rom(rom_path)
    plain = read_battery_save(file, rom)
    file.write_bytes(file.read_bytes() + b"\x05" * clock)
    found = read_battery_save(file, rom)
    assert found.ram == plain.ram
    assert found.digest == plain.digest


@pytest.mark.long
def test_a_saved_game_is_continued_once_for_each_save(
    make: Make, file: Path, quillwood: GameProfile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(starts, "kept_starts", {})
    played = []

    def count(emulator: Emulator, profile: GameProfile, save: BatterySave) -> int:
        played.append(save.path)
        return continue_game(emulator, profile, save)

    monkeypatch.setattr(starts, "continue_game", count)
    make(cartridge=file).reset(seed=0)
    starts.kept_starts.clear()
    make(cartridge=file).reset(seed=0)
    assert len(played) == 1, "the second time it comes from the cache"
    other = tmp_path / "other.sav"
    other.write_bytes(save_by_the_menu(quillwood, "left")[0])
    make(cartridge=other).reset(seed=0)
    assert played == [file, other]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "0 bytes"),
        (bytes(100), "100 bytes"),
        (bytes(RAM_BYTES + 1), "32,769 bytes"),
        (bytes(1_000_000), "more than"),
        (bytes(RAM_BYTES), "holds no saved game"),
        (b"\xff" * RAM_BYTES, "holds no saved game"),
    ],
)
def test_what_is_no_battery_save_of_the_game_is_one_line(
    make: Make, tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "odd.sav"
    path.write_bytes(content)
    with pytest.raises(EnvironmentSetupError, match=words) as caught:
        make(cartridge=path).reset(seed=0)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 3


def test_a_missing_file_and_a_folder_are_one_line(make: Make, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentSetupError, match="No such file"):
        make(cartridge=tmp_path / "none.sav")
    with pytest.raises(EnvironmentSetupError, match="is a folder"):
        make(cartridge=tmp_path)


def test_a_path_that_cannot_be_looked_at_is_one_line(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EnvironmentSetupError, match="can't be read: File name too long"):
        make(cartridge=tmp_path / ("a" * 300))
    with pytest.raises(EnvironmentSetupError, match="can't be read: File name too long"):
        load_rom(tmp_path / ("a" * 300))

    def refuse(self: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    rom = load_rom(make().rom.path)
    for look in ("is_dir", "exists", "is_file"):
        with monkeypatch.context() as patch:  # as in a folder of mode 000, which the system's administrator may enter
            patch.setattr(Path, look, refuse)
            (tmp_path / "mine.sav").touch()
            with pytest.raises(EnvironmentSetupError, match="can't be read: Permission denied"):
                read_battery_save(tmp_path / "mine.sav", rom)


def test_a_damaged_save_that_the_game_does_not_take_is_told(make: Make, file: Path) -> None:
    """Its marks are there, and its sum is wrong: the game offers a new one only."""
    data = bytearray(file.read_bytes())
    data[SUM] ^= 1
    file.write_bytes(data)
    with pytest.raises(EnvironmentSetupError, match=r"began a new one|no control after"):
        make(cartridge=file).reset(seed=0)


def test_a_recipe_that_does_not_lead_to_control_ends(file: Path, rom_path: Path, quillwood: GameProfile) -> None:
    assert quillwood.continuing is not None
    short = replace(quillwood, continuing=replace(quillwood.continuing, max_frames=150))
    rom = load_rom(rom_path)
    save = read_battery_save(file, rom)
    emulator = Emulator(rom, cartridge_ram=save.ram)
    with pytest.raises(EnvironmentSetupError, match="no control after"):
        continue_game(emulator, short, save)
    emulator.close()


def test_a_profile_without_a_recipe_says_so(file: Path, rom_path: Path, quillwood: GameProfile) -> None:
    save = read_battery_save(file, load_rom(rom_path))
    with pytest.raises(EnvironmentSetupError, match=r"\[continue\]"):
        check_saved_game(replace(quillwood, continuing=None), save)


def test_a_start_state_beside_a_save_is_refused(make: Make, file: Path, tmp_path: Path) -> None:
    environment = make()
    environment.reset(seed=0)
    state = tmp_path / "a.state"
    state.write_bytes(environment.save_state())
    with pytest.raises(EnvironmentSetupError, match="leave one out"):
        make(cartridge=file, start_state=state)


def test_crystals_saved_game_is_known_by_its_marks_or_those_of_its_copy(crystal: GameProfile) -> None:
    """Its layout is that of the shared facts; the image itself can't be here."""
    ram = bytearray(RAM_BYTES)

    def save() -> BatterySave:
        return BatterySave(Path("mine.sav"), bytes(ram), "")

    with pytest.raises(EnvironmentSetupError, match="holds no saved game of Pokemon Crystal"):
        check_saved_game(crystal, save())
    ram[0x1208], ram[0x1F0F], ram[0x1209:0x120B] = 99, 127, b"\x12\x34"
    assert check_saved_game(crystal, save())[1] == b"\x12\x34"
    ram[MARK], ram[0x2D0F], ram[PLAYER : PLAYER + 2] = 99, 127, b"\xab\xcd"
    recipe, same = check_saved_game(crystal, save())
    assert same == b"\xab\xcd"
    assert recipe.same.name == "wPlayerID"
    assert recipe.steps[-1].until_control


def test_an_image_without_a_profile_is_switched_on_with_the_save(file: Path, rom_path: Path) -> None:
    """Its title offers to continue, which the picture shows."""
    pictures = []
    for cartridge in (None, file):
        environment = GameBoyEnvironment(
            GameBoySettings(rom_path=rom_path, cartridge=cartridge, seed_noops=(0, 0), start_frames=120)
        )
        environment.reset(seed=0)
        for action in (2, 8, 8, 8):
            observation = environment.step(action)[0]
        pictures.append(observation["screen"].tobytes())
        environment.close()
    assert pictures[0] != pictures[1]
