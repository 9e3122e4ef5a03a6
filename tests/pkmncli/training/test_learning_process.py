"""A training whose learning moves to a process takes the same course, and leaves no process behind."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.crash import LEARN_IN_A_PROCESS, learn_in_a_process
from support.killed_training import train_until
from support.processes import orphans, training_processes

from pkmncli.learners import learning_process

SECONDS_TO_END = 20


@pytest.fixture
def moves_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning_process, "MOVES_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(learning_process.LearningProcess, "ready", learning_process.LearningProcess.ready)
    learn_in_a_process()


@pytest.mark.long
@pytest.mark.usefixtures("moves_at_once")
def test_it_takes_the_course_of_one_that_learns_in_its_thread(
    pkmn: Callable[..., Any],
    shared_run: Callable[..., Path],
    small_training: list[str],
    assert_same_course: Callable[[Path, Path], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    moved = []
    calls = learning_process.LearningProcess.call

    def counted(process: Any, name: str, *arguments: Any) -> Any:
        moved.append(name)
        return calls(process, name, *arguments)

    monkeypatch.setattr(learning_process.LearningProcess, "call", counted)
    assert pkmn("train", *small_training, "--mode=adaptive", "--envs=2", "--run-name=it").code == 0
    assert training_processes() == []
    assert moved.count("state_dict") == 3, "at every checkpoint after it had moved"
    assert moved.count("learn") > 40
    assert_same_course(tmp_path / "runs" / "it", shared_run("adaptive", 2))


@pytest.mark.long
def test_killed_it_goes_on_as_if_nothing_had_happened(
    pkmn: Callable[..., Any],
    shared_run: Callable[..., Path],
    small_training: list[str],
    assert_same_course: Callable[[Path, Path], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv(LEARN_IN_A_PROCESS, "1")
    before = orphans()
    arguments = [*small_training, "--mode=rl-only", "--envs=1", "--run-name=it"]
    train_until(("open", ".step-000000160.tmp/meta.json", 1), tmp_path, *arguments)
    assert pkmn("train", "--resume", "it").code == 0
    assert_same_course(tmp_path / "runs" / "it", shared_run("rl-only", 1))
    ends = time.monotonic() + SECONDS_TO_END
    while mine := orphans() - before:
        assert time.monotonic() < ends, f"left behind: {mine}"
        time.sleep(0.2)


@pytest.mark.long
@pytest.mark.usefixtures("moves_at_once")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_that_is_killed_or_stopped_changes_nothing(
    number: signal.Signals,
    pkmn: Callable[..., Any],
    shared_run: Callable[..., Path],
    small_training: list[str],
    assert_same_course: Callable[[Path, Path], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    calls = learning_process.LearningProcess.call
    learned = 0

    def hit(process: Any, name: str, *arguments: Any) -> Any:
        nonlocal learned
        learned += name == "learn"
        if learned == 30 and name == "learn":
            os.kill(process.process.pid, number)
        return calls(process, name, *arguments)

    monkeypatch.setattr(learning_process.LearningProcess, "call", hit)
    monkeypatch.setattr(learning_process, "SECONDS_TO_ANSWER", 0.5)
    ended = pkmn("train", *small_training, "--mode=rl-only", "--run-name=it")
    assert ended.code == 0, ended.err
    assert "the process that learns " in ended.err and "nothing is lost" in ended.err
    assert_same_course(tmp_path / "runs" / "it", shared_run("rl-only", 1))
