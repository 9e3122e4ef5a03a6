"""An estimate of a tuning's time and space if no trial is stopped, measured on parts of its first training."""

from __future__ import annotations

import os

from pkmncli.experiments.standing import ExperimentRun
from pkmncli.plugins import Registry
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import build_learner, worker_spec
from pkmncli.training.display.estimate import Estimate, estimate, observation_bytes
from pkmncli.training.workers.pool import WorkerPool


def forecast(one: ExperimentRun, registry: Registry, *, steps: int, runs: float, processes: int) -> Estimate:
    """Build the parts of a training, measure a few steps, and leave no trace.

    Args:
        one: a training of the tuning.
        registry: the plugins.
        steps: of each run.
        runs: number of runs left.
        processes: number of parallel runs.

    Raises:
        PkmnError: a training with these settings cannot begin.
    """
    train = one.settings.train
    with WorkerPool(worker_spec(one.settings, registry, Purpose.TRAINING)) as pool:
        learner = build_learner(one.settings, registry, pool, total_steps=steps)
        pool.reset()
        experience = min(steps, learner.experience_steps) * observation_bytes(pool)
        found = estimate(pool, learner, steps, experience, train.keep_checkpoints)
    at_once = min(processes, os.cpu_count() or 1)
    return Estimate(found.steps_per_second, found.seconds * runs / at_once, found.disk_bytes * runs)
