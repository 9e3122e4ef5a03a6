"""Prioritised replay in real trainings: killed, they go on as unbroken ones; they also go on without experience."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.killed_training import Moment, train_until

from pkmncli.runs import Run
from pkmncli.training.checkpoints.files import read_checkpoint

PRIORITISED = [
    "--set=dqn.priority_exponent=0.6",
    "--set=dqn.demonstration_priority=0.5",
    "--set=dqn.gradient_steps=2",
    "--set=dqn.buffer_size=100",
    "--set=dqn.exploration_schedule=exponential",
]
"""Fewer steps are kept than the training has, so rows leave the buffer, also while they are being learned from."""

WRITING_A_CHECKPOINT = ("open", ".step-000000160.tmp/meta.json", 1)
BETWEEN_TWO_TABLES = ("os.rename", "metrics", 2)


@pytest.mark.long
@pytest.mark.parametrize(
    ("mode", "envs", "moment"), [("adaptive", 1, BETWEEN_TWO_TABLES), ("rl-only", 2, WRITING_A_CHECKPOINT)]
)
def test_a_killed_training_goes_on_as_if_nothing_had_happened(
    mode: str,
    envs: int,
    moment: Moment,
    pkmn: Callable[..., Any],
    small_training: list[str],
    assert_same_course: Callable[[Path, Path], None],
    tmp_path: Path,
) -> None:
    options = [*small_training, *PRIORITISED, f"--mode={mode}", f"--envs={envs}"]
    unbroken = pkmn("train", *options, "--run-name=unbroken")
    assert unbroken.code == 0, unbroken.err
    train_until(moment, tmp_path, *options, "--run-name=it")
    resumed = pkmn("train", "--resume", "it")
    assert resumed.code == 0, resumed.err
    assert_same_course(tmp_path / "runs" / "it", tmp_path / "runs" / "unbroken")
    state = read_checkpoint(Run(tmp_path / "runs" / "it").checkpoints.resolve()).learner
    powers = state["priorities.powers"]
    assert np.count_nonzero(powers) == 100 - 5 * envs  # not the latest n_step of each environment
    assert len(np.unique(powers)) > 20
    assert len(state["priorities.noted.rows"]) == 16, "the update under way is in the checkpoint"


@pytest.mark.long
def test_without_its_experience_a_training_goes_on_with_new_steps(
    pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    options = [*small_training, *PRIORITISED, "--mode=rl-only", "--steps=200", "--save-interval=100"]
    assert pkmn("train", *options, "--run-name=it").code == 0
    checkpoints = Run(tmp_path / "runs" / "it").checkpoints
    shutil.rmtree(checkpoints.resolve())  # the one before holds the weights alone
    before = read_checkpoint(checkpoints.resolve()).learner
    resumed = pkmn("train", "--resume", "it", "--steps=240")
    assert resumed.code == 0, resumed.err
    after = read_checkpoint(checkpoints.resolve()).learner
    assert (before["steps"], after["steps"]) == (100, 240)
    updates = 2 * len(range(100 + 40, 241, 4))  # from the 40th new step on, two in every fourth step
    assert after["learning.updates"] == before["learning.updates"] + updates
    assert after["priorities.first"] == 4096 + 140 - 100, "rows are numbered from the next segment on"
    assert np.count_nonzero(after["priorities.powers"]) == 100 - 5
