"""``pkmn tune`` with small real trainings: it finds the best, stops the others, and survives kills."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pkmncli import cli, tables
from pkmncli.plugins import get_registry
from pkmncli.runs import Run
from pkmncli.tuning import search
from pkmncli.tuning.plan import read_tuning
from pkmncli.tuning.study import STUDY_FILE, Study, TrialResult

Pkmn = Callable[..., Any]

# The rules play, and only new tiles give rewards. The samples are 0.28, 0.06 and 0.59: the second is bad.
HEAD = """
[tune]
name = "it"
trials = 3
seeds = 2
interval = 120
startup_trials = 1
sampler_seed = 20
"""
SPACE = """
[space]
"exploration.new_tile" = { low = 0, high = 1 }
"""
STEPS = 960


SETTINGS = """
[settings]
rl = "none"
reward = ["exploration"]
exploration.new_map = 0
max_steps_per_episode = 30
"""


def tuning(head: str = HEAD, steps: int = STEPS, more: str = "", space: str = SPACE) -> str:
    """Return the text of a small tuning's file."""
    return f"{head}{SETTINGS}steps = {steps}\nsave_interval = {steps // 10}\n{more}{space}"


def command(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PKMN_")}
    return subprocess.Popen(
        [sys.executable, "-m", "pkmncli", "tune", "it.toml", *arguments],
        cwd=folder,
        env={**environment, "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_until(process: subprocess.Popen[str], log: Path, text: str) -> None:
    while process.poll() is None and not (log.exists() and text in log.read_text()):
        time.sleep(0.05)
    assert process.poll() is None, process.communicate()


def results(folder: Path) -> list[TrialResult]:
    plan = read_tuning(folder / "it.toml", folder / "runs", get_registry())
    return Study(folder / "runs" / "it", plan, 1).results()


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, Path]:
    """Run a tuning without interruption; give its output and folder. It looks at its runs more often than others do."""
    folder = tmp_path_factory.mktemp("tuned")
    (folder / "it.toml").write_text(tuning())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(search, "MEASURE_S", 0.1)
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            assert cli.run(["tune", "it.toml"]) == 0, err.getvalue()
    return out.getvalue(), err.getvalue(), folder


@pytest.mark.long
def test_the_best_is_found_and_the_bad_one_stopped(unbroken: tuple[str, str, Path]) -> None:
    out, err, folder = unbroken
    lines = out.splitlines()
    assert lines[0] == "Tuning it: 3 trials of 2 seeds and 960 steps, 0 ended, 3 to go."
    assert "At most 5,760 steps, 1 training at a time. All to their end take about " in out
    assert f"Writing to {folder / 'runs' / 'it'}, " in out
    assert err.startswith("Note: the player by rules earns part of this objective")
    good, bad, best = results(folder)
    assert (good.state, bad.state, best.state) == ("complete", "pruned", "complete")
    assert best.value is not None and good.value is not None and best.value > good.value
    assert [line.split(";")[0] for line in lines if line.startswith("[2/3]")] == [f"[2/3] trial 1: pruned, {bad.why}"]
    runs = folder / "runs" / "it"
    assert not (runs / "trial-001_seed-1").exists(), "who falls behind with one seed is not tried with another"
    stopped = Run(runs / "trial-001_seed-0")
    assert 0 < stopped.read_summary()["total_steps"] < STEPS
    assert stopped.checkpoints.resolve().name == f"step-{stopped.read_summary()['total_steps']:09}"
    by_seed = ", ".join(f"seed {seed}: {value:.4g}" for seed, value in enumerate(best.figures))
    assert f"Best: trial 2, {best.value:.4g}, from " in out and f"({by_seed})." in out
    assert "2 complete, 1 pruned, 0 failed." in lines


@pytest.mark.long
def test_the_preset_trains_as_the_best_trial_did(
    assert_same_course: Callable[[Path, Path], None], pkmn: Pkmn, small_training: list[str], tmp_path: Path
) -> None:
    """Equal decisions and weights of a learner with a sampled step size."""
    head = '[tune]\nname = "it"\ntrials = 1\nseeds = [4]\n[settings]\n'
    given = [option.removeprefix("--set=").removeprefix("--").split("=", 1) for option in small_training]
    settings = {name if "." in name else name.replace("-", "_"): value for name, value in given} | {"steps": "120"}
    space = '[space]\n"dqn.learning_rate" = { low = 1e-5, high = 1e-3, log = true }\n'
    (tmp_path / "it.toml").write_text(head + "".join(f'"{name}" = {text}\n' for name, text in settings.items()) + space)
    result = pkmn("tune", "it.toml")
    assert result.code == 0, result.err
    result = pkmn("train", "--preset=runs/it/best.toml", "--seed=4", "--run-name=again", "--quiet")
    assert result.code == 0, result.err
    assert_same_course(tmp_path / "runs" / "again", tmp_path / "runs" / "it" / "trial-000_seed-4")


@pytest.mark.long
def test_given_again_it_trains_nothing(unbroken: tuple[str, str, Path], pkmn: Pkmn) -> None:
    *_, folder = unbroken
    before = Run(folder / "runs" / "it" / "trial-002_seed-1").summary_file.stat().st_mtime_ns
    result = pkmn("tune", str(folder / "it.toml"), f"--save-dir={folder / 'runs'}")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Tuning it: 3 trials of 2 seeds and 960 steps, 3 ended, 0 to go.")
    assert "Best: trial 2" in result.out and "[3/3]" not in result.out
    assert Run(folder / "runs" / "it" / "trial-002_seed-1").summary_file.stat().st_mtime_ns == before
    with Run(folder / "runs" / "it").locked():
        other = pkmn("tune", str(folder / "it.toml"), f"--save-dir={folder / 'runs'}")
        log = (folder / "runs" / "it" / STUDY_FILE).read_bytes()
        dry = pkmn("tune", str(folder / "it.toml"), f"--save-dir={folder / 'runs'}", "--dry-run")
        as_json = pkmn("tune", str(folder / "it.toml"), f"--save-dir={folder / 'runs'}", "--dry-run", "--json").out
    assert [one["number"] for one in json.loads(as_json)] == [0, 1, 2]
    assert len(json.loads(as_json)[2]["figures"]) == 2
    assert other.code == 5 and "is already running, in process " in other.err
    assert dry.code == 0 and dry.out.startswith("Tuning it: 3 trials of 2 seeds and 960 steps, 3 ended, 0 to go.")
    assert (folder / "runs" / "it" / STUDY_FILE).read_bytes() == log


@pytest.mark.long
def test_its_lines_fit_the_terminal(
    unbroken: tuple[str, str, Path], pkmn: Pkmn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words are whole, and only the command to copy is wider than the screen."""
    *_, folder = unbroken
    monkeypatch.setattr(tables, "terminal_columns", lambda: 60)
    shown = pkmn("tune", str(folder / "it.toml"), f"--save-dir={folder / 'runs'}").out
    assert "\nImportance of settings: unknown until " in shown
    wide = [line for line in shown.splitlines() if len(line) > 60 and " " in line.strip()]
    assert [line.split("--preset")[0] for line in wide] == ["  pkmn train "]


@pytest.mark.timeout(600)
@pytest.mark.long
def test_ctrl_c_and_kill_lose_nothing(
    unbroken: tuple[str, str, Path],
    tmp_path: Path,
    assert_same_course: Callable[[Path, Path], None],
) -> None:
    """After an interrupt in the first trial and a kill in the last, whose training continues, the figures are equal."""
    (tmp_path / "it.toml").write_text(tuning())
    runs = tmp_path / "runs" / "it"
    process = command(tmp_path)
    wait_until(process, runs / "logs" / "trial-000_seed-0.txt", "Ctrl-C saves")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130, err
    assert err.endswith("Interrupted, and saved. Give the command again to resume.\n")
    with Run(runs / "trial-000_seed-0").locked():  # nobody trains it now
        pass

    process = command(tmp_path)
    wait_until(process, runs / "logs" / "trial-002_seed-0.txt", "Ctrl-C saves")
    process.kill()
    out, _ = process.communicate()
    assert "Trial 0 resumes: seed 0 from its checkpoint; seed 1 anew.\n" in out
    first = Run(runs / "trial-000_seed-0").summary_file
    before = first.stat().st_mtime_ns

    process = command(tmp_path)
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert "3 trials of 2 seeds and 960 steps, 2 ended, 1 to go." in out
    assert "Trial 2 resumes: seed 0 " in out and "[3/3] trial 2: " in out and "[2/3]" not in out
    assert first.stat().st_mtime_ns == before
    *_, folder = unbroken
    assert results(tmp_path) == results(folder)
    for name in ("trial-000_seed-0", "trial-002_seed-0", "trial-002_seed-1"):
        assert_same_course(runs / name, folder / "runs" / "it" / name)


@pytest.mark.long
def test_a_figure_that_there_is_not_ends_it(pkmn: Pkmn, tmp_path: Path) -> None:
    head = HEAD.replace("interval = 120", 'objective = "learner/td_eror"').replace("seeds = 2", "seeds = 1")
    (tmp_path / "it.toml").write_text(tuning(head, steps=100))
    result = pkmn("tune", "it.toml")
    assert result.code == 2 and "run trial-000_seed-0 has no metric 'learner/td_eror'" in result.err
    head = head.replace("learner/td_eror", "milestone/startr/share").replace('"it"', '"other"')
    (tmp_path / "it.toml").write_text(tuning(head, steps=100))
    result = pkmn("tune", "it.toml")
    assert (result.code, result.err) == (2, "'startr' is no milestone of this game: did you mean 'starter'?\n")


@pytest.mark.long
def test_trials_that_cannot_train_are_told_and_end_it(pkmn: Pkmn, tmp_path: Path) -> None:
    """Each failure is a line; without any other trial, the third failure ends the tuning."""
    (tmp_path / "it.toml").write_text(tuning(HEAD.replace("trials = 3", "trials = 9"), more="disk_limit_gb = 1e-9\n"))
    result = pkmn("tune", "it.toml")
    assert result.code == 1
    lines = [line for line in result.out.splitlines() if line.startswith("[")]
    assert [line.split(" failed with ")[0] for line in lines] == [
        f"[{number + 1}/9] trial {number}: failed, seed 0" for number in range(3)
    ]
    assert result.err.splitlines()[-1].startswith("all of the first 3 trials failed: seed 0 failed with exit code 5")


@pytest.mark.long
def test_a_run_that_measures_nothing_is_a_failed_trial(pkmn: Pkmn, tmp_path: Path) -> None:
    """Other trials continue, unlike with a metric that no run has."""
    (tmp_path / "it.toml").write_text(tuning(HEAD.replace("trials = 3", "trials = 2"), steps=10))
    result = pkmn("tune", "it.toml")
    assert result.code == 1
    assert [line.split(" has nothing ")[0].split(",")[0] for line in result.out.splitlines() if line[0:1] == "["] == [
        "[1/2] trial 0: failed",
        "[2/2] trial 1: failed",
    ]
    assert "Traceback" not in result.err


def test_a_folder_of_something_else_is_refused(pkmn: Pkmn, tmp_path: Path) -> None:
    (tmp_path / "it.toml").write_text(tuning())
    (tmp_path / "runs" / "it").mkdir(parents=True)
    (tmp_path / "runs" / "it" / "thesis.txt").write_text("mine")
    result = pkmn("tune", "it.toml")
    folder = tmp_path / "runs" / "it"
    assert (result.code, result.out) == (5, "")
    assert result.err == f"{folder} has no tuning, but thesis.txt: give the tuning another name, or empty that folder\n"
    assert [one.name for one in folder.iterdir()] == ["thesis.txt"]


def test_a_dry_run_writes_nothing(pkmn: Pkmn, tmp_path: Path) -> None:
    (tmp_path / "it.toml").write_text(tuning())
    result = pkmn("tune", "it.toml", "--dry-run", "--processes=4")
    assert result.code == 0
    assert "exploration.new_tile: 0 to 1" in result.out and "4 trainings at a time" in result.out
    assert pkmn("tune", "it.toml", "--dry-run", "--json").out == "[]\n"
    assert pkmn("tune", "it.toml", "--json").code == 2
    assert not (tmp_path / "runs").exists()


@pytest.mark.long
def test_a_combination_that_comes_again_is_not_trained_again(pkmn: Pkmn, tmp_path: Path) -> None:
    head = HEAD.replace("seeds = 2", "seeds = 1").replace("trials = 3", "trials = 4")
    space = '[space]\n"exploration.new_tile" = [0.25, 0.5]\n'
    (tmp_path / "it.toml").write_text(tuning(head, steps=120, space=space))
    result = pkmn("tune", "it.toml")
    assert result.code == 0, result.err
    assert sorted(one.values["exploration.new_tile"] for one in results(tmp_path)) == [0.25, 0.5]
    assert "All combinations of [space] were tried: it ends after 2 trials." in result.out
    assert len(list((tmp_path / "runs" / "it").glob("trial-*"))) == 2
