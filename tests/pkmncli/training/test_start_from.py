"""A training may begin with the weights of another one, and with nothing else of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.variants import long_after

from pkmncli.runs import Run
from pkmncli.training.checkpoints.files import read_checkpoint

Pkmn = Callable[..., Any]

ALONE = "--final-episodes=0"
SMALL_PPO = ["--rl=ppo", "--steps=80", "--max-steps-per-episode=30", "--set=ppo.n_steps=16", "--set=ppo.batch_size=8"]


@pytest.fixture
def earlier(shared_run: Callable[..., Path], tmp_path: Path) -> Run:
    return Run(shutil.copytree(shared_run(), tmp_path / "runs" / "earlier"))


def begun(folder: Path) -> dict[str, Any]:
    """The learner of a run before its first step."""
    return dict(read_checkpoint(Run(folder).checkpoints.resolve("0")).learner)


def acting(learner: dict[str, Any], network: str = "acting") -> dict[str, Any]:
    return {key.removeprefix(f"{network}."): one for key, one in learner.items() if key.startswith(f"{network}.")}


def assert_same_weights(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one and one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], err_msg=name)


@pytest.mark.parametrize(("suffix", "step"), long_after(1, [("", 240), (":160", 160)]))
def test_the_learner_begins_with_the_weights_and_nothing_else(
    suffix: str, step: int, earlier: Run, pkmn: Pkmn, small_training: list[str], tmp_path: Path
) -> None:
    options = [*small_training, ALONE, "--steps=2", "--seed=5", "--run-name=it", "--keep-checkpoints=9"]
    result = pkmn("train", *options, f"--start-from=earlier{suffix}", "--set=dqn.learning_rate=0.01")
    assert result.code == 0, result.err
    name = f"step-{step:09d}"
    assert f"The learner begins with the weights of earlier, {name}." in result.out
    theirs, own = dict(read_checkpoint(earlier.checkpoints.resolve(name)).learner), begun(tmp_path / "runs" / "it")
    for network in ("acting", "learning.online", "learning.target"):
        assert_same_weights(acting(own, network), acting(theirs))
    assert own["steps"] == 0
    assert own["learning.updates"] == 0
    assert not [key for key in own if "optimizer" in key]
    assert Run(tmp_path / "runs" / "it").read_summary()["started_from"] == f"earlier, {name}"


@pytest.mark.long
def test_a_policy_gradient_learner_does_so_too(pkmn: Pkmn, tmp_path: Path) -> None:
    assert pkmn("train", *SMALL_PPO, ALONE, "--run-name=earlier").code == 0
    result = pkmn(
        "train", *SMALL_PPO, ALONE, "--run-name=it", "--start-from=earlier", "--seed=5", "--keep-checkpoints=9"
    )
    assert result.code == 0, result.err
    theirs = dict(read_checkpoint(Run(tmp_path / "runs" / "earlier").checkpoints.resolve()).learner)
    own = begun(tmp_path / "runs" / "it")
    for network in ("acting", "learning.network"):
        assert_same_weights(acting(own, network), acting(theirs))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--observation-type=state"], "observation_type"),
        (["--set=dqn.head_features=20"], "dqn.head_features = 16 there, 20 here"),
        (["--start-from=earlier:best"], "best"),
        (["--start-from=nowhere"], "no run 'nowhere'"),
        (["--start-from=pretrained:crystal"], "crystal comes without a pretrained policy"),
    ],
)
def test_weights_that_do_not_fit_are_refused_with_what_differs(
    options: list[str], said: str, earlier: Run, pkmn: Pkmn, small_training: list[str], tmp_path: Path
) -> None:
    if options[0].startswith("--start-from=earlier:best"):
        (earlier.checkpoints.folder / "index.json").unlink()
    result = pkmn("train", *small_training, ALONE, "--start-from=earlier", *options)
    assert result.code in (2, 5)
    assert said in result.err
    assert len(result.err.strip().splitlines()) == 1
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [earlier.name]


def test_weights_of_another_kind_of_learner_are_refused(earlier: Run, pkmn: Pkmn) -> None:
    result = pkmn("train", *SMALL_PPO, ALONE, f"--start-from={earlier.name}")
    assert result.code == 2
    assert "it was trained with rl = dqn, not ppo: use --rl dqn" in result.err
    result = pkmn("train", "--no-rl", "--steps=10", f"--start-from={earlier.name}")
    assert result.code == 2
    assert "without a learner nobody takes the weights" in result.err


@pytest.mark.long
def test_runs_that_never_had_such_weights_are_told_apart(earlier: Run, pkmn: Pkmn, tmp_path: Path) -> None:
    text = earlier.config_file.read_text()
    for changed, expected in (
        (text.replace('env = "pyboy"', 'env = "gameboy"'), "it was trained with env = gameboy, not pyboy"),
        (text.replace('rl = "dqn"', 'rl = "none"'), "it was trained without a learner"),
    ):
        assert changed != text
        earlier.config_file.write_text(changed)
        result = pkmn("train", "--start-from=earlier", "--steps=5")
        assert (result.code, [run.name for run in (tmp_path / "runs").iterdir()]) == (2, ["earlier"])
        assert expected in result.err
