"""Trainings in processes of their own, to be disturbed, and how two of them are compared."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psutil

from support.courses import without_times
from support.processes import training_processes

COURSE = (
    "--steps=2000",
    "--envs=2",
    "--save-interval=250",
    "--max-steps-per-episode=120",
    "--final-episodes=0",
    "--no-curriculum",
    "--set=dqn.learning_starts=40",
    "--set=dqn.batch_size=8",
    "--set=dqn.train_freq=1",
    "--set=dqn.map_channels=[4,8]",
    "--set=dqn.map_features=8",
    "--set=dqn.vector_features=16",
    "--set=dqn.head_features=16",
    "--set=dqn.target_update_interval=50",
)
"""A training of some seconds with two workers and a process that learns, many tables and eight checkpoints."""

Part = Literal["parent", "worker", "learner"]
"""A process of a training."""

START_S = 60.0
"""Longest time that a process may take to appear, on a busy machine."""
END_S = 300.0
DOCUMENTED = {0, 1, 2, 3, 4, 5, 130, 143, 129}
"""Exit codes that a command may end with."""


@dataclass
class Tally:
    """How often a fault was tried, and what came of it."""

    fault: str
    tries: int = 0
    survived: int = 0
    lost_rows: int = 0
    """Rows of tables that a training which was never disturbed has and this one has not."""

    def add(self, survived: bool, lost_rows: int = 0) -> None:
        """Count a try."""
        self.tries += 1
        self.survived += survived
        self.lost_rows += lost_rows


MakeTally = Callable[[str], Tally]


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """All that it printed."""
        return self.out + self.err


def command(*arguments: str, **environment: str) -> dict[str, Any]:
    """Arguments of :class:`subprocess.Popen` that run ``pkmn train``, without the variables of the outside."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith("PKMN_")}
    return {
        "args": [sys.executable, "-m", "pkmncli", "train", *arguments],
        "env": {**environ, "COLUMNS": "100", **environment},
    }


def run_to_end(folder: Path, *arguments: str, **environment: str) -> Ended:
    """Train to the end."""
    with started(folder, *arguments, **environment) as training:
        return training.end()


class Training:
    """A training that runs."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self.process = process
        self._folder = folder

    def end(self) -> Ended:
        """Wait until it has ended."""
        self.process.wait(END_S)
        return Ended(
            self.process.returncode,
            (self._folder / "out.txt").read_text(errors="replace"),
            (self._folder / "err.txt").read_text(errors="replace"),
        )

    def find(self, part: Part) -> psutil.Process | None:
        """Return one of its processes; None where there is none any more, or not yet after a long time."""
        deadline = time.monotonic() + START_S
        while self.process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(psutil.Error, OSError):  # it may end meanwhile
                me = psutil.Process(self.process.pid)
                if part == "parent":
                    return me
                found = [one for one in training_processes(me.pid) if has_torch(one) is (part == "learner")]
                if found:
                    return found[time.monotonic_ns() % len(found)]
            time.sleep(0.02)
        return None


def has_torch(process: psutil.Process) -> bool:
    """Tell whether a process has loaded torch: of a training's children only the one that learns does."""
    return "libtorch" in Path(f"/proc/{process.pid}/maps").read_text()


@contextlib.contextmanager
def started(folder: Path, *arguments: str, **environment: str) -> Iterator[Training]:
    """Start a training, and end it with all of its processes in the end."""
    with (folder / "out.txt").open("wb") as out, (folder / "err.txt").open("wb") as err:
        process = subprocess.Popen(**command(*arguments, **environment), cwd=folder, stdout=out, stderr=err)
    try:
        yield Training(process, folder)
    finally:
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(process.pid).children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    child.kill()
        process.kill()
        process.wait()


def resume(folder: Path, name: str = "it") -> Ended:
    """Let a run go on to its end, or begin it where nothing was saved."""
    if any((folder / "runs" / name / "checkpoints").glob("step-*")):
        return run_to_end(folder, "--resume", name)
    return run_to_end(folder, *COURSE, f"--run-name={name}-again")


def wait_a_little(chance: random.Random, most: float, until: Callable[[], bool] = lambda: False) -> None:
    """Wait for a random time, or until something is so."""
    deadline = time.monotonic() + chance.uniform(0, most)
    while time.monotonic() < deadline and not until():
        time.sleep(0.005)


def read_course(folder: Path) -> dict[str, Any]:
    """Read what a training came to that neither times nor replaced processes change."""
    from pkmncli.plugins import get_registry  # noqa: PLC0415
    from pkmncli.runs import Run  # noqa: PLC0415
    from pkmncli.training.assembly import open_store  # noqa: PLC0415

    store = open_store(get_registry(), folder)
    tables = {table: store.read(table) for table in ("decisions", "episodes")}
    store.close()
    newest = Run(folder).checkpoints.resolve()
    return {
        **without_times(tables),
        "checkpoint": newest.name,
        "weights": {path.name: path.read_bytes() for path in newest.rglob("*.safetensors")},
    }


def compare(whole: Path, other: Path) -> tuple[bool, int]:
    """Tell whether a run took the same course as the undisturbed one, and how many rows it lacks."""
    expected, found = read_course(whole), read_course(other)
    lost = sum(max(0, len(expected[table]) - len(found[table])) for table in ("decisions", "episodes"))
    return expected == found, lost


def newest_run(folder: Path, names: Sequence[str] = ("it-again", "it")) -> Path:
    """Return the run that :func:`resume` brought to its end."""
    return next(run for name in names if (run := folder / "runs" / name).exists())
