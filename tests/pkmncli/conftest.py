"""Fixtures for tests of the core."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from support.commands import SMALL, no_last_resort, own_cache, pkmn, run_here, small_training
from support.courses import without_times
from support.warm_python import WarmProcess

__all__ = ["no_last_resort", "own_cache", "pkmn", "small_training"]

RunPkmn = Callable[..., subprocess.CompletedProcess[str]]
SharedRun = Callable[..., Path]


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


@pytest.fixture
def run_pkmn(tmp_path: Path) -> RunPkmn:
    """Runs ``pkmn`` in a process of its own, in ``tmp_path`` and without ``PKMN_*`` variables of the outside.

    Keywords are environment variables. With ``python``, arguments of the interpreter, nothing is imported before.
    """

    def run(*arguments: str, python: tuple[str, ...] = (), **environment: str) -> subprocess.CompletedProcess[str]:
        environ = {key: value for key, value in os.environ.items() if not key.startswith("PKMN_")}
        environ |= {"COLUMNS": "100", **environment}
        if not python:
            with WarmProcess(*arguments, cwd=tmp_path, env=environ) as process:
                out, error = process.communicate(timeout=60)
            return subprocess.CompletedProcess(arguments, process.wait(), out, error)
        return subprocess.run(
            [sys.executable, *python, *arguments],
            env=environ,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def course() -> Callable[[Path], dict[str, Any]]:
    """All that a finished training came to, without what time and place decide."""
    from pkmncli.plugins import get_registry  # noqa: PLC0415
    from pkmncli.runs import Run  # noqa: PLC0415
    from pkmncli.training.assembly import open_store  # noqa: PLC0415
    from pkmncli.training.checkpoints.files import read_checkpoint  # noqa: PLC0415
    from pkmncli.training.checkpoints.state import split_arrays  # noqa: PLC0415

    def read(folder: Path) -> dict[str, Any]:
        store = open_store(get_registry(), folder)
        decisions, episodes, metrics, advice = (
            store.read(table) for table in ("decisions", "episodes", "metrics", "advice")
        )
        store.close()
        newest = Run(folder).checkpoints.resolve()
        checkpoint = read_checkpoint(newest)
        return {
            "decisions": without_times(decisions),
            "episodes": episodes,
            "advice": without_times(advice),
            "metrics": [
                (row["global_step"], row["name"], row["value"])
                for row in metrics
                if not row["name"].startswith("time/")
            ],
            "checkpoint": newest.name,
            "files": {path.relative_to(newest).as_posix(): path.read_bytes() for path in newest.rglob("*.safetensors")},
            "pilots": [worker.pilot for worker in checkpoint.workers],
            "trainer": without_times(checkpoint.trainer.to_disk()[0]),
            "learner": split_arrays(checkpoint.learner)[1],
            "summary": without_times(Run(folder).read_summary()),
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
