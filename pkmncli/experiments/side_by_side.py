"""Runs the trainings of an experiment as processes, some at a time, and ends them in good order."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pkmncli.atomic_files import write_errors_explained
from pkmncli.errors import PkmnError
from pkmncli.experiments.standing import ExperimentRun

LOGS = "logs"
"""Folder of an experiment for what its trainings print."""

LOOK_S = 0.1
"""Time between two looks at the processes."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A training that ended: its exit code, and of one that failed the last thing that it said."""

    one: ExperimentRun
    exit_code: int
    said: str = ""


def run_side_by_side(
    runs: Iterable[ExperimentRun],
    processes: int,
    *,
    interrupted: Callable[[], bool],
    on_end: Callable[[Ended], None],
) -> None:
    """Trains each run in a process of its own, ``processes`` at a time, until all have ended.

    Once ``interrupted``, none begins any more, and those that run are asked to save and stop. They are in a session of
    their own, since a terminal's Ctrl-C would reach them too, and a second one ends a training without saving.
    """
    waiting, running = deque(runs), dict[subprocess.Popen[bytes], ExperimentRun]()
    asked = False
    try:
        while running or (waiting and not interrupted()):
            while waiting and len(running) < processes and not interrupted():
                one = waiting.popleft()
                try:
                    running[_start(one)] = one
                except PkmnError as error:
                    on_end(Ended(one, error.exit_code, str(error)))
            if interrupted() and not asked:
                asked = True
                _interrupt(running)
            for process in [process for process in running if process.poll() is not None]:
                one = running.pop(process)
                on_end(Ended(one, process.returncode, _last_line(_log(one)) if process.returncode else ""))
            time.sleep(LOOK_S)
    except BaseException:
        _interrupt(running)  # whoever insists on ending does not leave trainings behind
        for process in running:
            process.wait()
        raise


def _start(one: ExperimentRun) -> subprocess.Popen[bytes]:
    one.clear()
    log = _log(one)
    with write_errors_explained(log):
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as file:
            return subprocess.Popen(
                one.command(), stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
            )


def _interrupt(running: Iterable[subprocess.Popen[bytes]]) -> None:
    for process in running:
        if process.poll() is None:
            process.send_signal(signal.SIGINT if sys.platform != "win32" else signal.SIGTERM)


def _log(one: ExperimentRun) -> Path:
    return one.run.folder.parent / LOGS / f"{one.name}.txt"


def _last_line(log: Path) -> str:
    """The last line that is not empty: what a training that fails says."""
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
