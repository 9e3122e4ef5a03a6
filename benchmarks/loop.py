"""Steps per second of the training loop alone: a trivial environment, no learner, all recording as by default.

    python benchmarks/loop.py --steps 40000 --rounds 3
    python benchmarks/loop.py --only 8x8 --profile

Each line is a number of environments, and of environments per worker. Beside the speed it prints the processor time of
a step in microseconds, of the trainer's process and of the workers, which other work on the machine changes little, and
the shares of the trainer's time by part. ``--profile`` prints the functions of the trainer's process that took most.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from trivial_parts import TrivialPlugin

from pkmncli.config import TrainSettings, resolve_settings
from pkmncli.plugins import get_registry
from pkmncli.training.display.callbacks import Callback, Training
from pkmncli.training.display.console import ConsoleProgress
from pkmncli.training.session import TrainingSession

CASES = ((1, 1), (8, 1), (8, 8))


class Figures(NamedTuple):
    """Figures of a training: per second, and per step in microseconds of processor time."""

    steps_per_second: float
    trainer_us: float
    workers_us: float
    parts: dict[str, float]


def _clocks() -> tuple[float, float, float]:
    """Return the time, and the processor time of this process and of its workers, in seconds."""
    workers = [child.cpu_times() for child in psutil.Process().children(recursive=True)]
    return time.perf_counter(), time.process_time(), sum(one.user + one.system for one in workers)


class Watch(Callback):
    """Clock of the steps of a training, without its start and end: libraries are imported before the first step."""

    def __init__(self) -> None:
        self.began: tuple[float, float, float] | None = None
        self.ended = (0.0, 0.0, 0.0)
        self.parts: dict[str, float] = {}

    def before_step(self, training: Training) -> None:
        """Start the clocks, once."""
        if self.began is None:
            self.began = _clocks()

    def on_metrics(self, training: Training, metrics: Any) -> None:
        """Keep the shares of the time."""
        self.parts = {name[5:]: share for name, share in metrics.items() if name.startswith("time/")} or self.parts

    def on_finish(self, training: Training, summary: Any) -> None:
        """Stop the clocks."""
        self.ended = _clocks()


def measure(envs: int, per_worker: int, steps: int, profile: bool) -> Figures:
    """Train once without a learner in the trivial environment."""
    return train({"env": "trivial", "pilot": "trivial", "envs": envs}, per_worker, steps, profile)


def train(given: dict[str, Any], per_worker: int, steps: int, profile: bool) -> Figures:
    """Train once without a learner, with these settings."""
    given = {**given, "rl": "none", "mode": "llm-only", "steps": steps, "quiet": True}
    if "envs_per_worker" in TrainSettings.model_fields:
        given["envs_per_worker"] = per_worker
    watch, profiler = Watch(), cProfile.Profile()
    with tempfile.TemporaryDirectory() as folder:
        given["save_dir"] = Path(folder)
        settings = resolve_settings(given, registry=get_registry(), environ={})
        session = TrainingSession(settings, get_registry(), ["loop"], ConsoleProgress(quiet=True), callbacks=[watch])
        if profile:
            profiler.runcall(session.start)
            pstats.Stats(profiler).sort_stats("tottime").print_stats(30)
        else:
            session.start()
    watch.parts.pop("steps_per_second", None)
    assert watch.began is not None
    seconds, trainer, workers = (ended - began for began, ended in zip(watch.began, watch.ended, strict=True))
    return Figures(steps / seconds, trainer / steps * 1e6, workers / steps * 1e6, watch.parts)


def main() -> None:
    """Measure each case, in turn, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="environments x environments per worker, such as 8x8")
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    get_registry().register_plugin(TrivialPlugin(), "trivial")
    cases = [case for case in CASES if given.only in (None, f"{case[0]}x{case[1]}")]
    found: dict[tuple[int, int], list[Figures]] = {case: [] for case in cases}
    for _round in range(given.rounds):
        for case in cases:
            found[case].append(measure(*case, given.steps, given.profile))
    for (envs, per_worker), rounds in found.items():
        speed, trainer, workers = (statistics.median(one[place] for one in rounds) for place in range(3))
        best = max(one.steps_per_second for one in rounds)
        print(
            f"{envs} environments, {per_worker} per worker: {speed:,.0f} steps/s (best {best:,.0f}); "
            f"processor time per step: trainer {trainer:.0f} us, workers {workers:.0f} us"
        )
        print("  " + ", ".join(f"{name} {share:.0%}" for name, share in sorted(rounds[-1].parts.items())))


if __name__ == "__main__":
    main()
