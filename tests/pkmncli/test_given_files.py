"""Files that a user names and that are not what they were taken for: a film, a device, or a text that Notepad saved."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pkmncli.api import parse_json, quoted_path, read_given, read_given_text
from pkmncli.api.data_text import MOST_BYTES, MOST_TEXT

Pkmn = Callable[..., Any]

NAMED = [
    (["train", "--config={}"], 2),
    (["train", "--preset={}.toml"], 2),
    (["train", "--llm=scripted", "--llm-prompt={}"], 2),
    (["train", "--llm=scripted", "--lessons-file={}"], 2),
    (["train", "--init-state={}"], 3),
    (["play", "--terminal", "--state={}"], 3),
    (["experiment", "{}"], 2),
    (["tune", "{}"], 2),
]


@pytest.mark.parametrize(("command", "code"), NAMED, ids=[" ".join(command) for command, _ in NAMED])
def test_no_file_is_read_without_an_end(command: list[str], code: int, pkmn: Pkmn, tmp_path: Path) -> None:
    for name in ("film", "film.toml"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(MOST_BYTES + 1)

    result = pkmn(*(word.format(tmp_path / "film") for word in command), *(["--steps=5"] * (command[0] == "train")))

    assert result.code == code, result
    (line,) = result.err.strip().splitlines()
    assert "film" in line and f"it has more than {(MOST_BYTES if code == 3 else MOST_TEXT) >> 20} MB" in line


def test_a_profile_is_read_neither_without_an_end_nor_from_a_pipe(pkmn: Pkmn, tmp_path: Path) -> None:
    game = tmp_path / "game.toml"
    with game.open("wb") as file:
        file.truncate(MOST_TEXT + 1)
    result = pkmn("train", f"--game-folder={tmp_path}", "--steps=5")
    assert result.code == 3 and "it has more than 16 MB" in result.err

    game.unlink()
    os.mkfifo(game)  # nobody ever writes to it
    result = pkmn("train", f"--game-folder={tmp_path}", "--steps=5")
    assert result.code == 3 and len(result.err.strip().splitlines()) == 1


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no device without an end")
def test_a_device_without_an_end_is_too_long() -> None:
    with pytest.raises(OSError, match="it has more than 0 MB"):
        read_given(Path("/dev/zero"), 1000)


def test_a_pipe_of_a_shell_is_a_file_like_any_other() -> None:
    end, begin = os.pipe()
    os.write(begin, b"steps = 5\n")
    os.close(begin)
    try:
        assert read_given_text(Path(f"/dev/fd/{end}")) == "steps = 5\n"
    finally:
        os.close(end)


def test_what_an_editor_of_windows_adds_to_a_text_is_no_part_of_it(pkmn: Pkmn, tmp_path: Path) -> None:
    text = tmp_path / "a.toml"
    text.write_bytes(b"\xef\xbb\xbfa = 1\r\nb = 2\r")
    assert read_given_text(text) == "a = 1\nb = 2\n"

    template = tmp_path / "prompt.toml"
    own = (Path(__file__).parents[2] / "pkmncli/llm/templates/advice.toml").read_bytes()
    template.write_bytes(b"\xef\xbb\xbf" + own.replace(b"\n", b"\r\n"))
    asked = pkmn("llm", "ask", "--prompt-only", f"--llm-prompt={template}")
    assert asked.code == 0 and asked.out == pkmn("llm", "ask", "--prompt-only").out


def test_an_object_with_two_values_of_one_name_is_no_json() -> None:
    with pytest.raises(ValueError, match="'seed' is there twice"):
        parse_json('{"a": {"seed": 1, "steps": 2, "seed": 1}}')
    assert parse_json('[{"seed": 1}, {"seed": 2}]') == [{"seed": 1}, {"seed": 2}]


def test_a_path_to_paste_is_short_and_leads_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert quoted_path(here / "my runs" / "it") == "'my runs/it'"
    assert quoted_path(Path("runs/it")) == "runs/it"
    assert quoted_path(tmp_path / "runs") == str(tmp_path / "runs")
    assert quoted_path(here) == "."
    for name in ("-runs", "~", "pretrained"):
        assert quoted_path(here / name) == shlex.quote(f"./{name}"), "which would be read as something else"
    here.rmdir()
    assert quoted_path(tmp_path / "runs") == str(tmp_path / "runs"), "from a folder that is gone"
