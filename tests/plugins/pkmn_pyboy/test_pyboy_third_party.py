"""Third party's game as four files of data: the real command trains on it, without a line of Python."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from support.pyboy_fakes import fix_checksum, small_rom

from pkmncli import cli

PROGRAM = bytes.fromhex(
    "f3"  # di
    "3e 03 ea 10 c1 3e 07 ea 11 c1"  # group 3, map 7
    "af ea 12 c1 ea 13 c1"  # at (0, 0)
    "f0 44 fe 90 20 fa"  # wait for line 144
    "3e 20 e0 00 f0 00 f0 00 47"  # the direction keys, 0 while held
    "cb 40 20 0b fa 12 c1 fe 28 28 04 3c ea 12 c1"  # right: x + 1, up to 40
    "cb 48 20 0a fa 12 c1 b7 28 04 3d ea 12 c1"  # left: x - 1, down to 0
    "f0 44 fe 90 28 fa"  # wait for the end of line 144
    "18 cc"  # again
)
"""Game in 70 bytes: a place on a line of 41 tiles, at an address that no other game uses."""

FILES = {
    "game.toml": """
[game]
title = "Line Walk"
rom = "line.gb"

[timing]
episode_steps = 30

[start]
max_frames = 600
steps = [{ wait = 60 }]

[hash]
coarse = ["wMapGroup", "wMapNumber", "wXCoord"]
fine = ["wMapGroup", "wMapNumber", "wXCoord", "wYCoord"]
""",
    "memory.toml": """
[field.place]
wMapGroup = { at = 0xC110, bank = 0 }
wMapNumber = { at = 0xC111, bank = 0 }
wXCoord = { at = 0xC112, bank = 0 }
wYCoord = { at = 0xC113, bank = 0 }
""",
    "names.toml": '[maps]\ntable = [[3, 7, "The line"]]\n',
    "milestones.toml": """
[[milestone]]
key = "first_step"
name = "The first step"
hint = "Hold right."
evidence_all = [{ kind = "at_least", field = "wXCoord", value = 1 }]

[[milestone]]
key = "line_end"
name = "The end of the line"
hint = "Hold right."
evidence_all = [{ kind = "equals", field = "wXCoord", value = 40 }]
""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the profile, with its image."""
    folder = tmp_path / "linewalk"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    data = bytearray(small_rom(title=b"LINEWALK", colour=0))
    data[0x150 : 0x150 + len(PROGRAM)] = PROGRAM
    (folder / "line.gb").write_bytes(fix_checksum(data))
    return folder


@pytest.mark.long
def test_the_command_trains_on_a_folder_of_data(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    options = "--steps 240 --run-name line --set dqn.learning_starts=60 --set dqn.buffer_size=1000 --quiet"
    rewards = "--reward progress=2 --reward exploration --reward stuck --set exploration.new_tile=1 --set stuck.wall=0"
    assert cli.run(["train", "--game-folder", str(folder), *options.split(), *rewards.split()]) == 0, capfd.readouterr()
    run = tmp_path / "runs" / "line"
    names = json.loads((run / "names.json").read_text())
    assert names["game"] == "Line Walk"
    assert names["maps"] == {str(3 * 256 + 7): "The line"}
    assert names["milestones"] == ["first_step", "line_end"]
    summary = json.loads((run / "summary.json").read_text())
    assert summary["total_episodes"] >= 8, "an episode has 30 steps at most"
    assert next(iter(summary["milestones"])) == "first_step"
    query = f"SELECT min(map_id), max(map_id), max(x) FROM read_parquet('{run}/decisions/*.parquet')"
    lowest, highest, furthest = duckdb.sql(query).fetchall()[0]
    assert lowest == highest == 3 * 256 + 7
    assert furthest > 0
    capfd.readouterr()
    assert cli.run(["replay", "--episode", "best"]) == 0
    assert cli.run(["eval", "--episodes", "1", "--envs", "1", "--mode", "random", "--json"]) == 0


def test_a_folder_and_a_name_are_two_games(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.run(["train", "--game-folder", str(folder), "--game", "crystal"]) == 2
    assert "are two games: name one of them" in capfd.readouterr().err


@pytest.mark.parametrize("missing", ["game.toml", "memory.toml"])
def test_a_missing_file_is_told_in_one_line(
    missing: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (folder / missing).unlink()
    assert cli.run(["train", "--game-folder", str(folder)]) == 3
    error = capfd.readouterr().err
    assert missing in error
    assert error.count("\n") == 1
