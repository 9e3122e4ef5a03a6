"""TensorBoard holds what the run's own tables hold, once, however often the training was broken off."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import SMALL, run_here
from support.killed_training import train_until
from support.tracked import read_back, stored, tracked
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

from pkmncli.training import trainer


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "METRICS_INTERVAL", 20)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished training, to be left as it is."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer, "METRICS_INTERVAL", 20)
        result = run_here("train", *SMALL, f"--save-dir={folder}", "--run-name=it", "--seed=3")
    assert result.code == 0, result.err
    return folder / "it"


@pytest.mark.long
def test_tensorboard_shows_what_the_tables_hold(run: Path) -> None:
    points = tracked(run)
    assert points == stored(run)
    assert len(points["episode/reward"]) == 8
    assert len(points["learner/loss"]) > 5
    assert len(points["time/waiting_for_the_learner"]) == 12


def test_tensorboard_shows_the_settings(run: Path) -> None:
    metadata = read_back(run).summary_metadata
    started = HParamsPluginData.FromString(metadata["_hparams_/session_start_info"].plugin_data.content)
    given = started.session_start_info.hparams
    assert given["seed"].number_value == 3
    assert given["rl"].string_value == "dqn"
    assert given["dqn.batch_size"].number_value == 8
    assert "settings/text_summary" in metadata


@pytest.mark.long
def test_a_resumed_training_leaves_no_point_twice(
    pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    """It is killed when a checkpoint is there and its index is not: all before it is on disk."""
    run = tmp_path / "runs" / "it"
    train_until(("os.rename", "index.json", 2), tmp_path, *small_training, "--run-name=it")
    assert tracked(run)["episode/reward"], "what was written before the kill can be read"
    assert pkmn("train", "--resume", "it").code == 0
    assert len(list((run / "tensorboard").iterdir())) == 2
    points = tracked(run)
    assert {name: points[name] for name in points if not name.startswith(("learner/", "share/", "time/"))} == {
        name: found for name, found in stored(run).items() if not name.startswith(("learner/", "share/", "time/"))
    }
    assert [step for step, _ in points["episode/reward"]] == list(range(30, 241, 30))


@pytest.mark.long
def test_a_run_that_goes_back_to_an_earlier_checkpoint_drops_what_came_after(
    pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    assert pkmn("train", *small_training, "--run-name=it", "--steps=100").code == 0
    run = tmp_path / "runs" / "it"
    before = tracked(run)
    assert before["episode/reward"][-1][0] == 90
    newest = run / "checkpoints" / "step-000000100" / "meta.json"
    newest.write_text("{}")  # damaged: the one before is gone on with
    assert pkmn("train", "--resume", "it", "--steps=240").code == 0
    points = tracked(run)
    assert [step for step, _ in points["episode/reward"]] == list(range(30, 241, 30))
    assert points == stored(run)


def test_a_record_that_a_kill_cut_off_is_passed_over(run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(run, tmp_path / "it")
    whole = tracked(copy)
    (file,) = (copy / "tensorboard").iterdir()
    data = file.read_bytes()
    file.write_bytes(data[: len(data) * 2 // 3])
    part = tracked(copy)
    assert 0 < len(part["episode/reward"]) < len(whole["episode/reward"])
    assert part["episode/reward"] == whole["episode/reward"][: len(part["episode/reward"])]
