"""The gain of a second worker, with random actions and no learner."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from pkmncli.api import Source
from pkmncli.bench.pairs import Measurement, measure_pairs, never, ratio
from pkmncli.config import ResolvedSettings
from pkmncli.plugins import Registry
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import worker_spec
from pkmncli.training.workers.pool import WorkerPool

STEPS_PER_ROUND = 1000
PAIRS = 7
BUDGET = 1.8


def bench_workers(
    settings: ResolvedSettings, registry: Registry, pairs: int = PAIRS, stop: Callable[[], bool] = never
) -> list[Measurement]:
    """Measure steps per second of two workers against one, with the same parent for both pools."""
    pools = [WorkerPool(worker_spec(settings, registry, Purpose.TRAINING, num_envs=count)) for count in (1, 2)]
    try:
        for pool in pools:
            pool.reset()
        one, two = measure_pairs([_measure(pool) for pool in pools], pairs, stop)
    finally:
        for pool in pools:
            pool.close()
    detail = f"{sorted(one)[len(one) // 2]:.0f} and {sorted(two)[len(two) // 2]:.0f} steps/s"
    return [ratio("two workers against one", two, one, budget=BUDGET, detail=detail)]


def _measure(pool: WorkerPool) -> Callable[[], float]:
    """Return the measurement: steps per second with random actions; no environment waits for another."""
    random = np.random.default_rng(0)

    def begin(index: int) -> None:
        mask = pool.observation(index)["action_mask"][0]
        pool.begin_step(index, int(random.choice(np.flatnonzero(mask))), Source.EXPLORE, 0.0)

    def run() -> float:
        began, left = time.perf_counter(), STEPS_PER_ROUND * pool.num_envs
        running = set(range(pool.num_envs))
        for index in running:
            begin(index)
        while running:
            for index in pool.ready(running):
                pool.finish_step(index)
                left -= 1
                if left >= len(running):
                    begin(index)
                else:
                    running.discard(index)
        return STEPS_PER_ROUND * pool.num_envs / (time.perf_counter() - began)

    return run
