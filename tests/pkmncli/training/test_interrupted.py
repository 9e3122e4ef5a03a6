"""Ctrl-C and SIGTERM save and stop, at whatever moment they come; what was saved can be used."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.processes import training_processes
from support.variants import long_after

from pkmncli.runs import Run
from pkmncli.training.checkpoints import retention as saving
from pkmncli.training.display.console import ConsoleProgress
from pkmncli.training.run_keeper import STOPPING
from pkmncli.training.trainer import Trainer
from pkmncli.training.workers.replacement import WorkerProcesses

Action = Callable[[], None]


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def before(owner: Any, name: str, action: Action, when: Callable[..., bool] = lambda *_: True) -> pytest.MonkeyPatch:
    """Does something once, just before a function is called for the first time with fitting arguments."""
    original, done = getattr(owner, name), False

    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        nonlocal done
        if not done and when(*arguments):
            done = True
            action()
        return original(*arguments, **keywords)

    patch = pytest.MonkeyPatch()
    patch.setattr(owner, name, wrapper)
    return patch


def at_step(step: int, action: Action = interrupt) -> pytest.MonkeyPatch:
    return before(Trainer, "_steps", action, lambda trainer: trainer.statistics.steps == step)


MOMENTS: dict[str, tuple[Callable[[], pytest.MonkeyPatch], int]] = {
    # the moment, and the step at which the training stops
    "the workers start": (lambda: before(WorkerProcesses, "_attach", interrupt), 0),
    "an update runs": (lambda: at_step(65), 66),
    "the first line is printed": (
        lambda: before(ConsoleProgress, "message", interrupt, lambda _progress, text: text.startswith("Starting ")),
        0,
    ),
    "in a checkpoint": (
        lambda: before(saving, "write_checkpoint", interrupt, lambda _folder, checkpoint, *_: checkpoint.step == 160),
        160,
    ),
    "its plan is printed": (
        lambda: before(ConsoleProgress, "message", interrupt, lambda _progress, text: text.startswith("Training ")),
        0,
    ),
    "the first checkpoint": (lambda: before(saving, "write_checkpoint", interrupt), 0),
    "the first step": (lambda: at_step(0), 1),
    "before anything is learned": (lambda: at_step(25), 26),
    "an episode ends": (lambda: at_step(29), 30),
    "just before a checkpoint": (lambda: at_step(79), 80),
    "the last step": (lambda: at_step(239), 240),
}


@contextlib.contextmanager
def patched(patch: pytest.MonkeyPatch) -> Iterator[None]:
    try:
        yield
    finally:
        patch.undo()


@pytest.mark.parametrize("moment", long_after(1, MOMENTS))
def test_ctrl_c_saves_and_stops(
    moment: str,
    pkmn: Callable[..., Any],
    shared_run: Callable[..., Path],
    small_training: list[str],
    assert_same_course: Callable[[Path, Path], None],
    tmp_path: Path,
) -> None:
    patch, stops_at = MOMENTS[moment]
    with patched(patch()):
        result = pkmn("train", *small_training, "--run-name=it")
    run = Run(tmp_path / "runs" / "it")
    assert result.code == 130
    assert result.err == f"{STOPPING}\n"
    assert result.out.splitlines()[-1] == "  pkmn train --resume runs/it"
    taken = f"{stops_at:,} step{'' if stops_at == 1 else 's'} in "
    assert (taken if stops_at else "No step was taken.") in result.out
    assert run.read_summary()["total_steps"] == stops_at
    assert run.checkpoints.names()[-1] == f"step-{stops_at:09d}"
    assert training_processes() == []

    if stops_at in (0, 66):
        played = pkmn("eval", "it", "--episodes=1", "--max-steps-per-episode=5", "--json")
        assert played.code == 0, played.err
    resumed = pkmn("train", "--resume", "it")
    assert resumed.code == 0, resumed.err
    assert_same_course(run.folder, shared_run())


@pytest.mark.skipif(not hasattr(signal, "SIGXCPU"), reason="processor time has no limit")
@pytest.mark.long
def test_a_limit_of_processor_time_saves_and_stops_however_often_it_is_signalled(
    pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    def limit() -> None:
        for _ in range(3):
            signal.raise_signal(signal.SIGXCPU)

    with patched(at_step(65, limit)):
        result = pkmn("train", *small_training, "--run-name=it")
    assert (result.code, result.err) == (128 + signal.SIGXCPU, f"{STOPPING}\n")
    assert Run(tmp_path / "runs" / "it").checkpoints.names()[-1] == "step-000000066"


@pytest.mark.long
@pytest.mark.parametrize("moment", ["a step", "a checkpoint"])
def test_a_second_ctrl_c_stops_at_once_and_keeps_the_checkpoint_before(
    moment: str,
    pkmn: Callable[..., Any],
    shared_run: Callable[..., Path],
    small_training: list[str],
    assert_same_course: Callable[[Path, Path], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def twice() -> None:
        interrupt()
        interrupt()

    def arm() -> None:
        monkeypatch.setattr(os, "fsync", lambda _descriptor: twice())  # when all but its last file is written

    if moment == "a step":
        patch = at_step(100, twice)
    else:
        patch = before(saving, "write_checkpoint", arm, lambda _folder, checkpoint, *_: checkpoint.step == 160)
    with patched(patch):
        result = pkmn("train", *small_training, "--run-name=it")
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    run = Run(tmp_path / "runs" / "it")
    assert result.code == 130
    last_words = "Stopped without saving. Go on from the last checkpoint: pkmn train --resume runs/it"
    assert result.err.splitlines() == [STOPPING, last_words]
    assert run.checkpoints.names()[-1] == "step-000000080"
    assert [path.name for path in run.checkpoints.folder.iterdir() if ".tmp" in path.name] == []
    assert training_processes() == []
    assert pkmn("train", "--resume", "it").code == 0
    assert_same_course(run.folder, shared_run())


def test_a_second_ctrl_c_before_the_first_checkpoint_names_none(
    pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    def twice() -> None:
        interrupt()
        interrupt()

    with patched(before(saving, "write_checkpoint", twice)):
        result = pkmn("train", *small_training, "--run-name=it")
    folder = tmp_path / "runs" / "it"
    assert result.code == 130
    last_words = f"Stopped before anything was saved: {folder} can't go on; begin anew."
    assert result.err.splitlines() == [STOPPING, last_words]
    assert Run(folder).checkpoints.names() == []


@pytest.mark.long
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_to_the_whole_group_of_processes_saves_and_stops(
    number: signal.Signals, code: int, pkmn: Callable[..., Any], small_training: list[str], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "pkmncli", "train", *small_training, "--steps=100000", "--envs=2", "--run-name=it"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "Starting 2 environments and dqn.\n"
    assert "steps with 2 environments" in process.stdout.readline()
    os.killpg(process.pid, number)  # as a terminal does, and timeout(1), and most schedulers of jobs
    out, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (code, f"{STOPPING}\n")
    assert "lost" not in out
    assert out.splitlines()[-1] == "  pkmn train --resume runs/it"
    assert pkmn("eval", "--episodes=1", "--max-steps-per-episode=5").code == 0
