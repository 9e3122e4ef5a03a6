"""The contract with any environment: twelve kinds are trained, killed, resumed, evaluated, replayed and compared."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.killed_training import train_until
from support.terminal_session import terminal_session
from support.toy_environments import KINDS, training_of
from support.warm_python import WarmProcess

from pkmncli.training.recording.counters import RECENT_EPISODES

STEPS = 240
SMALL = (f"--steps={STEPS}", "--save-interval=80", "--final-episodes=2")
IN_THE_MIDDLE = ("os.rename", ".step-000000160.tmp", 1)
SLOW_STEPS = 640
SLOW = ("--env-arg=step_s=0.05", f"--steps={SLOW_STEPS}", "--save-interval=320", "--final-episodes=0")
"""Over thirty seconds, after which a training without a terminal prints its state."""

Course = Callable[[Path], dict[str, Any]]
SameCourse = Callable[[Path, Path], None]


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environments are a package on the path of every process."""
    tests = str(Path(__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")]))
    for name in [name for name in os.environ if name.startswith("PKMN_")]:
        monkeypatch.delenv(name)


def piped(folder: Path, *arguments: str) -> str:
    """Run ``pkmn`` with its output in pipes, expect success without a traceback, and return standard output."""
    with WarmProcess(*arguments, cwd=folder) as process:
        out, error = process.communicate()
    assert process.returncode == 0, (arguments, error)
    assert "Traceback" not in out + error and "\x1b" not in out + error, (arguments, out + error)
    return out


def read_json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def check_every_reader(say: Callable[..., str], course: Course, folder: Path, name: str, run: str, other: str) -> None:
    """Evaluate, replay, analyse and compare a run; expect of success what the environment said, and no more."""
    kind = KINDS[name]
    found = course(folder / "runs" / run)
    summary, outcomes = found["summary"], [row["outcome"] for row in found["episodes"] if row["purpose"] == "train"]
    assert len(outcomes) > 3
    assert kind.success or set(outcomes) <= {"ended", "time-limit"}
    recent = outcomes[-RECENT_EPISODES:]
    expected = recent.count("goal") / len(recent) if kind.success else None
    assert summary["success_rate"] == (None if expected is None else pytest.approx(expected))
    evaluated = json.loads(say("eval", run, "--episodes=2", "--no-baselines", "--json"))
    assert evaluated["episodes"] == 2
    assert evaluated["goal"] == summary["learner_alone"]["goal"] == ("success" if kind.success else None)
    assert set(evaluated["metrics"]) == set(summary["metrics"]) == set(kind.metrics)
    assert "The replay agrees" in say("replay", run, "--verify")

    names = read_json(folder / "runs" / run / "names.json")["actions"]
    assert len(names) == kind.actions
    patterns = json.loads(say("analyze-patterns", run, "--min-frequency=1", "--format=json", "--limit=500"))["patterns"]
    assert {pattern["action_name"] for pattern in patterns} == {names[row["action"]] for row in found["decisions"]}
    compared = json.loads(say("compare", run, other, "--format=json"))["groups"]
    assert sorted(name for group in compared for name in group["runs"]) == sorted([run, other])


@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_a_killed_training_resumes_exactly_and_every_command_reads_it(
    name: str, course: Course, assert_same_course: SameCourse, tmp_path: Path
) -> None:
    training = [*training_of(name), *SMALL]
    said = piped(tmp_path, "train", *training, "--run-name=whole")
    assert "held-out starts, then random play." in said
    assert "pilot" not in said and "milestone" not in said
    train_until(IN_THE_MIDDLE, tmp_path, *training, "--run-name=killed")
    piped(tmp_path, "train", "--resume", "killed")
    assert_same_course(tmp_path / "runs" / "killed", tmp_path / "runs" / "whole")
    check_every_reader(partial(piped, tmp_path), course, tmp_path, name, "whole", "killed")


@pytest.mark.long
@pytest.mark.parametrize("name", ["vector", "switches", "words"])
def test_every_command_reads_a_training_that_went_on(
    name: str, pkmn: Callable[..., Any], course: Course, tmp_path: Path
) -> None:
    def say(*arguments: str) -> str:
        result = pkmn(*arguments)
        assert result.code == 0, (arguments, result.err)
        return str(result.out)

    training = [*training_of(name), "--save-interval=60", "--final-episodes=1", "--quiet"]
    say("train", *training, "--steps=120", "--run-name=whole")
    say("train", *training, "--steps=60", "--run-name=longer")
    say("train", "--resume", "longer", "--steps=120", "--quiet")
    check_every_reader(say, course, tmp_path, name, "longer", "whole")


@pytest.mark.long
def test_environments_that_share_a_worker_change_nothing(assert_same_course: SameCourse, tmp_path: Path) -> None:
    training = [*training_of("trap"), *SMALL]
    piped(tmp_path, "train", *training, "--run-name=apart")
    piped(tmp_path, "train", *training, "--envs-per-worker=2", "--run-name=together")
    assert_same_course(tmp_path / "runs" / "together", tmp_path / "runs" / "apart")


@pytest.mark.long
def test_over_thirty_seconds_a_terminal_shows_a_view_and_a_pipe_gets_lines(
    assert_same_course: SameCourse, tmp_path: Path
) -> None:
    training = ["train", *training_of("vector"), *SLOW]
    with (
        terminal_session([*training, "--run-name=terminal"], tmp_path) as session,
        WarmProcess(*training, "--run-name=pipe", cwd=tmp_path) as process,
    ):
        session.wait_for(f"of {SLOW_STEPS} steps")
        out, error = process.communicate()
        assert session.end() == 0
        assert "Traceback" not in session.output
    assert process.returncode == 0, error
    assert re.search(r"\d%  [1-9]\d\d steps ", out), out
    assert "Traceback" not in out + error and "\x1b" not in out + error
    assert read_json(tmp_path / "runs" / "pipe" / "summary.json")["elapsed_s"] > 30
    assert_same_course(tmp_path / "runs" / "terminal", tmp_path / "runs" / "pipe")
