"""Runs that a plugin's command makes end early without loss: killed, interrupted, their folder deleted."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_runs import Pkmn, Register, course
from support.killed_training import CRASH
from support.variants import long_after

from pkmncli import hookimpl
from pkmncli.api import find_run, runs
from pkmncli.training import run_guard


@pytest.mark.parametrize(
    ("event", "path", "count"),
    long_after(
        1,
        [
            ("os.rename", "step-000000200", 1),
            ("os.rename", ".parquet", 8),
            ("open", "meta.json", 3),
            ("os.rename", "index.json", 2),
            ("os.rename", "summary.json", 3),
            ("shutil.rmtree", "step-", 1),
        ],
    ),
)
def test_a_killed_run_resumes_exactly(
    event: str, path: str, count: int, environ: dict[str, str], pkmn: Pkmn, tmp_path: Path
) -> None:
    options = ["bandit", "--pulls=450", "--set=bandit.save_interval=100"]
    assert pkmn(*options, "--run-name=whole").code == 0
    killed = subprocess.run(
        [sys.executable, CRASH, event, path, str(count), "--", *options, "--run-name=killed"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    result = pkmn("bandit", "--resume=killed")
    assert result.code == 0, result.err
    assert course(tmp_path / "runs" / "killed") == course(tmp_path / "runs" / "whole")


class Interrupts:
    """Plugin that sends signals after the first episode."""

    def __init__(self, times: int) -> None:
        self.left = times

    @hookimpl
    def pkmn_episode_finished(self) -> None:
        while self.left:
            self.left -= 1
            os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_saves_it(register_beside: Register, pkmn: Pkmn, tmp_path: Path) -> None:
    assert pkmn("bandit", "--pulls=300", "--run-name=whole").code == 0
    register_beside(Interrupts(1), "interrupts")
    result = pkmn("bandit", "--pulls=300", "--run-name=it")
    assert result.code == 130
    assert "Stopping: the run is saved first" in result.err
    assert runs.find_run("it").folder == tmp_path / "runs" / "it"
    assert pkmn("bandit", "--resume=it").code == 0
    resumed, whole = course(tmp_path / "runs" / "it"), course(tmp_path / "runs" / "whole")
    assert (resumed["state"], resumed["metrics"]) == (whole["state"], whole["metrics"])


def test_a_second_ctrl_c_ends_it_and_says_how_to_go_on(register_beside: Register, pkmn: Pkmn, tmp_path: Path) -> None:
    register_beside(Interrupts(2), "interrupts")
    result = pkmn("bandit", "--pulls=300", "--run-name=it")
    assert result.code == 130
    assert "pkmn bandit --resume runs/it" in result.err
    assert pkmn("bandit", "--resume=it").code == 0


def test_a_folder_that_is_taken_away_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run_guard, "SECONDS_BETWEEN_LOOKS", 0.0)
    with runs.start("toy", {"rate": 0.5}, save_dir=tmp_path, run_name="it") as run:
        run.checkpoint(0, {"at": 0})
        shutil.rmtree(run.folder)
        run.metrics(1, {"loss": 1.0})
        assert run.checkpoint_requested, "nothing is saved there"
        run.checkpoint(1, {"at": 1})
    assert "was deleted while it trained" in capsys.readouterr().err
    assert runs.read_state("it", save_dir=tmp_path) == {"at": 1}
    assert find_run("it", tmp_path).settings["toy"] == {"rate": 0.5}
