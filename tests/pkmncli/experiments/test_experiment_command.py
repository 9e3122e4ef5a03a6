"""``pkmn experiment``: trains missing runs, resumes started ones, and leaves finished ones alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from support.variants import long_after

from pkmncli import tables
from pkmncli.runs import Run
from pkmncli.training.display import progress

Pkmn = Callable[..., Any]


@pytest.fixture
def experiment(small_training: list[str], tmp_path: Path) -> Callable[..., Path]:
    """Write the file of an experiment with small trainings, under ``it.toml``."""

    def write(seeds: str, *, grid: str = "", processes: int = 2, **changes: str) -> Path:
        settings = {}
        for option in small_training:
            name, _, value = option.removeprefix("--set=").removeprefix("--").partition("=")
            settings[name if "." in name else name.replace("-", "_")] = value
        lines = [f'"{name}" = {value}' for name, value in {**settings, **changes}.items()]
        head = f'[experiment]\nname = "it"\nseeds = {seeds}\nprocesses = {processes}\n[settings]\n'
        path = tmp_path / "it.toml"
        path.write_text(head + "\n".join(lines) + f"\n{grid}")
        return path

    return write


@pytest.fixture
def finished(shared_run: Callable[..., Path], tmp_path: Path) -> Callable[[str], Run]:
    """Put a finished training into the experiment's folder."""

    def put(name: str) -> Run:
        return Run(shutil.copytree(shared_run(), tmp_path / "runs" / "it" / name))

    return put


def begun_again(run: Run) -> None:
    """Leave a run as if interrupted after 160 of its 240 steps."""
    shutil.rmtree(run.checkpoints.path(240))
    run.write_summary({**run.read_summary(), "total_steps": 160})


