"""Parallel trainings of an experiment as processes, ended in good order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pkmncli.atomic_files import write_errors_explained
from pkmncli.errors import PkmnError, RunError
from pkmncli.experiments.standing import ExperimentRun
from pkmncli.training.interrupts import ENDS_WITH_INPUT

LOGS = "logs"
"""Folder of an experiment for the output of its trainings."""

STOPPING = "Stopping: the trainings are saved first. Ctrl-C again ends them at once."
"""Message of a command at the first Ctrl-C."""

LOOK_S = 0.1
"""Seconds between two looks at the processes."""

_STOP = signal.SIGINT if sys.platform != "win32" else signal.SIGTERM


@dataclass(frozen=True, slots=True)
class Ended:
    """Ended training: its exit code, and the last output line of a failed one."""

    one: ExperimentRun
    exit_code: int
    said: str = ""


class Trainings:
    """Processes of running trainings. A context that is left by an error first ends them in good order.

    Each process has a separate session: otherwise a terminal's Ctrl-C would reach it too, and a second one ends a
    training without saving. It saves and stops when the pipe at its standard input ends, at the latest with this
    process, in whatever way that ends. It holds its log locked, which shows that a training has outlived its parent.
    """

    def __init__(self) -> None:
        self._running: dict[subprocess.Popen[bytes], ExperimentRun] = {}
        self._asked: set[subprocess.Popen[bytes]] = set()

    def __len__(self) -> int:
        return len(self._running)

    def __enter__(self) -> Trainings:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        if kind is not None:  # a second interruption leaves no training behind
            if not issubclass(kind, Exception):
                self._asked.clear()
            self.interrupt()
            for process in self._running:
                process.wait()
                _close_input(process)

    def start(self, one: ExperimentRun) -> None:
        """Begin a training, or resume it.

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
        """Ask trainings to save and stop: all, or the named ones. Ask each only once: a second time would not save."""
        for process, one in self._running.items():
            if (names is None or one.name in names) and process not in self._asked and process.poll() is None:
                self._asked.add(process)
                process.send_signal(_STOP)

    def ended(self) -> list[Ended]:
        """Return the trainings that have ended since the last call."""
        found = []
        for process in [process for process in self._running if process.poll() is not None]:
            one = self._running.pop(process)
            _close_input(process)
            found.append(Ended(one, process.returncode, _last_line(log_of(one)) if process.returncode else ""))
        return found


def _close_input(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()


def run_side_by_side(
    runs: Iterable[ExperimentRun],
    processes: int,
    *,
    interrupted: Callable[[], bool],
    on_end: Callable[[Ended], None],
) -> None:
    """Train each run in a separate process, ``processes`` at a time, until all have ended.

    Once ``interrupted``, no training begins any more, and the running ones are asked to save and stop.
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
            time.sleep(LOOK_S)


def take_over(one: ExperimentRun) -> bool:
    """Wait for a training that has outlived its parent, which saves and stops. Return whether there was one."""
    log = log_of(one)
    if _is_free(log):
        return False
    while not _is_free(log):
        time.sleep(LOOK_S)
    return True


def log_of(one: ExperimentRun) -> Path:
    """Return the log file of a training's output."""
    return one.run.folder.parent / LOGS / f"{one.name}.txt"


def _hold(file: IO[bytes]) -> bool:
    """Lock an open file for all processes that inherit it. Return whether it was free; on Windows always True."""
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
    """Return the last line that is not empty, the error of a failed training."""
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
