"""Runs the trainings of an experiment as processes, some at a time, and ends them in good order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pkmncli.atomic_files import write_errors_explained
from pkmncli.errors import PkmnError, RunError
from pkmncli.experiments.standing import ExperimentRun
from pkmncli.training.interrupts import ENDS_WITH_INPUT

LOGS = "logs"
"""Folder of an experiment for what its trainings print."""

STOPPING = "Stopping: the trainings are saved first. Ctrl-C again ends them at once."
"""Message of a command at the first Ctrl-C."""

LOOK_S = 0.1
"""Time between two looks at the processes."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Ended training with its exit code; if it failed, with the last line that it printed."""

    one: ExperimentRun
    exit_code: int
    said: str = ""


class Trainings:
    """Processes of running trainings; when the context is left by an error, they save and stop first.

    Each has its own session: a terminal's Ctrl-C would reach it too, and a second Ctrl-C ends a training without
    saving. It saves and stops when its standard input, a pipe, ends: with this process at the latest. Its output
    goes to a log that it keeps locked, so that a training which outlived the process that began it can be recognised.
    """

    def __init__(self) -> None:
        self._running: dict[subprocess.Popen[bytes], ExperimentRun] = {}
        self._asked: set[subprocess.Popen[bytes]] = set()

    def __len__(self) -> int:
        return len(self._running)

    @property
    def running(self) -> list[ExperimentRun]:
        """The trainings whose process was running at the last look."""
        return list(self._running.values())

    def __enter__(self) -> Trainings:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        if kind is not None:  # a second signal leaves no training behind
            if not issubclass(kind, Exception):
                self._asked.clear()
            self.interrupt()
            for process in self._running:
                process.wait()
                _close_input(process)

    def start(self, one: ExperimentRun) -> None:
        """Begin or resume a training.

        Raises:
            RunError: another process trains it, or its log cannot be written.
        """
        log = log_of(one)
        with write_errors_explained(log):
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("ab") as file:
                if not _hold(file):
                    raise RunError(f"{one.run.folder} is still being trained by an earlier command: wait, or stop that")
                one.clear()
                process = subprocess.Popen(
                    one.command(),
                    stdin=subprocess.PIPE,
                    stdout=file,
                    stderr=file,
                    env={**os.environ, ENDS_WITH_INPUT: "1"},
                    start_new_session=True,
                )
        self._running[process] = one

    def interrupt(self, names: Container[str] | None = None) -> None:
        """Ask trainings to save and stop: all, or those named. Each is asked once: twice would not save."""
        for process, one in self._running.items():
            if (names is None or one.name in names) and process not in self._asked and process.poll() is None:
                self._asked.add(process)
                ask_to_stop(process)

    def ended(self) -> list[Ended]:
        """Return the trainings that ended since the last call."""
        found = []
        for process in [process for process in self._running if process.poll() is not None]:
            one = self._running.pop(process)
            _close_input(process)
            found.append(Ended(one, process.returncode, _last_line(log_of(one)) if process.returncode else ""))
        return found


def ask_to_stop(process: subprocess.Popen[bytes], *, by_input: bool = sys.platform == "win32") -> None:
    """Ask a training to save and stop.

    Args:
        process: the training, begun with ``ENDS_WITH_INPUT`` and a pipe as its standard input.
        by_input: end its input instead of sending a signal, which on Windows would end it without saving. A training
            whose input has ended already was asked before, and is ended at once.
    """
    if not by_input:
        process.send_signal(signal.SIGINT)
    elif process.stdin is not None and process.stdin.closed:
        process.kill()
    else:
        _close_input(process)


def _close_input(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()


def run_side_by_side(
    runs: Iterable[ExperimentRun],
    processes: int,
    *,
    interrupted: Callable[[], bool],
    on_end: Callable[[Ended], None],
    on_look: Callable[[Sequence[ExperimentRun]], None] = lambda running: None,
) -> None:
    """Train each run in its own process, ``processes`` at a time, until all have ended.

    Once ``interrupted``, no training begins any more, and running ones are asked to save and stop. ``on_look`` takes
    the running ones at every look.
    """
    waiting, asked = deque(runs), False
    with Trainings() as trainings:
        while trainings or (waiting and not interrupted()):
            while waiting and len(trainings) < processes and not interrupted():
                one = waiting.popleft()
                try:
                    trainings.start(one)
                except PkmnError as error:
                    on_end(Ended(one, error.exit_code, str(error)))
            if interrupted() and not asked:
                asked = True
                trainings.interrupt()
            for end in trainings.ended():
                on_end(end)
            on_look(trainings.running)
            time.sleep(LOOK_S)


def take_over(one: ExperimentRun) -> bool:
    """Wait for a training that outlived the process that began it. Return True if there was one."""
    log = log_of(one)
    if _is_free(log):
        return False
    while not _is_free(log):
        time.sleep(LOOK_S)
    return True


def log_of(one: ExperimentRun) -> Path:
    """Return the file of a training's output."""
    return one.run.folder.parent / LOGS / f"{one.name}.txt"


def _hold(file: IO[bytes]) -> bool:
    """Lock an open file for all processes that inherit it. Return True if it was free; on Windows always."""
    if sys.platform == "win32":
        return True
    import fcntl  # noqa: PLC0415 - Windows has none

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_free(log: Path) -> bool:
    if not log.exists():
        return True
    with log.open("ab") as file:
        return _hold(file)


def _last_line(log: Path) -> str:
    """Return the last line that is not empty: the error of a failed training."""
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
