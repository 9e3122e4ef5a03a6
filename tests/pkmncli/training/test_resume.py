"""A training killed at any moment goes on to exactly what an unbroken one comes to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.killed_training import Moment, train_until

from pkmncli.runs import Run

BEFORE_THE_FIRST_CHECKPOINT = ("os.rename", ".step-000000000.tmp", 1)
WITHIN_THE_FIRST_WINDOW = ("os.rename", "decisions", 2)
WRITING_A_CHECKPOINT = ("open", ".step-000000160.tmp/meta.json", 1)
BEFORE_A_CHECKPOINT_APPEARS = ("os.rename", ".step-000000160.tmp", 1)
BEFORE_IT_IS_IN_THE_INDEX = ("os.rename", "index.json", 2)
BETWEEN_TWO_TABLES = ("os.rename", "metrics", 2)
BEFORE_THE_OLD_EXPERIENCE_GOES = ("shutil.rmtree", "step-000000080/buffer", 1)
NEAR_THE_END = ("os.rename", "decisions", 9)


@pytest.mark.parametrize(
    ("mode", "envs", "moments"),
    [
        pytest.param("rl-only", 1, [WITHIN_THE_FIRST_WINDOW, BEFORE_IT_IS_IN_THE_INDEX], marks=pytest.mark.long),
        pytest.param("rl-only", 2, [WRITING_A_CHECKPOINT], marks=pytest.mark.long),
        pytest.param("adaptive", 1, [BEFORE_A_CHECKPOINT_APPEARS, NEAR_THE_END], marks=pytest.mark.long),
        pytest.param("adaptive", 2, [BETWEEN_TWO_TABLES, BEFORE_THE_OLD_EXPERIENCE_GOES], marks=pytest.mark.long),
        ("adaptive", 1, [BETWEEN_TWO_TABLES]),
    ],
)
def test_a_killed_training_goes_on_as_if_nothing_had_happened(
    mode: str,
    envs: int,
    moments: list[Moment],
    pkmn: Callable[..., Any],
    shared_run: Callable[..., Path],
    small_training: list[str],
    course: Callable[[Path], dict[str, Any]],
    assert_same_course: Callable[[Path, Path], None],
    tmp_path: Path,
) -> None:
    """The second moment is one of the training that already went on once."""
    arguments = [*small_training, f"--mode={mode}", f"--envs={envs}", "--run-name=it"]
    for moment in moments:
        train_until(moment, tmp_path, *arguments)
        arguments = ["--resume", "it"]
    run = Run(tmp_path / "runs" / "it")
    newest = run.checkpoints.names()[-1]
    result = pkmn("train", "--resume", "it")
    assert result.code == 0, result.err
    assert f"Going on from step {int(newest[5:]):,}." in result.out
    steps = [row["global_step"] for row in course(run.folder)["decisions"]]
    assert steps == list(range(1, 241)), "no step is missing, and none is there twice"
    assert_same_course(run.folder, shared_run(mode, envs))
    assert [path for path in run.folder.rglob("*") if ".tmp" in path.name] == []


@pytest.mark.long
def test_a_training_killed_before_its_first_checkpoint_says_that_it_cannot_go_on(
    pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    train_until(BEFORE_THE_FIRST_CHECKPOINT, tmp_path, *small_training)
    result = pkmn("train", "--resume")
    assert result.code == 5
    assert len(result.err.splitlines()) == 1
    assert "make one with 'pkmn train'" in result.err


@pytest.mark.long
def test_a_larger_budget_trains_on(
    pkmn: Callable[..., Any], small_training: list[str], course: Any, tmp_path: Path
) -> None:
    assert pkmn("train", *small_training, "--steps=90", "--no-rl").code == 0
    result = pkmn("train", "--resume", "--steps=130")
    assert result.code == 0, result.err
    (run,) = (tmp_path / "runs").iterdir()
    assert [row["global_step"] for row in course(run)["decisions"]] == list(range(1, 131))
    assert Run(run).read_summary()["total_steps"] == 130
    assert len(Run(run).command_file.read_text().splitlines()) == 4
