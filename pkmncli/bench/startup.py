"""The start-up time of commands, against that of an empty interpreter: the whole command, or until its first line."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from pkmncli.bench.pairs import Measurement, measure_pairs, never, ratio

PAIRS = 15
BUDGET_HELP = 9.0
BUDGET_VERSION = 2.0
BUDGET_FIRST_LINE = 75.0


def bench_startup(pairs: int = PAIRS, stop: Callable[[], bool] = never) -> list[Measurement]:
    """Measure whole commands and first lines against ``python -c ""``.

    The first line of ``pkmn train`` comes before its environments start. Those of ``pkmn eval`` and ``pkmn replay`` say
    here that there is no run, once everything that they need is imported.
    """
    with tempfile.TemporaryDirectory() as folder:
        here = f"--save-dir={folder}"
        measured = {
            "pkmn --help": (_measure("-m", "pkmncli", "--help"), BUDGET_HELP),
            "pkmn --version": (_measure("-m", "pkmncli", "--version"), BUDGET_VERSION),
            "first line of pkmn train": (_first_line("train", here), BUDGET_FIRST_LINE),
            "first line of pkmn eval": (_first_line("eval", here), BUDGET_FIRST_LINE),
            "first line of pkmn replay": (_first_line("replay", here), BUDGET_FIRST_LINE),
        }
        nothing, *others = measure_pairs([_measure("-c", ""), *(side for side, _ in measured.values())], pairs, stop)
    detail = f"empty interpreter {1000 * sorted(nothing)[len(nothing) // 2]:.0f} ms"
    return [
        ratio(f"{name} against an empty interpreter", times, nothing, budget=budget, at_least=False, detail=detail)
        for (name, (_, budget)), times in zip(measured.items(), others, strict=True)
    ]


def _measure(*arguments: str) -> Callable[[], float]:
    command = [sys.executable, *arguments]

    def run() -> float:
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ)
        return time.perf_counter() - began

    return run


def _first_line(*arguments: str) -> Callable[[], float]:
    """Return a measurement of the time until ``pkmn`` prints its first line, after which it is ended."""
    command = [sys.executable, "-m", "pkmncli", *arguments]

    def run() -> float:
        began = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=os.environ) as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            seconds = time.perf_counter() - began
            process.kill()
        if not line:
            raise RuntimeError(f"{' '.join(command)} printed nothing")
        return seconds

    return run
