"""Parallel commands for benchmarks: each on its own two cores, all within a time limit, nothing done twice.

A job is a function that gets :class:`Cores` to run its commands on. It keeps its results in its own file, so that an
interrupted benchmark continues with what is missing.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

CORES_A_JOB = 2
EXIT_UNFINISHED = 3
"""Exit code of a benchmark that reached its time limit."""
SECONDS_TO_SAVE = 60.0
"""Seconds that an interrupted command has to save and end."""
LOOK_S = 0.5
"""Seconds between two checks of a running command."""


class OutOfTimeError(Exception):
    """The time limit is reached, or the benchmark was interrupted: the rest is for the next call."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__("out of time")
        self.seconds = seconds
        """Seconds that the command has run."""


class Cores:
    """Two cores, or all if there are too few, and the time until which commands may run on them."""

    def __init__(self, names: str, deadline: float, stopping: threading.Event) -> None:
        self._prefix = ("taskset", "-c", names) if names and shutil.which("taskset") else ()
        self._deadline, self._stopping = deadline, stopping

    def out_of_time(self) -> bool:
        """Return True if no command should begin or continue."""
        return self._stopping.is_set() or time.monotonic() >= self._deadline

    def run(self, command: Sequence[str], log: Path) -> tuple[str, float]:
        """Run a command. Return its output, and the seconds that it took.

        Raises:
            OutOfTimeError: there was not enough time; the command was interrupted so that it could save.
            SystemExit: it failed; the message says where its errors are.
        """
        if self.out_of_time():
            raise OutOfTimeError
        began = time.monotonic()
        with log.open("a", encoding="utf-8") as errors:
            process = subprocess.Popen(
                [*self._prefix, *command], stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
            )
            kill_at = float("inf")
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    printed, _ = process.communicate(timeout=LOOK_S)
                    break
                if time.monotonic() >= kill_at:
                    process.kill()
                elif kill_at == float("inf") and self.out_of_time():
                    kill_at = time.monotonic() + SECONDS_TO_SAVE
                    process.send_signal(signal.SIGINT)
        seconds = time.monotonic() - began
        if kill_at < float("inf"):
            raise OutOfTimeError(seconds)
        if process.returncode:
            raise SystemExit(f"{' '.join(command[2:6])} ended with {process.returncode}, see {log}")
        return printed, seconds


def pkmn(*arguments: str) -> list[str]:
    """Return the command line that a user would type."""
    return [sys.executable, "-m", "pkmncli", *arguments]


def kept(path: Path) -> Any:
    """Return the results that a job has kept in its file; None if it has not ended yet."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def keep(path: Path, found: Any) -> None:
    """Keep a job's results, wholly or not at all."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(found, indent=1), encoding="utf-8")
    part.replace(path)


def default_jobs() -> int:
    """Return the number of jobs for this machine."""
    return max(len(_own_cores()) // CORES_A_JOB, 1)


def run_jobs(jobs: Sequence[Callable[[Cores], None]], side_by_side: int, limit_s: float | None) -> bool:
    """Run jobs, ``side_by_side`` at a time. Return True if all have ended; Ctrl-C saves running ones.

    Args:
        jobs: in their order; each keeps its results.
        side_by_side: number of parallel jobs.
        limit_s: seconds after which running jobs are interrupted; None for no limit.

    Raises:
        SystemExit: a command failed; the other jobs have continued.
    """
    stopping = threading.Event()
    deadline = time.monotonic() + (float("inf") if limit_s is None else limit_s)
    free: queue.SimpleQueue[str] = queue.SimpleQueue()
    names, each = _own_cores(), CORES_A_JOB
    for place in range(side_by_side):
        own = names[place * each : (place + 1) * each]
        free.put(",".join(map(str, own)) if len(own) == each else "")

    def run(job: Callable[[Cores], None]) -> str:
        cores = free.get()
        try:
            job(Cores(cores, deadline, stopping))
        except OutOfTimeError:
            return "out of time"
        except SystemExit as failure:
            return str(failure)
        finally:
            free.put(cores)
        return ""

    with ThreadPoolExecutor(side_by_side) as pool:
        running = [pool.submit(run, job) for job in jobs]
        try:
            said = [one.result() for one in running]
        except KeyboardInterrupt:
            stopping.set()
            raise
    failures = [text for text in said if text not in ("", "out of time")]
    if failures:
        raise SystemExit("\n".join(failures))
    return not any(said)


def run_and_show(
    jobs: Sequence[Callable[[Cores], None]],
    side_by_side: int,
    limit_s: float | None,
    found: Callable[[], Any],
    show: Callable[[Any], None],
    file: Path | None,
) -> None:
    """Run jobs as :func:`run_jobs` does, then show and write the results, also after an interruption.

    Raises:
        SystemExit: with :data:`EXIT_UNFINISHED`, if there was not enough time for all of them.
    """
    try:
        done = run_jobs(jobs, side_by_side, limit_s)
    finally:
        results = found()
        if file is not None:
            file.write_text(json.dumps(results), encoding="utf-8")
        show(results)
    if not done:
        print("\nNot all is done: give the same command again.", file=sys.stderr)
        raise SystemExit(EXIT_UNFINISHED)


def _own_cores() -> list[int]:
    """Return the numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))
