"""An estimate of a tuning's time and space if no trial is stopped, measured on parts of its first training."""

from __future__ import annotations

import time

from pkmncli.config import NONE, ResolvedSettings
from pkmncli.experiments.standing import ExperimentRun
from pkmncli.plugins import Registry
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import build_learner, worker_spec
from pkmncli.training.display.estimate import Estimate, estimate, observation_bytes
from pkmncli.training.evaluation.final_evaluation import holds_final_evaluation
from pkmncli.training.workers.capacity import usable_cores
from pkmncli.training.workers.pool import WorkerPool

_COMMAND_SECONDS = 1.0
"""Seconds until a command has read its settings: 0.6 s of processor time, measured for the first line of a training."""


def forecast(one: ExperimentRun, registry: Registry, *, steps: int, runs: float, processes: int) -> Estimate:
    """Build the parts of a training, measure that and a few steps, and leave no trace.

    Evaluations count with as many steps as they may have, and processes only as far as there are cores for them.

    Args:
        one: a training of the tuning.
        registry: the plugins.
        steps: of each run.
        runs: number of runs left.
        processes: number of parallel runs.

    Raises:
        PkmnError: a training with these settings cannot begin.
    """
    train = one.training.train
    began = time.perf_counter()
    with WorkerPool(worker_spec(one.training, registry, Purpose.TRAINING)) as pool:
        learner = build_learner(one.training, registry, pool, total_steps=steps)
        pool.reset()
        start_seconds = _COMMAND_SECONDS + time.perf_counter() - began
        experience = min(steps, learner.experience_steps) * observation_bytes(pool)
        found = estimate(pool, learner, steps, experience, train.keep_checkpoints)
        evaluated = _evaluation_steps(one.training, steps, pool.max_steps_per_episode)
    at_once = max(min(processes, usable_cores() / found.busy_cores), 1.0)
    seconds = start_seconds + found.seconds + evaluated * found.evaluation_step_seconds
    return Estimate(found.steps_per_second, seconds * runs / at_once, found.disk_bytes * runs)


def _evaluation_steps(settings: ResolvedSettings, steps: int, episode_steps: int) -> int:
    """Return the maximum number of steps of a training's evaluations."""
    train = settings.train
    while_training = steps // train.eval_interval * train.eval_episodes if train.eval_interval else 0
    at_end = train.final_episodes if holds_final_evaluation(settings, steps, episode_steps) else 0
    players = 1 + (train.pilot != NONE) + 1  # the learner alone, the pilot, random play
    return (while_training + players * at_end) * episode_steps
