"""Trainings of continuous actions: killed, resumed, replayed, evaluated; one line where nobody can choose them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.killed_training import train_until

from pkmncli.errors import RunError
from pkmncli.seeds import Purpose
from pkmncli.training.workers.action_log import ActionLog, action_bytes, actions_from
from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.spec import EnvironmentSpec, WorkerSpec

Pkmn = Callable[..., Any]
PENDULUM = ["--env=gym:Pendulum-v1", "--max-steps-per-episode=60", "--seed=2", "--envs=2"]
SMALL = [
    "--steps=240", "--save-interval=80", "--final-episodes=2", "--no-film", "--set=ppo.n_steps=25",
    "--set=ppo.batch_size=25", "--set=ppo.n_epochs=2",
]  # fmt: skip


@pytest.mark.long
def test_a_training_is_replayed_and_evaluated(pkmn: Pkmn, tmp_path: Path) -> None:
    small = ["--rl=a2c", "--steps=60", "--max-steps-per-episode=20", "--final-episodes=0"]
    for command in (
        ("train", "--env=gym:Pendulum-v1", *small, "--run-name=it"),
        ("replay", "it", "--verify"),
        ("eval", "it", "--episodes=1", "--stochastic"),
    ):
        result = pkmn(*command)
        assert result.code == 0, (command, result.err)


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        ["--rl=ppo"],
        ["--rl=a2c", "--stack=2"],
        ["--rl=ppo", "--set=ppo.recurrent=gru", "--set=ppo.sequence_length=5", "--envs-per-worker=2"],
    ],
    ids=["ppo", "a2c", "gru"],
)
def test_a_killed_training_goes_on_exactly_and_its_episodes_are_replayed(
    options: list[str], pkmn: Pkmn, assert_same_course: Callable[..., None], tmp_path: Path
) -> None:
    result = pkmn("train", *PENDULUM, *SMALL, *options, "--run-name=whole")
    assert result.code == 0, result.err
    train_until(("os.rename", ".step-000000160.tmp", 1), tmp_path, *PENDULUM, *SMALL, *options, "--run-name=killed")
    result = pkmn("train", "--resume", "killed")
    assert result.code == 0, result.err
    assert_same_course(tmp_path / "runs" / "killed", tmp_path / "runs" / "whole")
    for command in (
        ("replay", "killed", "--verify"),
        ("eval", "whole", "--episodes=2", "--stochastic"),
        ("replay", "whole", "--evaluation", "--verify"),
        ("analyze-patterns", "whole"),
        ("compare", "whole", "killed"),
    ):
        result = pkmn(*command)
        assert result.code == 0, (command, result.err)
        assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rl=dqn"], "rl = 'dqn' cannot learn the continuous actions Box"),
        (
            ["--rl=ppo", "--llm=scripted", "--set=scripted.file=replies.toml"],
            "only a learner can choose the continuous actions",
        ),
    ],
)
def test_those_who_cannot_choose_them_are_refused_in_one_line(
    options: list[str], message: str, pkmn: Pkmn, tmp_path: Path
) -> None:
    (tmp_path / "replies.toml").write_text("[[reply]]\ntext = ''\n")
    result = pkmn("train", *PENDULUM, *options, "--steps=10")
    assert (result.code, len(result.err.splitlines())) == (2, 1), result.err
    assert message in result.err
    assert not list((tmp_path / "runs").glob("*/config.toml"))


def test_a_worker_that_was_lost_repeats_the_continuous_actions() -> None:
    part = EnvironmentSpec(
        "pkmn_gymnasium.making:make_environment", "pkmn_gymnasium.settings:GymnasiumSettings", {"id": "Pendulum-v1"}
    )
    seen = []
    for is_lost in (True, False):
        with WorkerPool(WorkerSpec(part, None, seed=1, purpose=Purpose.TRAINING, num_envs=2)) as pool:
            pool.reset()
            random = np.random.default_rng(0)
            for step in range(6):
                if is_lost and step == 4:
                    os.kill(pool.process_id(1), signal.SIGKILL)
                controls = random.uniform(-3, 3, (2, 1)).astype(np.float32)
                none = np.zeros(2, np.int64), np.zeros(2, np.uint8), np.zeros(2, np.float32)
                result = pool.step(*none, controls=controls)
                assert result.controls is not None
                np.testing.assert_array_equal(result.controls, controls.clip(-2, 2))
            assert pool.losses == is_lost
            seen.append({name: array.copy() for name, array in pool.observations().items()})
    np.testing.assert_array_equal(seen[0]["observation"], seen[1]["observation"])


def test_recorded_controls_come_back_exactly_and_damaged_ones_are_told() -> None:
    log, loaded = ActionLog(), ActionLog()
    for control in (0.1, -7.25, 3e-9):
        log.add([np.array([control, 1], np.float32)], bytes(1))
    loaded.load_state_dict(log.state_dict())
    np.testing.assert_array_equal(np.stack(loaded.actions), np.stack(log.actions))
    content = action_bytes(log.actions)
    assert len(content) == 3 * 2 * 4
    with pytest.raises(RunError, match="damaged"):
        actions_from(content[:-1], 3)
