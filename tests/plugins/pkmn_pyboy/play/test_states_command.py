"""`pkmn states`: what saved states are, whichever environment saved them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pkmn_balatro.environment import BalatroEnvironment
from pkmn_pyboy.emulation.saved_state import MAGIC
from pkmn_pyboy.environment import PokemonEnvironment
from pkmn_pyboy.gameboy.environment import make_game_boy
from pkmn_pyboy.play.state_files import StateFile
from pkmn_pyboy.profile.model import GameProfile
from pkmncli import cli


def listed(capsys: pytest.CaptureFixture[str], *paths: Path) -> dict[str, dict[str, Any]]:
    assert cli.run(["states", "--json", *map(str, paths)]) == 0
    return {Path(one["file"]).name: one for one in json.loads(capsys.readouterr().out)}


@pytest.mark.long
def test_states_are_known_by_what_saved_them(
    tmp_path: Path,
    quillwood: GameProfile,
    rom_path: Path,
    make: Callable[..., PokemonEnvironment],
    capsys: pytest.CaptureFixture[str],
) -> None:
    environment = make()
    environment.reset(seed=1)
    (tmp_path / "episode.state").write_bytes(environment.save_state())
    sha1 = environment.rom.sha1
    StateFile(tmp_path / "played.state", "quillwood", sha1, profile=quillwood).save(environment.emulator)
    StateFile(tmp_path / "older.state", "quillwood", sha1).save(environment.emulator)
    any_image = make_game_boy(rom_path=rom_path)
    any_image.reset(seed=1)
    (tmp_path / "image.state").write_bytes(any_image.save_state())
    any_image.close()
    balatro = BalatroEnvironment()
    balatro.reset(seed=1)
    (tmp_path / "cards.state").write_bytes(balatro.save_state())
    (tmp_path / "other.state").write_text("no state")
    (tmp_path / "notes.txt").write_text("not listed")
    os.utime(tmp_path / "other.state", (0, 0))
    found = listed(capsys, tmp_path)
    known = {
        name: tuple(one[key] for key in ("environment", "game", "step", "milestone")) for name, one in found.items()
    }
    assert known == {
        "episode.state": ("pyboy", "quillwood", 0, "game_started"),
        "played.state": ("pyboy", "quillwood", None, "game_started"),
        "older.state": ("pyboy", "quillwood", None, None),
        "image.state": ("gameboy", any_image.rom.header.title, 0, None),
        "cards.state": ("balatro", "balatro", 0, ""),
        "other.state": (None, None, None, None),
    }
    assert list(found)[-1] == "other.state" and found["cards.state"]["bytes"] > 0
    assert cli.run(["states", str(tmp_path / "played.state")]) == 0
    row = capsys.readouterr().out.splitlines()[2].split()
    assert row[:5] == [str(tmp_path / "played.state"), "pyboy", "quillwood", "-", "game_started"]


def test_no_state_and_no_file_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["states", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("No saved state: save one with 'pkmn play'")
    assert cli.run(["states", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err == f"there is no file or folder {tmp_path / 'none'}\n"


@pytest.mark.parametrize(
    "header",
    [
        [],
        {"game": "quillwood"},
        {"game": 3, "session": {}},
        {"game": "quillwood", "session": []},
        {"game": "quillwood", "session": {"milestones": 5}},
        {"game": "quillwood", "session": {"milestones": {}}},
        {"game": "quillwood", "session": {"milestones": {"steps": 5}}},
        {"game": "quillwood", "session": {"milestones": {"steps": ["soon"]}}},
    ],
)
def test_a_damaged_state_is_listed_as_of_no_environment(
    header: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.dumps(header).encode()
    (tmp_path / "damaged.state").write_bytes(MAGIC + len(text).to_bytes(4, "little") + text)
    assert listed(capsys, tmp_path)["damaged.state"]["environment"] is None
