"""`pkmn play` with wrong inputs: one line that says what to do, and the exit codes of everywhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pkmn_pyboy.emulation.emulator import Emulator
from pkmn_pyboy.emulation.rom import load_rom
from pkmn_pyboy.play.state_files import StateFile, check_save_name, load_state_file
from pkmn_pyboy.profile.model import GameProfile
from pkmncli import cli
from pkmncli.errors import ConfigurationError, EmulatorError


@pytest.fixture(autouse=True)
def _in_a_folder_without_display(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--rom", "none.gbc"], 3, "none.gbc"),
        (["--game", "quilwood"], 3, "did you mean quillwood"),
        (["--game", "crystal"], 3, "your own cartridge image"),
        (["--state", "none.state"], 3, "none.state can't be read"),
        (["--state", "text.state"], 3, "text.state"),
        (["--state", "text.state", "--from-start"], 2, "leave one out"),
        (["--save-state", "nowhere/a.state"], 2, "there is no folder nowhere"),
        (["--save-state", "text.state"], 2, "is not overwritten"),
        (["--save-state", "."], 2, "is not overwritten"),
        (["--speed", "3"], 2, "--speed"),
        (["--save-state", "a" * 300], 2, "File name too long"),
        (["--cartridge", "a" * 300], 2, "File name too long"),
        (["--rom", "a" * 300], 3, "File name too long"),
    ],
)
def test_a_wrong_input_is_told(
    arguments: list[str], code: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.state").write_text("not a state")
    assert cli.run(["play", "--terminal", *arguments]) == code
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error
    assert [path.name for path in tmp_path.iterdir()] == ["text.state"]


@pytest.mark.long
def test_without_display_and_terminal_it_says_what_is_missing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pkmncli.cli", "play"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 2
    assert "standard input is no terminal" in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_profile_is_named_by_its_folder(
    tmp_path: Path, quillwood: GameProfile, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "none.state"
    assert cli.run(["play", "--terminal", "--game", str(quillwood.folder), "--state", str(state)]) == 3
    assert "none.state can't be read" in capsys.readouterr().err


def test_a_state_of_another_image_is_refused_by_its_file(
    tmp_path: Path, quillwood: GameProfile, rom_path: Path
) -> None:
    emulator = Emulator(load_rom(rom_path))
    try:
        path = tmp_path / "other.state"
        StateFile(path, "crystal", "f4cd194bdee0").save(emulator)
        with pytest.raises(EmulatorError, match=r"other\.state.*of crystal"):
            load_state_file(path, emulator, quillwood)
        emulator.run(30)
        before = emulator.work_ram()
        (tmp_path / "pyboy.state").write_bytes(emulator.save_state())
        emulator.run(300)
        load_state_file(tmp_path / "pyboy.state", emulator, quillwood)
        assert emulator.work_ram() == before
    finally:
        emulator.close()


def test_only_a_saved_state_is_overwritten(tmp_path: Path, rom_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no saved state"):
        check_save_name(rom_path)
    state = tmp_path / "a.state"
    assert check_save_name(state) == state
    state.write_bytes(b"PKMNSTAT and so on")
    assert check_save_name(state) == state
