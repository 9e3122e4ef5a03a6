"""``pkmn`` in this process, and the small training of most tests."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

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


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the user's cache and settings out of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("settings")))
        yield


@pytest.fixture(scope="session", autouse=True)
def no_last_resort() -> Iterator[None]:
    """Let no signal end the tests themselves, however slowly it is obeyed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pkmncli.training.interrupts.SECONDS_TO_END", 600.0)
        yield


@dataclass(frozen=True)
class Result:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


def run_here(*arguments: str) -> Result:
    """Run ``pkmn`` in this process, without ``PKMN_*`` variables of the outside."""
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
    """Provide :func:`run_here`, in ``tmp_path``."""
    monkeypatch.chdir(tmp_path)
    return run_here


@pytest.fixture(scope="session")
def small_training() -> list[str]:
    """Provide the options of the training that ``shared_run`` makes."""
    return list(SMALL)
