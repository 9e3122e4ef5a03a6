"""Fixtures for tests of the core."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

RunPkmn = Callable[..., subprocess.CompletedProcess[str]]


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
