"""Each file of a run that only tells something, damaged in each way: what matters goes on, with a line at most."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.variants import long_after

from pkmncli.errors import RunError
from pkmncli.runs import Run, create_run, open_run

Pkmn = Callable[..., Any]


@pytest.fixture
def run(shared_run: Callable[..., Path], tmp_path: Path) -> Run:
    return Run(shutil.copytree(shared_run(), tmp_path / "runs" / "it"))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def no_text(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00")


def a_list(path: Path) -> None:
    path.write_text("[1]")


def null(path: Path) -> None:
    path.write_text("null")


def deep(path: Path) -> None:
    path.write_text("[" * 100_000)


def other_types(path: Path) -> None:
    path.write_text('{"layout": 1e400, "created": 1, "maps": 3, "phases": 7, "milestones": 4, "llm": []}')


def missing(path: Path) -> None:
    path.unlink()


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def a_circle(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


DAMAGES = [empty, no_text, a_list, null, deep, other_types, missing, a_folder, a_pipe, a_circle]

READING = [
    ["replay", "it", "--verify"],
    ["export", "it", "--to=exported", "--overwrite"],
    ["analyze-patterns", "it"],
]


@pytest.mark.parametrize("damage", long_after(1, DAMAGES))
def test_what_only_tells_something_is_no_reason_to_refuse(damage: Callable[[Path], None], pkmn: Pkmn, run: Run) -> None:
    for name in ("names.json", "summary.json", "command.txt", "log.txt", "run.lock"):
        damage(run.folder / name)
    for command in READING:
        result = pkmn(*command)
        assert (result.code, result.err) == (0, ""), command


@pytest.mark.parametrize("damage", long_after(1, [empty, no_text, deep, missing, a_folder, a_pipe]))
def test_a_training_goes_on_and_makes_them_anew(damage: Callable[[Path], None], pkmn: Pkmn, run: Run) -> None:
    names = run.read_names()
    for path in (run.names_file, run.summary_file, run.command_file, run.log_file):
        damage(path)
    result = pkmn("train", "--resume", "it", "--steps=245")
    assert result.code == 0, result.err
    assert f"{run.names_file}" in result.err and "it is written anew" in result.err
    assert run.read_names() == names
    assert run.read_summary()["total_steps"] == 245
    assert run.command_file.read_bytes().endswith(b" train --resume it --steps=245\n")


@pytest.mark.parametrize(
    "damage", long_after(3, [empty, no_text, a_list, deep, other_types, a_folder, a_pipe, a_circle])
)
@pytest.mark.parametrize("name", ["summary.json", "evaluations/20260101-000000-step-000000240-rl-only/result.json"])
def test_a_comparison_names_the_damaged_file(
    name: str, damage: Callable[[Path], None], pkmn: Pkmn, run: Run, tmp_path: Path
) -> None:
    shutil.copytree(run.folder, tmp_path / "runs" / "other")
    path = run.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    damage(path)
    if damage is other_types:
        path.write_text('{"total_steps": "x", "mode": "rl-only", "avg_reward": []}')
    result = pkmn("compare", "it", "other")
    assert (result.code, result.err.count("\n")) == (5, 1), result.err
    assert str(path) in result.err


@pytest.mark.parametrize("damage", long_after(1, [no_text, deep, a_folder, a_pipe]))
def test_a_damaged_summary_is_written_anew_by_a_training_with_nothing_to_do(
    damage: Callable[[Path], None], pkmn: Pkmn, run: Run
) -> None:
    damage(run.summary_file)
    result = pkmn("train", "--resume", "it", "--steps=240")
    assert result.code == 0, result.err
    assert run.read_summary()["total_steps"] == 240


def test_commands_in_another_encoding_stay_as_they_were(run: Run) -> None:
    run.command_file.write_bytes("# where: Größe\n".encode("latin-1"))
    run.write_command(["pkmn", "train", os.fsdecode(b"--rom=\xff.gbc")])
    lines = run.command_file.read_bytes().splitlines()
    assert lines[0] == "# where: Größe".encode("latin-1")
    assert b"\xff.gbc" in lines[-1]


@pytest.mark.parametrize(
    ("damage", "code"), long_after(1, [(a_pipe, 5), (a_folder, 5), (empty, 0), (no_text, 0), (missing, 0)])
)
def test_a_lock_that_is_no_file_is_told(damage: Callable[[Path], None], code: int, pkmn: Pkmn, run: Run) -> None:
    damage(run.lock_file)
    result = pkmn("train", "--resume", "it", "--steps=245")
    assert (result.code, result.err.count("\n")) == (code, 1 if code else 0), result.err
    assert str(run.lock_file) in result.err or not code


def test_a_run_in_a_folder_that_settings_can_not_name_is_refused_before_it_is_made(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="a name in it is no UTF-8"):
        create_run(tmp_path / os.fsdecode(b"\xff"), "quillwood", "dqn", name="it")
    assert list(tmp_path.iterdir()) == []


def test_a_current_folder_that_was_deleted_is_told(pkmn: Pkmn, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    for command, code in ((["eval"], 5), (["export", "it"], 5), (["train", "--steps=5"], 2)):
        result = pkmn(*command)
        assert (result.code, result.err.count("\n")) == (code, 1), result.err
        assert "the current folder was deleted" in result.err
    os.chdir(tmp_path)


def test_whoever_looks_whether_a_run_is_in_use_is_in_nobodys_way(tmp_path: Path) -> None:
    run = create_run(tmp_path, "quillwood", "dqn", name="it")
    assert run.in_use_by() is None
    assert not run.lock_file.exists(), "looking writes nothing"
    with run.locked():
        assert run.in_use_by() == os.getpid()
        run.lock_file.unlink()
        with pytest.raises(RunError, match="is in use by"), Run(run.folder).locked():
            pass
    assert run.in_use_by() is None
    assert open_run(run.folder).in_use_by() is None


@pytest.mark.parametrize(
    "command", [["eval"], ["train", "--resume"], ["plot"], ["analyze-patterns"], ["export"], ["replay"], ["compare"]]
)
def test_a_name_that_no_system_takes_is_no_run(command: list[str], pkmn: Pkmn) -> None:
    for name in ("x" * 300, "x" * 5000, "x/" * 3000, "run:" + "y" * 300):
        result = pkmn(*command, name)
        assert (result.code, result.err.count("\n")) == (5, 1), result.err
        assert result.err.startswith("no run 'x") or result.err.startswith("no run 'run:")
