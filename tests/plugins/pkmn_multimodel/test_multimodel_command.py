"""The command: runs that are killed and resumed, read by other commands, and what it refuses."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.commands import run_here

SMALL = (
    *("multimodel", "train", "--models", "2", "--mode", "cooperative", "--update", "synchronized", "--base", "tiny"),
    *("--episodes", "48", "--set", 'multimodel.model_types=["qwen3"]', "--set", "multimodel.batch_size=8"),
    *("--set", "multimodel.save_every=2", "--set", "multimodel.learning_rate=0.003"),
)


def adapters(run: Path) -> Any:
    return json.loads(run_here("multimodel", "status", str(run)).out)


@pytest.mark.long
def test_a_killed_training_resumes_with_equal_adapters_and_other_commands_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = [*SMALL, "--save-dir", str(tmp_path)]
    whole = run_here(*options, "--run-name", "whole")
    assert whole.code == 0, whole.err
    killed = tmp_path / "killed"
    child = subprocess.Popen(
        [sys.executable, "-m", "pkmncli", *options, "--run-name", "killed"],
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PKMN_TRACK": '["none"]'},
    )
    while child.poll() is None and not list(killed.glob("checkpoints/step-*[1-9]*")):
        time.sleep(0.05)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    resumed = run_here("multimodel", "train", "--resume", str(killed))
    assert resumed.code == 0, resumed.err
    assert adapters(killed) == adapters(tmp_path / "whole")
    assert json.loads(run_here("eval", str(killed), "--episodes", "4", "--json").out)["score"] >= 0
    for command in (["plot"], ["export", "--format", "csv"], ["analyze-patterns", "--min-frequency", "3"]):
        assert run_here(*command, str(killed)).code == 0, command


@pytest.mark.long
def test_a_training_that_was_too_short_to_learn_says_so(tmp_path: Path) -> None:
    options = [*SMALL, "--save-dir", str(tmp_path), "--update", "asynchronous", "--episodes", "2"]
    short = run_here(*options, "--run-name", "short")
    assert short.code == 0, short.err
    assert "Nothing was learned: no adapter was updated in so few games." in short.err
    longer = run_here("multimodel", "train", "--resume", str(tmp_path / "short"), "--episodes", "40")
    assert longer.code == 0, longer.err
    assert "Nothing was learned" not in longer.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--models", "0"], "Invalid number of models: 0; give 1 to 64"),
        (["--set", 'multimodel.model_types=["gpt"]'], "Unsupported LLM backend: 'gpt'"),
        (["--set", 'multimodel.model_types=["openai"]'], "none of the models can learn"),
        (["--base", "/nowhere/at/all"], "no model is there"),
        (["--mode", "friendly"], "setting 'multimodel.training_mode' = 'friendly' (option --mode): must be"),
        (["--update", "now"], "setting 'multimodel.weight_update_strategy' = 'now' (option --update): must be"),
        (["--episodes", "0"], "setting 'multimodel.max_episodes' = 0 (option --episodes): must be at least 1"),
        (["--environment", "chess"], "coop-compete"),
    ],
)
def test_a_wrong_setting_is_one_line(options: list[str], said: str, tmp_path: Path) -> None:
    result = run_here("multimodel", "train", "--base", "tiny", *options, "--save-dir", str(tmp_path))
    assert result.code == 2, result.err
    lines = [line for line in result.err.splitlines() if said in line]
    assert len(lines) == 1, result.err
    assert "Traceback" not in result.err
    assert not list(tmp_path.iterdir()), "no run is left"


@pytest.mark.parametrize(
    ("game", "argument", "said"),
    [
        ("maze", 'complexity="absurd"', "there is no complexity 'absurd'"),
        ("coop-compete", 'rounds="many"', "rounds must be a whole number: 'many'"),
        ("quillwood", "steps_per_round=2.5", "steps_per_round must be a whole number: 2.5"),
    ],
)
def test_wrong_arguments_of_a_game_are_refused_before_there_is_a_run(
    game: str, argument: str, said: str, tmp_path: Path
) -> None:
    wrong = ("--set", f"multimodel.environment_args={{{argument}}}")
    result = run_here(*SMALL, "--environment", game, *wrong, "--save-dir", str(tmp_path / "runs"))
    assert (result.code, result.err.count(said)) == (2, 1), result.err
    assert not (tmp_path / "runs").exists()


def test_missing_libraries_are_named_with_the_command_that_installs_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr("pkmn_multimodel.libraries.find_spec", lambda name: None if name == "peft" else find(name))
    result = run_here(*SMALL, "--save-dir", str(tmp_path / "runs"))
    assert "needs peft, which is not installed; run: pip install 'pkmncli[multimodel]'" in result.err
    assert result.code == 2
    assert not (tmp_path / "runs").exists()


def test_a_run_of_another_command_is_refused(tmp_path: Path) -> None:
    result = run_here("multimodel", "status", str(tmp_path / "none"))
    assert result.code != 0
    assert "Traceback" not in result.err
