"""A run's ``config.toml``: read whole or refused, also an edited one. No default replaces a setting that was lost."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.variants import long_after

from pkmncli.config import ResolvedSettings, resolve_settings
from pkmncli.config.run_file_end import find_end
from pkmncli.errors import ConfigurationError, RunError
from pkmncli.plugins import get_registry
from pkmncli.runs import Run
from pkmncli.training.compatibility import prepare_settings

Pkmn = Callable[..., Any]


@pytest.fixture
def run(shared_run: Callable[..., Path], tmp_path: Path) -> Run:
    return Run(shutil.copytree(shared_run(), tmp_path / "runs" / "it"))


def without_end(text: str) -> str:
    """Return the text without the lines that mark its beginning and end, as an earlier version wrote it."""
    return "\n".join(text.splitlines()[1:-1]) + "\n"


def settings_of(run: Run) -> ResolvedSettings:
    return ResolvedSettings.from_run(run.folder, get_registry())


@pytest.mark.long
def test_a_file_cut_anywhere_is_refused(run: Run) -> None:
    text = run.config_file.read_text()
    whole = text.rstrip("\n")
    lines = [sum(map(len, text.splitlines(keepends=True)[:number])) for number in range(text.count("\n"))]
    draw = random.Random(0)
    last_line = range(whole.rindex("\n") + 1, len(whole))
    for length in {0, 1, *lines[::4], *last_line[::3], *(draw.randrange(len(whole)) for _ in range(20))}:
        run.config_file.write_text(text[:length])
        with pytest.raises(RunError, match=r"config\.toml (was cut off|is empty|is damaged|lacks)") as caught:
            settings_of(run)
        assert "\n" not in str(caught.value)
    run.config_file.write_text(whole)
    assert settings_of(run).remarks() == []


def test_an_old_file_cut_before_its_own_sections_is_refused(run: Run) -> None:
    old = without_end(run.config_file.read_text())
    run.config_file.write_text(old)
    assert settings_of(run).remarks() == []
    for section in ("curriculum", "dqn", "pyboy"):
        run.config_file.write_text(old[: old.index(f"[{section}]")])
        with pytest.raises(RunError, match="was cut off"):
            settings_of(run)
    for text in ("", "\n\n", "# a comment\n", "seed = 1\n"):
        run.config_file.write_text(text)
        with pytest.raises(RunError, match=r"is empty|was cut off"):
            settings_of(run)


def test_an_old_file_cut_within_its_last_section_is_told(run: Run) -> None:
    lines = without_end(run.config_file.read_text()).splitlines()
    last = max(number for number, line in enumerate(lines) if " = " in line)
    run.config_file.write_text("\n".join(lines[:last]))
    key = lines[last].partition(" = ")[0]
    (remark,) = settings_of(run).remarks()
    assert f".{key}, as of an earlier version; defaults are taken" in remark


@pytest.mark.parametrize("number", range(0, 90, 6))
def test_a_lost_line_is_noticed_wherever_it_was(run: Run, number: int) -> None:
    lines = run.config_file.read_text().splitlines()
    held = [place for place, line in enumerate(lines) if " = " in line or " is not set" in line]
    del lines[held[number]]
    run.config_file.write_text("\n".join(lines))
    with pytest.raises(RunError, match=f"lacks 1 of its {len(held)} settings: put their lines back, or") as caught:
        settings_of(run)
    hint = re.search(r"write (\d+) for (\d+) in its last line", str(caught.value))
    assert hint is not None
    lines[-1] = lines[-1].replace(hint[2], hint[1], 1)
    run.config_file.write_text("\n".join(lines))
    settings_of(run)


def with_windows_lines(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


def with_a_mark(text: str) -> bytes:
    return b"\xef\xbb\xbf" + text.encode()


def without_last_newline(text: str) -> bytes:
    return text.rstrip().encode()


def with_blank_lines(text: str) -> bytes:
    return text.replace("\n", "\n\n").encode()


@pytest.mark.parametrize("saved", [with_windows_lines, with_a_mark, without_last_newline, with_blank_lines])
def test_what_editors_do_to_a_file_is_no_edit(saved: Callable[[str], bytes], run: Run) -> None:
    before = settings_of(run).values()
    run.config_file.write_bytes(saved(run.config_file.read_text()))
    after = settings_of(run)
    assert (after.values(), after.remarks()) == (before, [])


@pytest.mark.long
def test_edits_by_hand_count_and_are_told_when_the_run_goes_on(pkmn: Pkmn, run: Run) -> None:
    text = run.config_file.read_text()
    text = re.sub(r"keep_checkpoints = \d+ # default", "keep_checkpoints = 5", text)
    text = text.replace("# episodes is not set", "episodes = 1000")
    run.config_file.write_text(text)
    assert settings_of(run).train.keep_checkpoints == 5
    result = pkmn("train", "--resume", "it", "--steps=245")
    assert (result.code, result.err.count("\n")) == (0, 1)
    assert result.err == f"{run.config_file} was edited since it was written; what it says now counts\n"
    assert pkmn("train", "--resume", "it", "--steps=250").err == "", "it was written anew"


def test_settings_that_are_newer_than_the_run_are_told(pkmn: Pkmn, run: Run) -> None:
    lines = without_end(run.config_file.read_text()).splitlines()
    run.config_file.write_text("\n".join(line for line in lines if not line.startswith(("gamma =", "huber_delta ="))))
    result = pkmn("train", "--resume", "it", "--steps=245")
    assert result.code == 0
    assert "does not name dqn." in result.err and "dqn.gamma" in result.err and "defaults are taken" in result.err


@pytest.mark.parametrize("how", long_after(1, ["cut", "empty"]))
def test_no_command_takes_defaults_for_what_was_lost(how: str, pkmn: Pkmn, run: Run) -> None:
    text = run.config_file.read_text()
    run.config_file.write_text("\n".join(text.splitlines()[:12]) if how == "cut" else "")
    damaged = run.config_file.read_bytes()
    for command in (
        ["train", "--resume", "it", "--steps=250"],
        ["eval", "it", "--episodes=1"],
        ["replay", "it", "--verify"],
        ["export", "it"],
        ["plot", "it"],
        ["compare", "it", "it"],
        ["analyze-patterns", "it"],
        ["train", "--start-from=it", "--steps=5"],
    ):
        result = pkmn(*command)
        assert (result.code, result.err.count("\n")) == (5, 1), f"{command}: {result.err}"
        assert str(run.config_file) in result.err, command
    assert run.config_file.read_bytes() == damaged


@pytest.mark.long
def test_a_run_file_that_was_cut_is_no_settings_file_either(pkmn: Pkmn, run: Run) -> None:
    text = run.config_file.read_text()
    run.config_file.write_text("\n".join(text.splitlines()[:12]))
    result = pkmn("train", "--config", str(run.config_file), "--steps=5")
    assert result.code == ConfigurationError.exit_code
    assert "was cut off: it is a run's and lacks its end" in result.err
    run.config_file.write_text("\n".join(line for line in text.splitlines() if not line.startswith("seed")))
    anew = ["--steps=5", "--no-rl", "--mode=llm-only", "--save-dir=anew", "--run-name=it"]
    assert pkmn("train", "--config", str(run.config_file), *anew).code == 0


def a_folder(path: Path) -> None:
    path.mkdir()


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_circle(path: Path) -> None:
    path.symlink_to(path.name)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def zeros(path: Path) -> None:
    path.write_bytes(bytes(4096))


def no_text(path: Path) -> None:
    path.write_bytes(b"seed = 1 # \xff\xfe\n")


def deep(path: Path) -> None:
    path.write_text("a = " + "[" * 100_000)


def other_language(path: Path) -> None:
    path.write_text('{"rl": "dqn"}')


@pytest.mark.parametrize("put", [a_folder, a_pipe, a_circle, endless, zeros, no_text, deep, other_language])
@pytest.mark.parametrize("name", ["config.toml", "versions.json"])
def test_what_can_not_be_read_is_one_line(name: str, put: Callable[[Path], None], pkmn: Pkmn, run: Run) -> None:
    path = run.folder / name
    path.unlink()
    put(path)
    result = pkmn("train", "--resume", str(run.folder), "--steps=250")
    assert (result.code, result.err.count("\n")) == (5, 1), result.err
    assert str(path) in result.err
    assert "unexpected" not in result.err


def test_the_last_line_is_found_in_the_file(run: Run) -> None:
    end = find_end(run.config_file.read_text())
    assert end is not None
    assert end.settings > 100


def test_a_default_of_a_run_is_one_for_the_next_unless_it_was_edited(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    def again() -> ResolvedSettings:
        found = resolve_settings({}, registry=get_registry(), environ={}, config_path=run.config_file)
        return prepare_settings(found, get_registry())

    before = settings_of(run)
    settings = again()
    assert capsys.readouterr().err == "", "nothing is said to have no effect, since nobody gave it"
    assert settings.values() == before.values()
    assert {name for name, origin in settings.origins.items() if origin != "default"} == {
        name for name, origin in before.origins.items() if origin != "default"
    }
    text = run.config_file.read_text()
    run.config_file.write_text(text.replace("llm_interval = 30 # default", "llm_interval = 31 # default"))
    assert again().origins["llm_interval"].startswith(f"{run.config_file}:")
    assert "llm_interval" in capsys.readouterr().err
