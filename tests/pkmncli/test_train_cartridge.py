"""``pkmn train --cartridge``: a player's own battery save as the start of every episode, kept by the run."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.saved_games import save_by_the_menu

from pkmncli.config import ResolvedSettings
from pkmncli.plugins import get_registry
from pkmncli.runs import Run
from pkmncli.training.workers.pool import WorkerPool

Pkmn = Callable[..., Any]
SHORT = ("--no-rl", "--max-steps-per-episode=30", "--save-interval=40")


@pytest.fixture(scope="module")
def saved() -> tuple[bytes, tuple[int, int, int]]:
    from pkmn_pyboy.profile.loading import GAMES_FOLDER, load_profile  # noqa: PLC0415

    return save_by_the_menu(load_profile(GAMES_FOLDER / "quillwood"), "right right down")


@pytest.fixture
def file(saved: tuple[bytes, tuple[int, int, int]], tmp_path: Path) -> Path:
    path = tmp_path / "mine.sav"
    path.write_bytes(saved[0])
    return path


@pytest.mark.long
def test_a_run_keeps_the_save_and_goes_on_without_the_file(
    pkmn: Pkmn, file: Path, saved: tuple[bytes, tuple[int, int, int]], tmp_path: Path
) -> None:
    began = file.stat().st_mtime_ns
    result = pkmn("train", *SHORT, "--steps=80", "--run-name=it", f"--cartridge={file}")
    assert result.code == 0, result.err
    assert file.read_bytes() == saved[0]
    assert file.stat().st_mtime_ns == began
    run = Run(tmp_path / "runs" / "it")
    copy = ResolvedSettings.from_run(run.folder, get_registry()).train.cartridge
    assert copy is not None
    assert copy.is_relative_to(run.folder)
    assert copy.read_bytes() == saved[0]

    file.unlink()
    assert pkmn("train", "--resume", "it", "--steps=130").code == 0
    assert "agrees" in pkmn("replay", "it", "--episode=last", "--verify").out
    evaluation = pkmn("eval", "it", "--mode=llm-only", "--episodes=2")
    assert evaluation.code == 0, evaluation.err
    assert "agrees" in pkmn("replay", "it", "--evaluation", "--episode=last", "--verify").out


@pytest.mark.long
def test_a_run_that_goes_on_is_the_one_that_was_not_stopped(pkmn: Pkmn, file: Path, tmp_path: Path) -> None:
    assert pkmn("train", *SHORT, "--steps=120", "--run-name=whole", f"--cartridge={file}").code == 0
    assert pkmn("train", *SHORT, "--steps=50", "--run-name=parts", f"--cartridge={file}").code == 0
    assert pkmn("train", "--resume", "parts", "--steps=120").code == 0
    whole, parts = (Run(tmp_path / "runs" / name).read_summary() for name in ("whole", "parts"))
    for key in ("total_episodes", "best_reward", "final_avg_reward", "source_shares", "milestones"):
        assert whole[key] == parts[key], key


def test_what_is_no_save_is_one_line_and_leaves_no_run(pkmn: Pkmn, file: Path, tmp_path: Path) -> None:
    (tmp_path / "short.sav").write_bytes(file.read_bytes()[:-1])
    (tmp_path / "blank.sav").write_bytes(bytes(32_768))
    (tmp_path / "folder.sav").mkdir()
    for name, words in (
        ("short.sav", "32,767 bytes"),
        ("blank.sav", "holds no saved game of Quillwood"),
        ("folder.sav", "is a folder"),
        ("nowhere.sav", "can't be read"),
    ):
        result = pkmn("train", *SHORT, f"--cartridge={name}")
        assert result.code == 3, (name, result.err)
        assert len(result.err.splitlines()) == 1, result.err
        assert words in result.err, name
        assert name in result.err, name
    assert not (tmp_path / "runs").exists()


def test_a_save_and_a_start_state_are_one_too_many(pkmn: Pkmn, file: Path) -> None:
    result = pkmn("train", *SHORT, f"--cartridge={file}", "--init-state=a.state")
    assert result.code == 2
    assert "init_state and cartridge" in result.err


@pytest.mark.long
def test_a_run_goes_on_where_it_was_moved_and_a_copy_reads_its_own(pkmn: Pkmn, file: Path, tmp_path: Path) -> None:
    assert pkmn("train", *SHORT, "--steps=50", "--run-name=it", f"--cartridge={file}").code == 0
    file.unlink()
    first, moved = tmp_path / "runs" / "it", tmp_path / "elsewhere" / "that"
    name = next((first / "starts").iterdir()).name
    assert f'cartridge = "starts/{name}"' in (first / "config.toml").read_text(encoding="utf-8")
    shutil.copytree(first, moved)
    assert ResolvedSettings.from_run(moved, get_registry()).train.cartridge == moved / "starts" / name
    shutil.rmtree(first)
    resumed = pkmn("train", "--resume", str(moved), "--steps=80")
    assert resumed.code == 0, resumed.err
    evaluation = pkmn("eval", str(moved), "--mode=llm-only", "--episodes=1")
    assert evaluation.code == 0, evaluation.err
    assert "agrees" in pkmn("replay", str(moved), "--episode=last", "--verify").out


@pytest.mark.long
def test_a_run_that_named_its_copy_by_the_whole_path_can_be_moved_too(pkmn: Pkmn, file: Path, tmp_path: Path) -> None:
    assert pkmn("train", *SHORT, "--steps=50", "--run-name=it", f"--cartridge={file}").code == 0
    first, moved = tmp_path / "runs" / "it", tmp_path / "runs" / "that"
    config = first / "config.toml"
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace('"starts/', f'"{first.as_posix()}/starts/'), encoding="utf-8")
    first.rename(moved)
    resumed = pkmn("train", "--resume", "that", "--steps=80")
    assert resumed.code == 0, resumed.err


GOING_ON = [
    ("train", "--resume", "it", "--steps=80"),
    ("eval", "it", "--mode=llm-only", "--episodes=1"),
    ("replay", "it", "--episode=last", "--verify"),
]


@pytest.mark.long
def test_a_copy_that_is_missing_is_told(pkmn: Pkmn, file: Path, tmp_path: Path) -> None:
    assert pkmn("train", *SHORT, "--steps=50", "--run-name=it", f"--cartridge={file}").code == 0
    copy = next((tmp_path / "runs" / "it" / "starts").iterdir())
    copy.unlink()
    for command in GOING_ON:
        result = pkmn(*command)
        assert result.code == 5, (command, result.err)
        assert f"the run's copy of its cartridge, {copy}, is missing" in result.err


@pytest.mark.long
def test_another_save_in_the_place_of_the_runs_copy_is_refused(pkmn: Pkmn, file: Path, tmp_path: Path) -> None:
    assert pkmn("train", *SHORT, "--steps=50", "--run-name=it", f"--cartridge={file}").code == 0
    copy = next((tmp_path / "runs" / "it" / "starts").iterdir())
    copy.write_bytes(copy.read_bytes() + bytes(16))  # as good a save, with an emulator's clock
    for command in GOING_ON:
        result = pkmn(*command)
        assert result.code == 5, (command, result.err)
        assert f"{copy}, is not what the run was begun with" in result.err


def test_a_save_that_vanishes_while_the_training_begins_leaves_no_run(
    pkmn: Pkmn, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reset = WorkerPool.reset

    def reset_and_lose(self: WorkerPool) -> Any:
        found = reset(self)
        file.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(WorkerPool, "reset", reset_and_lose)
    result = pkmn("train", *SHORT, "--steps=50", "--run-name=it", f"--cartridge={file}")
    assert result.code == 3, result.err
    assert f"cartridge: {file} can't be read" in result.err
    assert not (tmp_path / "runs" / "it").exists()
