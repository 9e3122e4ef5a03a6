"""A run whose image or game's folder is elsewhere, or called otherwise, is whole: the image is known by its SHA-1."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.variants import long_after

from pkmncli.config import ResolvedSettings
from pkmncli.plugins import get_registry

Pkmn = Callable[..., Any]

GAME: Path = get_registry().get("games", "quillwood").load()
IMAGE = "quillwood.gbc"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A folder with runs of an image of one's own and of a game's folder, to be copied."""
    return tmp_path_factory.mktemp("made")


@pytest.fixture
def place(made: Path, pkmn: Pkmn, small_training: list[str], tmp_path: Path) -> Path:
    """A copy of the runs ``image`` and ``folder``; the files that they need are in ``made``, and are removed there."""
    needed = made / "roms" / "mine.gbc", made / "game"
    if not (made / "runs").exists():
        needed[0].parent.mkdir()
        shutil.copy(GAME / IMAGE, needed[0])
        shutil.copytree(GAME, needed[1])
        for name, options in (
            ("image", ["--env=gameboy", f"--rom={needed[0]}"]),
            ("folder", [f"--game-folder={needed[1]}", "--no-rl", "--steps=90", "--max-steps-per-episode=30"]),
        ):
            basic = small_training if name == "image" else []
            more = ["--final-episodes=0", f"--save-dir={made / 'runs'}", f"--run-name={name}"]
            assert pkmn("train", *basic, *options, *more).code == 0
        shutil.move(needed[0], made / "kept.gbc")
        shutil.move(needed[1], made / "kept")
    shutil.copytree(made / "runs", tmp_path / "runs")
    return made


COMMANDS = {
    "eval": ["eval", "image", "--episodes=1", "--no-baselines"],
    "replay": ["replay", "image", "--verify"],
    "export": ["export", "image", "--policy", "--no-tables"],
    "resume": ["train", "--resume", "image", "--steps=250", "--final-episodes=0"],
}


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_an_image_that_is_nowhere_is_named_with_what_to_do(command: str, place: Path, pkmn: Pkmn) -> None:
    result = pkmn(*COMMANDS[command])
    assert result.code == 3
    (line,) = result.err.splitlines()
    assert str(place / "roms" / "mine.gbc") in line
    assert "4d701f370a0e" in line
    assert "--rom" in line
    assert "PKMN_ROM_PATH" in line


@pytest.mark.parametrize("command", long_after(1, COMMANDS))
def test_an_image_named_anew_is_taken(command: str, place: Path, pkmn: Pkmn) -> None:
    result = pkmn(*COMMANDS[command], f"--rom={place / 'kept.gbc'}")
    assert (result.code, result.err.strip()) == (0, "")


@pytest.mark.parametrize("command", long_after(1, COMMANDS))
def test_an_image_that_was_renamed_is_found_beside_the_run(
    command: str, place: Path, pkmn: Pkmn, tmp_path: Path
) -> None:
    other = bytearray((place / "kept.gbc").read_bytes())
    other[0x4000] ^= 1
    (tmp_path / "another.gbc").write_bytes(other)
    shutil.copy(place / "kept.gbc", tmp_path / "runs" / "renamed.GB")
    result = pkmn(*COMMANDS[command])
    assert result.code == 0
    assert result.err.strip().splitlines() == [
        f"The image of run image is taken from {tmp_path / 'runs' / 'renamed.GB'}: it has the same SHA-1."
    ]


@pytest.mark.long
def test_the_environment_says_where_the_image_is(place: Path, run_pkmn: Any) -> None:
    result = run_pkmn(*COMMANDS["replay"], PKMN_ROM_PATH=str(place / "kept.gbc"))
    assert (result.returncode, result.stderr) == (0, "")
    result = run_pkmn(*COMMANDS["replay"], PKMN_ROM_PATH=str(place / "nowhere.gbc"))
    assert result.returncode == 3
    assert "nowhere.gbc (PKMN_ROM_PATH) is not that image" in result.stderr


