"""Measure Ray on one machine: an engine of multi-model training, and workers, each against the local kind.

Run it as: python benchmarks/ray_speed.py. Both kinds take turns, so that what else the machine does slows both. It
prints medians and their ratios.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from statistics import median

import numpy as np

from pkmn_multimodel.games.catalog import game_maker
from pkmn_multimodel.settings import MultiModelConfig
from pkmn_multimodel.training import Training
from pkmncli.api import Source
from pkmncli.config import resolve_settings
from pkmncli.plugins import get_registry
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import worker_spec
from pkmncli.training.workers.pool import WorkerPool

TURNS = 9
GAMES = 32
STEPS = 300
ENVS = 2


def seconds(of: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    began = time.perf_counter()
    of()
    return time.perf_counter() - began


def compare(what: str, unit: str, amount: float, local: Callable[[], object], on_ray: Callable[[], object]) -> None:
    """Print the speed of both, measured in turn, after one turn that does not count."""
    times = [(seconds(local), seconds(on_ray)) for _ in range(TURNS + 1)][1:]
    here, there = (amount / median(one) for one in zip(*times, strict=True))
    ratio = median(one / other for one, other in times)
    print(f"{what}: local {here:.1f} {unit}/s, ray {there:.1f} {unit}/s, ratio {ratio:.2f}")


def engines(actors: int) -> None:
    """Compare the engines."""
    with ExitStack() as closed:
        both = []
        for engine in ("in-process", "ray"):
            settings = MultiModelConfig.model_validate(
                {
                    "num_models": 2,
                    "model_types": ["qwen3"],
                    "base": "tiny",
                    "weight_update_strategy": "synchronized",
                    "batch_size": GAMES,
                    "max_episodes": 100_000,
                    "engine": engine,
                    "actors": actors,
                }
            )
            training = Training(settings, game_maker("coop-compete", 2, {}), 0)
            both.append(closed.enter_context(closing(training)))
        compare(f"multi-model training, tiny base, actors = {actors}", "games", GAMES, both[0].batch, both[1].batch)


def workers(envs_per_worker: int) -> None:
    """Compare workers, on the bundled game."""
    registry = get_registry()
    settings = resolve_settings({"mode": "rl-only", "seed": 1}, registry=registry, environ={})
    spec = replace(worker_spec(settings, registry, Purpose.TRAINING, num_envs=ENVS), envs_per_worker=envs_per_worker)
    with WorkerPool(spec) as local, WorkerPool(replace(spec, ray=True)) as on_ray:

        def play(pool: WorkerPool) -> None:
            sources, confidences = np.full(ENVS, Source.EXPLORE, np.uint8), np.zeros(ENVS, np.float32)
            random = np.random.default_rng(0)
            pool.reset()
            for _ in range(STEPS):
                pool.step(random.integers(0, 9, ENVS), sources, confidences)

        compare(
            f"{ENVS} environments, {envs_per_worker} in a worker",
            "steps",
            ENVS * STEPS,
            lambda: play(local),
            lambda: play(on_ray),
        )


if __name__ == "__main__":
    for number in (1, 2):
        engines(number)
    for number in (1, 2):
        workers(number)
