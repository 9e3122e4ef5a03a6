"""A run folder taken away in mid-training is made again whole, or the training ends and says where things are."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pkmncli.config import ResolvedSettings
from pkmncli.plugins import get_registry
from pkmncli.runs import Run, open_run
from pkmncli.training import run_guard, session
from pkmncli.training.checkpoints.files import is_whole
from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.step_result import StepResult

Pkmn = Callable[..., Any]
Act = Callable[[Path], None]


@pytest.fixture
def train_and(
    pkmn: Pkmn, small_training: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Act], Any]:
    """Trains, and does something to the run's folder after step 100, between the checkpoints of 80 and 160."""
    step = WorkerPool.step

    def train(act: Act) -> Any:
        steps = itertools.count(1)

        def one_step(pool: WorkerPool, *choice: Any, observed: bool = True) -> StepResult:
            result = step(pool, *choice, observed=observed)
            if next(steps) == 100:
                act(tmp_path / "runs" / "it")
            return result

        with monkeypatch.context() as patch:
            patch.setattr(WorkerPool, "step", one_step)
            patch.setattr(run_guard, "SECONDS_BETWEEN_LOOKS", 0.0)
            return pkmn("train", *small_training, "--run-name=it")

    return train


def deleted(folder: Path) -> None:
    for _ in range(100):  # a table that is written meanwhile keeps it
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
    shutil.rmtree(folder)


def deleted_with_all_runs(folder: Path) -> None:
    deleted(folder.parent)


def moved(folder: Path) -> None:
    folder.rename(folder.with_name("moved"))


def emptied(folder: Path) -> None:
    deleted(folder)
    folder.mkdir(exist_ok=True)


def half_made_again(folder: Path) -> None:
    """As by a table that was being written."""
    deleted(folder)
    (folder / "decisions").mkdir(parents=True, exist_ok=True)


def is_a_whole_run(folder: Path) -> None:
    run = open_run(folder)
    assert ResolvedSettings.from_run(folder, get_registry()).remarks() == []
    assert run.read_names()["maps"]
    assert is_whole(run.checkpoints.resolve())
    assert "train" in run.command_file.read_text()
    assert run.log_file.exists()


@pytest.mark.long
@pytest.mark.parametrize("act", [deleted, moved, deleted_with_all_runs, emptied, half_made_again])
def test_a_folder_that_is_taken_away_is_made_again_whole(
    act: Act, train_and: Callable[[Act], Any], pkmn: Pkmn, tmp_path: Path
) -> None:
    result = train_and(act)
    assert result.code == 0, result.err
    folder = tmp_path / "runs" / "it"
    said = f"was moved to {tmp_path / 'runs' / 'moved'}" if act is moved else "was deleted"
    assert f"the run folder {folder} {said} while it trained" in result.err
    is_a_whole_run(folder)
    assert Run(folder).checkpoints.names()[0] in {"step-000000100", "step-000000101"}, "saved at once"
    assert Run(folder).read_summary()["total_steps"] == 240
    resumed = pkmn("train", "--resume", "it", "--steps=260")
    assert resumed.code == 0, resumed.err
    assert resumed.err, "what was recorded before is gone for good"
    assert all("missing" in line and "were recorded there" in line for line in resumed.err.splitlines())
    if act is moved:
        is_a_whole_run(tmp_path / "runs" / "moved")
        assert pkmn("train", "--resume", "moved", "--steps=100").code == 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["config.toml", "versions.json", "names.json", "command.txt", "run.lock"])
def test_a_file_that_is_taken_away_is_made_again(
    name: str, train_and: Callable[[Act], Any], pkmn: Pkmn, tmp_path: Path
) -> None:
    kept = []

    def act(folder: Path) -> None:
        kept.append((folder / name).read_bytes())
        (folder / name).unlink()

    result = train_and(act)
    path = tmp_path / "runs" / "it" / name
    assert result.code == 0, result.err
    assert f"{path} was deleted" in result.err
    assert path.read_bytes() == kept[0]
    is_a_whole_run(path.parent)


@pytest.mark.long
def test_checkpoints_that_are_taken_away_are_written_anew(
    train_and: Callable[[Act], Any], pkmn: Pkmn, tmp_path: Path
) -> None:
    result = train_and(lambda folder: shutil.rmtree(folder / "checkpoints"))
    assert result.code == 0, result.err
    assert "the checkpoints before it are gone" in result.err
    is_a_whole_run(tmp_path / "runs" / "it")


@pytest.mark.long
def test_a_run_that_has_taken_the_name_is_left_alone(
    train_and: Callable[[Act], Any], shared_run: Callable[..., Path], tmp_path: Path
) -> None:
    original = shared_run()

    def act(folder: Path) -> None:
        folder.rename(tmp_path / "elsewhere")
        shutil.copytree(original, folder)

    result = train_and(act)
    assert (result.code, result.err.count("\n")) == (5, 1)
    folder = tmp_path / "runs" / "it"
    assert f"the run folder {folder} was moved to {tmp_path / 'elsewhere'} while it trained" in result.err
    assert "another run is there now" in result.err
    left, other = (
        {path.relative_to(top): path.read_bytes() for path in top.rglob("*") if path.is_file()}
        for top in (folder, original)
    )
    assert left == other
    assert is_whole(Run(tmp_path / "elsewhere").checkpoints.resolve())


@pytest.mark.long
def test_a_folder_that_is_gone_at_the_end_is_no_success(
    pkmn: Pkmn, small_training: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def evaluate(run: Run, *_rest: Any, **_options: Any) -> None:
        shutil.rmtree(run.folder)

    monkeypatch.setattr(session, "hold_final_evaluation", evaluate)
    result = pkmn("train", *small_training, "--run-name=it", "--final-episodes=1")
    assert (result.code, result.err.count("\n")) == (5, 1)
    folder = tmp_path / "runs" / "it"
    assert result.err == f"the run folder {folder} was deleted while it trained, after its last checkpoint\n"


@pytest.mark.long
def test_the_folder_stays_locked_when_its_lock_file_is_deleted(
    train_and: Callable[[Act], Any], pkmn: Pkmn, tmp_path: Path
) -> None:
    """Else two trainings would write to it."""
    second = []

    def act(folder: Path) -> None:
        (folder / "run.lock").unlink()
        second.append(pkmn("train", "--resume", "it", "--steps=300"))

    assert train_and(act).code == 0
    assert second[0].code == 5
    assert "is in use by" in second[0].err
    assert Run(tmp_path / "runs" / "it").read_summary()["total_steps"] == 240