def test_the_environments_image_is_no_other_runs(place: Path, run_pkmn: Any, tmp_path: Path) -> None:
    """A run whose own image is where it was keeps to it."""
    run = tmp_path / "runs" / "image" / "config.toml"
    run.write_text(run.read_text().replace(str(place / "roms" / "mine.gbc"), str(place / "kept.gbc")))
    result = run_pkmn(*COMMANDS["replay"], PKMN_ROM_PATH=str(GAME / "game.toml"))
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("command", long_after(1, COMMANDS))
def test_another_image_is_refused(command: str, place: Path, pkmn: Pkmn, tmp_path: Path) -> None:
    other = bytearray((place / "kept.gbc").read_bytes())
    other[0x4000] ^= 1
    (tmp_path / "other.gbc").write_bytes(other)
    result = pkmn(*COMMANDS[command], "--rom=other.gbc")
    assert result.code == 3
    assert "other.gbc is not the image of run image: its SHA-1 begins with" in result.err
    (tmp_path / "roms").mkdir()
    run = tmp_path / "runs" / "image" / "config.toml"
    run.write_text(run.read_text().replace(str(place / "roms" / "mine.gbc"), str(tmp_path / "roms" / "mine.gbc")))
    shutil.copy("other.gbc", tmp_path / "roms" / "mine.gbc")
    if command != "export":  # which needs no more of the image than what its screens look like
        assert pkmn(*COMMANDS[command]).code == 3


@pytest.mark.long
def test_a_run_that_goes_on_keeps_the_new_place(place: Path, pkmn: Pkmn, tmp_path: Path) -> None:
    assert pkmn(*COMMANDS["resume"], f"--rom={place / 'kept.gbc'}").code == 0
    settings = ResolvedSettings.from_run(tmp_path / "runs" / "image", get_registry())
    assert settings.train.rom_path == place / "kept.gbc"
    assert settings.origins["rom_path"] == "option --rom"
    assert pkmn(*COMMANDS["replay"]).code == 0


def test_tables_need_no_image(place: Path, pkmn: Pkmn) -> None:
    assert pkmn("export", "image").code == 0
    assert pkmn("analyze-patterns", "image").code == 0


@pytest.mark.long
def test_a_games_folder_that_moved_is_named_anew(place: Path, pkmn: Pkmn, run_pkmn: Any) -> None:
    played = ("replay", "folder", "--verify")
    result = pkmn(*played)
    assert result.code == 3
    assert f"{place / 'game'}, is not there: name where it is now with --game-folder" in result.err
    assert pkmn(*played, f"--game-folder={place / 'kept'}").code == 0
    assert run_pkmn(*played, PKMN_GAME_FOLDER=str(place / "kept")).returncode == 0
    options = ("--steps=120", f"--game-folder={place / 'kept'}")
    assert pkmn("train", "--resume", "folder", *options).code == 0
    assert pkmn(*played).code == 0


def test_a_file_that_is_no_image_is_named_for_what_it_is(place: Path, pkmn: Pkmn, tmp_path: Path) -> None:
    (tmp_path / "mine.gbc").write_bytes(gzip.compress((place / "kept.gbc").read_bytes()))
    for rom, words in (("mine.gbc", "is a gzip file: unpack it"), ("nowhere.gbc", "No cartridge image at")):
        result = pkmn(*COMMANDS["replay"], f"--rom={rom}")
        assert result.code == 3
        assert words in result.err


@pytest.mark.parametrize("command", [("play", "--terminal"), ("world",)])
def test_the_environments_image_is_what_other_commands_play(command: tuple[str, ...], run_pkmn: Any) -> None:
    result = run_pkmn(*command, PKMN_ROM_PATH="nowhere.gbc")
    assert result.returncode == 3
    assert "nowhere.gbc" in result.stderr
