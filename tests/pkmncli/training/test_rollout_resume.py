"""Learners that learn from rollouts: killed or interrupted within one, a training goes on as an unbroken one."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.killed_training import Moment, train_until

from pkmncli.runs import Run
from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.step_result import StepResult

SMALL = [
    "--steps=240",
    "--save-interval=80",
    "--max-steps-per-episode=30",
    "--set=ppo.n_steps=50",
    "--set=ppo.batch_size=20",
    "--set=ppo.n_epochs=2",
    "--set=ppo.learning_rate_decay=1",
    *(
        f"--set={rl}.{name}"
        for rl in ("ppo", "a2c")
        for name in ("screen_channels=[4,8]", "screen_features=16", "vector_features=8", "head_features=16")
    ),
]
"""Checkpoints fall within rollouts: at 80, 160 and 240 steps, of 50 or 100."""

WRITING_A_CHECKPOINT = ("open", ".step-000000160.tmp/meta.json", 1)
BEFORE_IT_APPEARS = ("os.rename", ".step-000000160.tmp", 1)
BETWEEN_TWO_TABLES = ("os.rename", "metrics", 2)


@pytest.mark.long
@pytest.mark.parametrize(
    ("rl", "mode", "envs", "moment"),
    [
        ("ppo", "rl-only", 1, BETWEEN_TWO_TABLES),
        ("ppo", "adaptive", 2, WRITING_A_CHECKPOINT),
        ("a2c", "adaptive", 2, BEFORE_IT_APPEARS),
    ],
)
def test_a_killed_training_goes_on_as_if_nothing_had_happened(
    rl: str,
    mode: str,
    envs: int,
    moment: Moment,
    pkmn: Callable[..., Any],
    course: Callable[[Path], dict[str, Any]],
    assert_same_course: Callable[[Path, Path], None],
    tmp_path: Path,
) -> None:
    overlap = moment != WRITING_A_CHECKPOINT  # one of them waits for its updates
    options = [*SMALL, f"--rl={rl}", f"--mode={mode}", f"--envs={envs}", f"--set={rl}.overlap={str(overlap).lower()}"]
    unbroken = pkmn("train", *options, "--run-name=unbroken")
    assert unbroken.code == 0, unbroken.err
    assert f"Training {rl} on Quillwood for 240 steps" in unbroken.out
    train_until(moment, tmp_path, *options, "--run-name=it")
    resumed = pkmn("train", "--resume", "it")
    assert resumed.code == 0, resumed.err
    assert_same_course(tmp_path / "runs" / "it", tmp_path / "runs" / "unbroken")
    content = course(tmp_path / "runs" / "it")
    assert content["summary"]["updates"] == 240 // (50 * envs if rl == "ppo" else 5 * envs)
    assert content["learner"]["rollout.filled"] == (240 // envs) % (50 if rl == "ppo" else 5)
    assert (content["summary"]["source_shares"]["rule"] > 0) == (mode == "adaptive")


@pytest.mark.long
def test_an_interrupted_training_can_be_evaluated_and_goes_on(
    pkmn: Callable[..., Any], assert_same_course: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    """Ctrl-C within the second rollout, while the first is being learned from."""
    options = [*SMALL, "--rl=ppo", "--mode=rl-only"]
    assert pkmn("train", *options, "--run-name=unbroken").code == 0
    step, steps = WorkerPool.step, itertools.count(1)

    def one_step(pool: WorkerPool, *choice: Any, observed: bool = True) -> StepResult:
        if next(steps) == 58:
            signal.raise_signal(signal.SIGINT)
        return step(pool, *choice, observed=observed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WorkerPool, "step", one_step)
        assert pkmn("train", *options, "--run-name=it").code == 130
    assert Run(tmp_path / "runs" / "it").checkpoints.names()[-1] == "step-000000058"
    played = pkmn("eval", "it", "--episodes=1", "--max-steps-per-episode=5", "--json")
    assert played.code == 0, played.err
    assert pkmn("train", "--resume", "it").code == 0
    assert_same_course(tmp_path / "runs" / "it", tmp_path / "runs" / "unbroken")


def test_a_batch_larger_than_a_rollout_is_told_in_one_line(pkmn: Callable[..., Any], tmp_path: Path) -> None:
    result = pkmn("train", "--rl=ppo", "--set=ppo.n_steps=20", "--set=ppo.batch_size=30", "--steps=100")
    assert result.code == 2
    assert result.err.splitlines() == [
        "ppo.batch_size = 30 is more than the 20 steps of a rollout (ppo.n_steps = 20, times 1 environment): "
        "set it lower."
    ]
    assert not (tmp_path / "runs").exists()
