"""Processes side by side: never more than asked for, and all of them ended in good order. They are small ones here."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pkmncli.errors import RunError
from pkmncli.experiments.side_by_side import Ended, Trainings, ask_to_stop, run_side_by_side, take_over

COUNTS_ITSELF = """
import pathlib, time
folder = pathlib.Path({folder!r})
mine = folder / "running-{name}"
mine.touch()
deadline = time.monotonic() + 0.3
while time.monotonic() < deadline:
    (folder / f"seen-{name}-{{len(list(folder.glob('running-*')))}}").touch()
mine.unlink()
"""
WAITS = """
import pathlib, signal, sys, time
def stop(number, frame):
    sys.exit(130)
signal.signal(signal.SIGINT, stop)
pathlib.Path({folder!r}, "ready-{name}").touch()
while True:
    time.sleep(0.05)
"""
INSISTS = WAITS.replace(
    "sys.exit(130)",
    "signal.signal(signal.SIGINT, lambda *_: sys.exit(1)); pathlib.Path({folder!r}, 'asked-{name}').touch()",
)


@pytest.fixture
def make(tmp_path: Path) -> Callable[[str, str], Any]:
    """A stand-in for a training: a process that runs a few lines of Python."""

    def make(name: str, code: str) -> Any:
        command = [sys.executable, "-c", code.format(folder=str(tmp_path), name=name)]
        run = SimpleNamespace(folder=tmp_path / "runs" / name)
        return SimpleNamespace(name=name, run=run, command=lambda: command, clear=lambda: None)

    return make


@pytest.mark.long
def test_never_more_at_a_time_than_asked_for(make: Callable[[str, str], Any], tmp_path: Path) -> None:
    ended: list[Ended] = []
    runs = [make(str(number), COUNTS_ITSELF) for number in range(4)]
    run_side_by_side(runs, 2, interrupted=lambda: False, on_end=ended.append)
    assert sorted(end.one.name for end in ended) == ["0", "1", "2", "3"]
    assert {end.exit_code for end in ended} == {0}
    seen = {int(path.name.rpartition("-")[2]) for path in tmp_path.glob("seen-*")}
    assert seen == {1, 2}


def test_one_that_fails_says_why_and_the_others_go_on(make: Callable[[str, str], Any], tmp_path: Path) -> None:
    ended: list[Ended] = []
    failing = make("failing", "import sys; print('the disk is full\\n', file=sys.stderr); sys.exit(5)")
    blocked = make("blocked", "")

    def in_use() -> None:
        raise RunError("run blocked is in use by process 7")

    blocked.clear = in_use
    runs = [failing, blocked, make("good", "print('done')")]
    run_side_by_side(runs, 1, interrupted=lambda: False, on_end=ended.append)
    assert {end.one.name: (end.exit_code, end.said) for end in ended} == {
        "failing": (5, "the disk is full"),
        "blocked": (5, "run blocked is in use by process 7"),
        "good": (0, ""),
    }
    assert (tmp_path / "runs" / "logs" / "good.txt").read_text() == "done\n"


def test_an_interrupt_stops_those_that_run_and_begins_no_other(make: Callable[[str, str], Any], tmp_path: Path) -> None:
    ended: list[Ended] = []
    runs = [make(name, WAITS) for name in ("one", "two", "three")]
    run_side_by_side(runs, 2, interrupted=lambda: len(list(tmp_path.glob("ready-*"))) == 2, on_end=ended.append)
    assert sorted((end.one.name, end.exit_code) for end in ended) == [("one", 130), ("two", 130)]
    assert not (tmp_path / "ready-three").exists()


def test_who_insists_leaves_no_process_behind(make: Callable[[str, str], Any], tmp_path: Path) -> None:
    """A second Ctrl-C, here while the first is being obeyed, is passed on and ends everything."""

    def interrupted() -> bool:
        if (tmp_path / "asked-one").exists():  # before that, two signals would come as one
            signal.raise_signal(signal.SIGINT)
        return (tmp_path / "ready-one").exists()

    ended: list[Ended] = []
    with pytest.raises(KeyboardInterrupt):
        run_side_by_side([make("one", INSISTS)], 1, interrupted=interrupted, on_end=ended.append)
    assert ended == []


def test_each_is_asked_once_to_stop(make: Callable[[str, str], Any], tmp_path: Path) -> None:
    """A second signal would end a training that is being saved; only whoever insists sends it."""
    code = WAITS.replace("sys.exit(130)", "pathlib.Path({folder!r}, 'asked-{name}').open('a').write('x')")
    code = code.replace("while True", "while not pathlib.Path({folder!r}, 'enough').exists()")
    trainings = Trainings()
    trainings.start(make("one", code))
    while not (tmp_path / "ready-one").exists():
        time.sleep(0.01)
    trainings.interrupt({"another"})
    trainings.interrupt({"one"})
    trainings.interrupt()
    while not (tmp_path / "asked-one").exists():
        time.sleep(0.01)
    (tmp_path / "enough").touch()
    while trainings:
        trainings.ended()
    assert (tmp_path / "asked-one").read_text() == "x"


def test_where_a_signal_would_not_save_the_end_of_the_input_asks_to_stop(tmp_path: Path) -> None:
    """As on Windows; whoever was asked in vain is ended at once."""
    obeys = [sys.executable, "-c", "import sys; sys.stdin.read(); sys.exit(143)"]
    with subprocess.Popen(obeys, stdin=subprocess.PIPE) as process:
        ask_to_stop(process, by_input=True)
        assert process.wait() == 143
    ignores = [sys.executable, "-c", "import time\nwhile True:\n    time.sleep(1)"]
    with subprocess.Popen(ignores, stdin=subprocess.PIPE) as process:
        ask_to_stop(process, by_input=True)
        assert process.poll() is None
        ask_to_stop(process, by_input=True)
        assert process.wait() == -signal.SIGKILL


@pytest.mark.skipif(sys.platform == "win32", reason="files have no such locks there")
def test_one_that_outlived_its_command_is_told_and_taken_over(make: Callable[[str, str], Any], tmp_path: Path) -> None:
    orphan = make("one", WAITS.replace("while True:\n    time.sleep(0.05)", "sys.stdin.read()\nsys.exit(143)"))
    assert not take_over(orphan), "nobody has begun it"
    started: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", Noted)
        first = Trainings()
        first.start(orphan)
    with pytest.raises(RunError, match="is still being trained by an earlier command"):
        Trainings().start(orphan)
    (process,) = started
    assert process.stdin is not None
    process.stdin.close()  # as if this process had ended
    assert take_over(orphan)
    assert process.wait() == 143
    assert not take_over(orphan)
