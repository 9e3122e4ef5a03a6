"""Steps per second of a real training, with learner, recording and checkpoints, against the environments alone."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from pkmncli.bench.pairs import Measurement, measure_pairs, never, quantity, ratio
from pkmncli.config import NONE, ResolvedSettings, resolve_settings
from pkmncli.plugins import Registry
from pkmncli.training.checkpoints.files import read_segments
from pkmncli.training.display.console import LOOK_SECONDS, ConsoleProgress
from pkmncli.training.display.status import Status
from pkmncli.training.session import Outcome, TrainingSession

STEPS = 3000
PAIRS = 3
BUDGET_BUFFER_MB = 400


def bench_training(registry: Registry, pairs: int = PAIRS, stop: Callable[[], bool] = never) -> list[Measurement]:
    """Measure training with DQN and without a learner, with one environment and two."""
    results = []
    for envs in (1, 2):
        learning, playing = measure_pairs(
            [_measure(registry, "dqn", envs), _measure(registry, NONE, envs)], pairs, stop
        )
        rate = f"{sorted(learning)[len(learning) // 2]:.0f} against {sorted(playing)[len(playing) // 2]:.0f} steps/s"
        results.append(
            ratio(f"training with DQN against the pilot alone, {envs} environment(s)", learning, playing, detail=rate)
        )
    return results


class _WatchedProgress(ConsoleProgress):
    """Progress that shows nothing, and calls a function a few times per second."""

    def __init__(self, look: Callable[[], None]) -> None:
        super().__init__(quiet=True)
        self._look, self._next = look, 0.0

    @property
    def wants_look(self) -> bool:
        return time.monotonic() >= self._next

    def on_look(self, status: Status) -> None:
        self._next = time.monotonic() + LOOK_SECONDS
        self._look()


def bench_memory(registry: Registry) -> list[Measurement]:
    """Measure memory of a training's processes, and of its experience, scaled to 100,000 steps."""
    process = psutil.Process()
    peak = 0

    def look() -> None:
        nonlocal peak
        family = [process, *process.children(recursive=True)]
        peak = max(peak, sum(one.memory_info().rss for one in family))

    progress = _WatchedProgress(look)
    with tempfile.TemporaryDirectory(prefix="pkmn-bench-") as folder:
        session = TrainingSession(_settings(registry, "dqn", 1, Path(folder)), registry, ["pkmn", "bench"], progress)
        run = finished(session.start()).run
        segments = read_segments(run.checkpoints.resolve())
        experience = sum(array.nbytes for segment in segments for array in segment.arrays.values())
    return [
        quantity(f"all processes of a training, {STEPS:,} steps of DQN", [peak / 1e6], "MB"),
        quantity("experience of 100,000 steps", [experience / STEPS * 1e5 / 1e6], "MB", budget=BUDGET_BUFFER_MB),
    ]


def _measure(registry: Registry, rl: str, envs: int) -> Callable[[], float]:
    def run() -> float:
        with tempfile.TemporaryDirectory(prefix="pkmn-bench-") as folder:
            settings = _settings(registry, rl, envs, Path(folder))
            session = TrainingSession(settings, registry, ["pkmn", "bench"], ConsoleProgress(quiet=True))
            return float(finished(session.start()).summary["steps_per_second"])

    return run


def finished(outcome: Outcome) -> Outcome:
    """Return a completed training; an interrupted one gives no measurement and ends the whole bench."""
    if outcome.exit_code:
        raise KeyboardInterrupt
    return outcome


def _settings(registry: Registry, rl: str, envs: int, folder: Path) -> ResolvedSettings:
    return resolve_settings(
        {
            "rl": rl,
            "mode": "rl-only" if rl != NONE else "llm-only",
            "envs": envs,
            "steps": STEPS,
            "final_episodes": 0,
            "save_dir": folder,
        },
        registry=registry,
        environ={},
    )
