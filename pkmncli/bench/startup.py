"""The start-up time of commands that should be instant, against that of an empty interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable

from pkmncli.bench.pairs import Measurement, measure_pairs, never, ratio

PAIRS = 15
BUDGET_HELP = 9.0
BUDGET_VERSION = 2.0


def bench_startup(pairs: int = PAIRS, stop: Callable[[], bool] = never) -> list[Measurement]:
    """Measure ``pkmn --help`` and ``pkmn --version`` against ``python -c ""``."""
    nothing, help_, version = measure_pairs(
        [_measure("-c", ""), _measure("-m", "pkmncli", "--help"), _measure("-m", "pkmncli", "--version")], pairs, stop
    )
    detail = f"empty interpreter {1000 * sorted(nothing)[len(nothing) // 2]:.0f} ms"
    return [
        ratio("pkmn --help against an empty interpreter", help_, nothing, budget=BUDGET_HELP, at_least=False,
              detail=detail),
        ratio("pkmn --version against an empty interpreter", version, nothing, budget=BUDGET_VERSION, at_least=False,
              detail=detail),
    ]  # fmt: skip


def _measure(*arguments: str) -> Callable[[], float]:
    command = [sys.executable, *arguments]

    def run() -> float:
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ)
        return time.perf_counter() - began

    return run