@pytest.mark.long
def test_what_is_missing_is_trained_and_all_is_compared(
    experiment: Callable[..., Path],
    finished: Callable[[str], Run],
    pkmn: Pkmn,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first run is new, others are finished, interrupted or broken, which does not affect the others."""
    experiment("[0, 1, 2, 3]")
    done, cut_off, broken = (finished(f"seed-{seed}") for seed in (0, 1, 2))
    before = done.summary_file.stat().st_mtime_ns
    begun_again(cut_off)
    begun_again(broken)
    for meta in broken.folder.glob("checkpoints/*/meta.json"):
        meta.write_text("")
    leftover = tmp_path / "runs" / "it" / "seed-3"
    leftover.mkdir()
    shutil.copy(done.versions_file, leftover)  # ended before it saved anything

    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    result = pkmn("experiment", "it.toml")
    assert result.code == 1
    shares = [int(share) for share in re.findall(r"^all runs: (\d+)%", result.err, re.MULTILINE)]
    assert shares == sorted(shares) and shares[0] < 60 and shares[-1] >= 60
    assert "Experiment it: 4 runs, 1 new, 2 begun, 1 finished; 2 at a time, 400 steps to go." in result.out
    lines = {line.split()[1]: line for line in result.out.splitlines() if line.startswith("[")}
    assert lines["seed-0:"].startswith("[1/4] seed-0: finished before, 240 steps, reward ")
    assert ": 240 steps, reward " in lines["seed-1:"] and ": 240 steps, reward " in lines["seed-3:"]
    assert ": failed with exit code 5: " in lines["seed-2:"]
    assert result.err.endswith("1 of 4 runs failed: seed-2. Give the command again to resume them.\n")
    assert "\ndqn         3 " in result.out, "the three that are finished are compared"

    assert done.summary_file.stat().st_mtime_ns == before
    assert "--resume" in cut_off.command_file.read_text()
    new = Run(leftover)
    assert new.read_summary()["total_steps"] == 240
    assert "--seed 3" in new.command_file.read_text()
    assert (tmp_path / "runs" / "it" / "experiment.toml").read_text() == (tmp_path / "it.toml").read_text()


@pytest.mark.parametrize("width", [60, 80, None])
def test_its_lines_fit_the_terminal_and_its_commands_can_be_copied(
    width: int | None,
    experiment: Callable[..., Path],
    finished: Callable[[str], Run],
    pkmn: Pkmn,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    experiment("2")
    finished("seed-0"), finished("seed-1")
    monkeypatch.setattr(tables, "terminal_columns", lambda: width)
    result = pkmn("experiment", "it.toml")
    assert result.code == 0, result.err
    commands = result.out.partition("\nNext:\n")[2].splitlines()
    whole = ["  pkmn plot runs/it", "  pkmn compare runs/it --format json"]
    if width is None:
        assert [command.rstrip() for command, _ in (line.rsplit("  ", 1) for line in commands)] == whole
    else:
        for command in whole:
            assert any(line == command or line.startswith(f"{command}  ") for line in commands)
        too_long = [line for line in result.out.splitlines() if len(line) > width and line not in whole]
        assert not [line for line in too_long if " " in line.strip()], "only a long word is wider than the screen"


@pytest.fixture
def two_that_train(experiment: Callable[..., Path], tmp_path: Path) -> tuple[subprocess.Popen[str], list[Run]]:
    """Start an experiment in its own process; return it and its two runs, once they train."""
    experiment("2", steps="1_000_000", save_interval="500_000")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PKMN_")}
    command = [sys.executable, "-m", "pkmncli", "experiment", "it.toml"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    runs = [Run(tmp_path / "runs" / "it" / f"seed-{seed}") for seed in range(2)]
    logs = [run.folder.parent / "logs" / f"{run.name}.txt" for run in runs]
    while process.poll() is None and not all(log.exists() and "Ctrl-C saves" in log.read_text() for log in logs):
        time.sleep(0.05)
    return process, runs


def assert_saved(runs: list[Run]) -> None:
    """Assert that nobody trains the runs, and that each was saved when it stopped."""
    for run in runs:
        with run.locked():
            meta = json.loads((run.checkpoints.resolve() / "meta.json").read_text())
        assert meta["step"] == run.read_summary()["total_steps"]


@pytest.mark.long
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_signal_saves_all_trainings(
    number: signal.Signals, code: int, two_that_train: tuple[subprocess.Popen[str], list[Run]], pkmn: Pkmn
) -> None:
    process, runs = two_that_train
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert err.endswith("Interrupted, and saved. Give the command again to resume.\n")
    assert out.count(": stopped, ") == 2
    assert_saved(runs)
    listed = pkmn("experiment", "it.toml", "--dry-run")
    assert listed.out.splitlines() == [f"begun     {run.folder}" for run in runs]


@pytest.mark.long
@pytest.mark.parametrize("asked_before", [False, True])
def test_its_trainings_save_and_stop_where_it_is_killed(
    asked_before: bool, two_that_train: tuple[subprocess.Popen[str], list[Run]]
) -> None:
    process, runs = two_that_train
    trainings = psutil.Process(process.pid).children(recursive=True)
    if asked_before:  # then its end is not a second request, which would not save
        process.send_signal(signal.SIGINT)
    process.kill()
    process.communicate(timeout=60)
    _, alive = psutil.wait_procs(trainings, timeout=60)
    assert not alive
    assert_saved(runs)


def test_a_dry_run_lists_and_writes_nothing(
    experiment: Callable[..., Path], finished: Callable[[str], Run], pkmn: Pkmn, tmp_path: Path
) -> None:
    experiment("2", grid='[[grid]]\nmode = ["adaptive", "rl-only"]\n')
    finished("mode-adaptive_seed-0")
    begun_again(finished("mode-adaptive_seed-1"))
    result = pkmn("experiment", "it.toml", "--dry-run")
    assert (result.code, result.err) == (0, "")
    folder = tmp_path / "runs" / "it"
    assert result.out.splitlines() == [
        f"finished  {folder / 'mode-adaptive_seed-0'}",
        f"begun     {folder / 'mode-adaptive_seed-1'}",
        f"new       {folder / 'mode-rl-only_seed-0'}",
        f"new       {folder / 'mode-rl-only_seed-1'}",
    ]
    assert sorted(path.name for path in folder.iterdir()) == ["mode-adaptive_seed-0", "mode-adaptive_seed-1"]


def test_a_longer_budget_begins_nothing_anew(
    experiment: Callable[..., Path], finished: Callable[[str], Run], pkmn: Pkmn
) -> None:
    experiment("1", steps="320")
    run = finished("seed-0")
    assert pkmn("experiment", "it.toml", "--dry-run").out == f"begun     {run.folder}\n"


def test_a_run_with_other_settings_is_not_taken_over(
    experiment: Callable[..., Path], finished: Callable[[str], Run], pkmn: Pkmn
) -> None:
    experiment("1", **{"dqn.batch_size": "16"})
    run = finished("seed-0")
    result = pkmn("experiment", "it.toml")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        f"run {run.folder} was made with dqn.batch_size = 8, and now it is 16: "
        "give the experiment another name, or delete that run\n"
    )


@pytest.mark.parametrize(
    ("grid", "expected"),
    [
        ("[[grid]]\ndqn.gama = [0.9, 0.8]\n", "gama-0.9_seed-0: unknown setting 'dqn.gama'"),
        ("[[grid]]\ndqn.gamma = [0.9, 2.0]\n", "gamma-2.0_seed-0: setting 'dqn.gamma' = 2.0"),
        ('[[grid]]\nrl = ["dqn", "dqm"]\n', "did you mean 'dqn'?"),
        ('[[grid]]\nmode = ["rl-only"]\nrl = ["dqn", "none"]\n', "mode rl-only needs a learner"),
        ("[[gird]]\n", "'gird' is no table of an experiment: did you mean 'grid'?"),
    ],
)
def test_what_is_wrong_is_told_before_anything_begins(
    grid: str, expected: str, experiment: Callable[..., Path], pkmn: Pkmn, tmp_path: Path
) -> None:
    experiment("1", grid=grid)
    result = pkmn("experiment", "it.toml")
    assert (result.code, result.out) == (2, "")
    assert expected in result.err and result.err.count("\n") == 1
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(("name", "runs"), long_after(1, [("discount", 9), ("take_over", 30), ("demonstrations", 30)]))
def test_the_examples_can_be_run(name: str, runs: int, pkmn: Pkmn) -> None:
    result = pkmn("experiment", str(Path(__file__).parents[3] / "examples" / f"{name}.toml"), "--dry-run")
    assert (result.code, result.err) == (0, "")
    assert len(result.out.splitlines()) == runs
