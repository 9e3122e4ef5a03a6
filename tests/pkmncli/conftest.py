"""Fixtures for tests of the core."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

RunPkmn = Callable[..., subprocess.CompletedProcess[str]]
SharedRun = Callable[..., Path]

SMALL = [
    "--steps=240",
    "--save-interval=80",
    "--max-steps-per-episode=30",
    "--set=dqn.learning_starts=40",
    "--set=dqn.batch_size=8",
    "--set=dqn.screen_channels=[4,8]",
    "--set=dqn.screen_features=16",
    "--set=dqn.vector_features=8",
    "--set=dqn.head_features=16",
    "--set=dqn.target_update_interval=10",
]
"""A training of some seconds in which everything happens: several episodes, updates, copies and checkpoints."""

MEASURED = {"elapsed_s", "steps_per_second", "episodes_per_hour"}
"""Keys of a summary that two runs of one course do not share."""


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is kept between runs of the program is not the user's while testing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_last_resort() -> Iterator[None]:
    """A second signal that is slowly obeyed would end the tests themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pkmncli.training.interrupts.SECONDS_TO_END", 600.0)
        yield


@dataclass(frozen=True)
class Result:
    """How a command ended."""

    code: int
    out: str
    err: str


def run_here(*arguments: str) -> Result:
    """Runs ``pkmn`` in this process."""
    from pkmncli import cli  # noqa: PLC0415 - most tests need none of it

    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("PKMN_")]:
            patch.delenv(name)
        patch.setenv("COLUMNS", "100")
        patch.setattr(sys, "argv", ["pkmn", *arguments])
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            code = cli.run(list(arguments))
    return Result(code, out.getvalue(), err.getvalue())


@pytest.fixture
def pkmn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs ``pkmn`` in this process, in ``tmp_path`` and without ``PKMN_*`` variables of the outside."""
    monkeypatch.chdir(tmp_path)
    return run_here


@pytest.fixture(scope="session")
def shared_run(tmp_path_factory: pytest.TempPathFactory) -> SharedRun:
    """The folder of a finished small training, made once for all tests that ask for the same one; to be left as it is.

    Its arguments are the mode and the number of environments.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared-runs"

    def make(mode: str = "adaptive", envs: int = 1) -> Path:
        folder.mkdir(exist_ok=True)
        run = folder / f"{mode}-{envs}"
        with FileLock(folder / f"{run.name}.lock"):
            if not (folder / f"{run.name}.done").exists():
                options = [f"--save-dir={folder}", f"--run-name={run.name}", f"--mode={mode}", f"--envs={envs}"]
                result = run_here("train", *SMALL, *options)
                assert result.code == 0, result.err
                (folder / f"{run.name}.done").touch()
        return run

    return make


@pytest.fixture(scope="session")
def small_training() -> list[str]:
    """The options of the training that ``shared_run`` makes."""
    return list(SMALL)


@pytest.fixture
def run_pkmn(tmp_path: Path) -> RunPkmn:
    """Runs ``pkmn`` in a process of its own, in ``tmp_path`` and without ``PKMN_*`` variables of the outside.

    Keywords are environment variables. ``python`` stands for other arguments of the interpreter.
    """

    def run(*arguments: str, python: tuple[str, ...] = (), **environment: str) -> subprocess.CompletedProcess[str]:
        environ = {key: value for key, value in os.environ.items() if not key.startswith("PKMN_")}
        return subprocess.run(
            [sys.executable, *(python or ("-m", "pkmncli.cli")), *arguments],
            env={**environ, "COLUMNS": "100", **environment},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


def _leave_out_latencies(values: Any) -> None:
    if isinstance(values, dict):
        for name in ("latency_s", "latencies_s", "latency_p50_s", "latency_p95_s"):
            values.pop(name, None)
    for value in values.values() if isinstance(values, dict) else values if isinstance(values, list) else ():
        _leave_out_latencies(value)


def _leave_out_times(value: Any) -> None:
    """Takes the seconds that a training had taken out of plain values, however deep they are."""
    if isinstance(value, dict):
        value.pop("elapsed_s", None)
        value = list(value.values())
    for part in value if isinstance(value, list) else ():
        _leave_out_times(part)


@pytest.fixture(scope="session")
def course() -> Callable[[Path], dict[str, Any]]:
    """All that a finished training came to, without what time and place decide."""
    from pkmncli.plugins import get_registry  # noqa: PLC0415
    from pkmncli.runs import Run  # noqa: PLC0415
    from pkmncli.training.assembly import open_store  # noqa: PLC0415

    def read(folder: Path) -> dict[str, Any]:
        store = open_store(get_registry(), folder)
        decisions, episodes, metrics, advice = (
            store.read(table) for table in ("decisions", "episodes", "metrics", "advice")
        )
        store.close()
        newest = Run(folder).checkpoints.resolve()
        meta = json.loads((newest / "meta.json").read_text())
        meta["trainer"]["statistics"].pop("elapsed_s")
        for measured in ("times", "latencies_s"):
            meta["trainer"]["recorder"]["held"].pop(measured)
        summary = Run(folder).read_summary()
        for journey in (meta["trainer"]["statistics"]["journey"], meta["trainer"]["journeys"], summary["journey"]):
            _leave_out_times(journey)
        _leave_out_latencies(meta["trainer"].get("advice"))
        _leave_out_latencies(summary.get("llm"))
        return {
            "decisions": [{name: row[name] for name in row if name not in {"time", "latency_s"}} for row in decisions],
            "episodes": episodes,
            "advice": [{name: row[name] for name in row if name not in {"time", "latency_s"}} for row in advice],
            "metrics": [
                (row["global_step"], row["name"], row["value"])
                for row in metrics
                if not row["name"].startswith("time/")
            ],
            "checkpoint": newest.name,
            "files": {path.relative_to(newest).as_posix(): path.read_bytes() for path in newest.rglob("*.safetensors")},
            "pilots": [worker["pilot"] for worker in meta["workers"]],
            "trainer": meta["trainer"],
            "learner": meta["learner"],
            "summary": {name: summary[name] for name in summary if name not in MEASURED},
        }

    return read


@pytest.fixture(scope="session")
def assert_same_course(course: Callable[[Path], dict[str, Any]]) -> Callable[[Path, Path], None]:
    """Asserts that two trainings took the same course, bit for bit; says in which part they first differ."""

    def check(one: Path, other: Path) -> None:
        left, right = course(one), course(other)
        for part in left:
            if isinstance(left[part], list):
                for number, (mine, theirs) in enumerate(zip(left[part], right[part], strict=False)):
                    assert mine == theirs, f"{part}, row {number}"
            assert left[part] == right[part], part

    return check
