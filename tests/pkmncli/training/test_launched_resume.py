"""A learner that only launches its updates goes on, once interrupted, as if nothing had happened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pkmn_dqn.learner
from pkmncli.runs import Run
from pkmncli.training.checkpoints.files import read_checkpoint
from pkmncli.training.learner_thread import LaunchedUpdates
from pkmncli.training.trainer import Trainer


@pytest.mark.long
@pytest.mark.parametrize("envs", [1, 8])
def test_an_interrupted_training_goes_on_as_the_unbroken_one(
    envs: int,
    pkmn: Callable[..., Any],
    small_training: list[str],
    assert_same_course: Callable[[Path, Path], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With eight environments two rounds of updates are due after each step."""
    monkeypatch.setattr(pkmn_dqn.learner, "learns_on_card", lambda device: True)
    options = [*small_training, "--mode=rl-only", f"--envs={envs}"]
    assert pkmn("train", *options, "--run-name=unbroken").code == 0
    launched = []
    train, meanwhile = Trainer.train, LaunchedUpdates.meanwhile

    def noted(updates: LaunchedUpdates) -> None:
        launched.append(updates)
        meanwhile(updates)

    def interrupted(trainer: Trainer, wanted: Callable[[], bool]) -> dict[str, Any]:
        return train(trainer, lambda: wanted() or trainer.statistics.steps >= 99)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "train", interrupted)
        patch.setattr(LaunchedUpdates, "meanwhile", noted)
        pkmn("train", *options, "--run-name=it")
    assert launched
    run = Run(tmp_path / "runs" / "it")
    assert 99 <= read_checkpoint(run.checkpoints.resolve()).step < 120
    assert pkmn("train", "--resume", "it").code == 0
    assert read_checkpoint(run.checkpoints.resolve()).learner["learning.updates"] > 15
    assert_same_course(tmp_path / "runs" / "it", tmp_path / "runs" / "unbroken")
