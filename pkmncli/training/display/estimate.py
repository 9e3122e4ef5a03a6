"""Estimate of the time and disk space of a training, measured before it begins."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pkmncli.api import Algorithm
from pkmncli.api.spaces import array_members
from pkmncli.config import NONE
from pkmncli.hybrid.agent_learner import AgentLearner
from pkmncli.plurals import counted

if TYPE_CHECKING:
    from pathlib import Path

    from pkmncli.config import TrainSettings
    from pkmncli.training.loop_options import TrainerOptions
    from pkmncli.training.recording.counters import TrainingStatistics
    from pkmncli.training.workers.pool import WorkerPool

_TRIAL_STEPS = 40
_TRIAL_ACTS = 20

BYTES_PER_DECISION = 40
"""Bytes of all tables per decision, compressed. Seven runs on Quillwood, of 8,000 and 40,000 steps, took 22 to 37."""

_PIPE_SECONDS = 1.5e-4  # a message to a worker and back
_RECORDING_SECONDS = 1e-4  # taking a step in, for learner and tables
_SHARED_CORES = 1.25  # updates run beside the environments, and each slows the other down


@dataclass(frozen=True, slots=True)
class Estimate:
    """Cost of a training: seconds, and bytes on disk."""

    steps_per_second: float
    seconds: float
    disk_bytes: float
    learner_limit: LearnerLimit | None = None
    """Limit by the learner, where the environments have to wait for it."""
    evaluation_step_seconds: float = 0.0
    """Seconds of a step of an evaluation in one environment."""
    busy_cores: float = 1.0
    """Processor cores that the training keeps busy on average."""


@dataclass(frozen=True, slots=True)
class LearnerLimit:
    """A learner that is slower than its environments."""

    update_interval: int
    """Steps, over all environments, between two rounds of updates."""
    round_seconds: float
    """Seconds of a round of updates."""
    environment_steps_per_second: float
    """Steps that the environments could take without it."""

    def __str__(self) -> str:
        return (
            f"The learner is the limit, so more environments bring nothing: it learns once in {self.update_interval:,} "
            f"steps, which takes {short_duration(self.round_seconds)}. Without it they would make "
            f"{self.environment_steps_per_second:,.0f} steps/s."
        )


def estimate(pool: WorkerPool, learner: Algorithm, steps: int, bytes_of_experience: int, checkpoints: int) -> Estimate:
    """Measure a few steps of every environment and a few greedy actions; neither changes anything.

    Args:
        pool: the environments, in their first episode.
        learner: acts without exploring.
        steps: environment steps that will be taken.
        bytes_of_experience: what the learner's experience will take in the newest checkpoint, the only one with it.
        checkpoints: how many are kept.
    """
    step_seconds = max(pool.call_all("time_steps", [(_TRIAL_STEPS,)] * pool.num_envs))
    began = time.perf_counter()
    acts = 0 if isinstance(learner, AgentLearner) else _TRIAL_ACTS  # an act would change an agent of a script
    for _ in range(acts):
        learner.act(pool.observations(), explore=False)
    act_seconds = (time.perf_counter() - began) / _TRIAL_ACTS
    per_step = step_seconds + act_seconds + (_PIPE_SECONDS + _RECORDING_SECONDS) * pool.num_envs
    learning = learner.time_learning()
    learning_per_step = learning * pool.num_envs / learner.update_interval
    limit = None
    if getattr(learner, "waits_for_updates", False):
        seconds = per_step + learning_per_step
    else:  # an update runs beside the steps of its window
        seconds = max(per_step, learning_per_step) * (_SHARED_CORES if learning else 1.0)
        if learning_per_step > per_step:
            limit = LearnerLimit(learner.update_interval, learning, pool.num_envs / per_step)
    rate = pool.num_envs / seconds
    weights = sum(getattr(value, "nbytes", 0) for value in learner.state_dict().values())
    disk = steps * BYTES_PER_DECISION + bytes_of_experience + weights * checkpoints
    apart = per_step - act_seconds - (_PIPE_SECONDS + _RECORDING_SECONDS) * pool.num_envs
    workers = len(pool.spec.groups)
    busy = (apart * workers + per_step - apart + learning_per_step) / seconds
    evaluating = step_seconds + act_seconds + _PIPE_SECONDS
    return Estimate(rate, steps / rate, disk, limit, evaluating, max(busy, 1.0))


class Announcement(NamedTuple):
    """Announcement of a training."""

    plan: str
    remarks: list[str]
    steps_per_second: float
    """Estimated speed, over all environments."""


def announcement(
    folder: Path,
    train: TrainSettings,
    pool: WorkerPool,
    learner: Algorithm,
    statistics: TrainingStatistics,
    options: TrainerOptions,
) -> Announcement:
    """Return what is announced of a training: its plan, remarks and speed.

    Args:
        folder: of the run.
        train: settings of the training.
        pool: the environments, in their first episode.
        learner: the learner.
        statistics: counters so far.
        options: budgets.
    """
    most = options.total_steps or (options.total_episodes or 1) * pool.max_steps_per_episode
    steps = max(most - statistics.steps, 0)
    experience = min(most + statistics.demonstration_steps, learner.experience_steps) * observation_bytes(pool)
    cost = estimate(pool, learner, steps, experience, train.keep_checkpoints)
    budget = counted(steps, "step")
    if options.total_steps is None and options.total_episodes is not None:
        budget = counted(options.total_episodes, "episode")
    about = "at most about" if options.total_episodes is not None else "about"
    doing = _doing(train, str(pool.names["game"]))
    plan = (
        f"{doing} for {budget} with {counted(pool.num_envs, 'environment')}: {about} {duration(cost.seconds)} "
        f"at {cost.steps_per_second:.0f} steps/s.\n"
        f"Writing to {folder}, {about} {size(cost.disk_bytes)}. Ctrl-C saves and stops."
    )
    sides = []
    if train.mode == "llm-only" and NONE not in (train.llm, train.pilot):
        sides.append(
            f"Mode llm-only: the pilot {train.pilot} decides the steps without advice; --pilot none leaves the "
            "language model alone."
        )
    if not all(pool.call_all("repeats")):
        sides.append(
            f"{pool.names['game']} does not repeat an episode, so this run cannot be resumed: let reset(seed=...) "
            "decide all that is random, or give the environment save_state() and load_state()."
        )
    limits = [] if cost.learner_limit is None else [str(cost.learner_limit)]
    remarks = [*sides, *limits, *getattr(learner, "remarks", lambda steps: ())(steps)]
    return Announcement(plan, remarks, cost.steps_per_second)


def _doing(train: TrainSettings, game: str) -> str:
    """Return in words what a run does; without a learner nothing is trained."""
    if train.rl != NONE:
        return f"Training {train.rl} on {game}"
    if train.pilot == NONE:
        return f"Playing {game} by the language model alone"
    return f"Playing {game} by the {'rules' if train.pilot == 'rules' else f'pilot {train.pilot}'}"


def observation_bytes(pool: WorkerPool) -> int:
    """Return the bytes of one observation of one environment."""
    total = 0
    for space in array_members(pool.observation_space).values():
        shape: tuple[Any, ...] = space.shape or ()
        total += int(np.prod(shape, dtype=np.int64)) * np.dtype(space.dtype).itemsize
    return total


def duration(seconds: float) -> str:
    """Return seconds in words: ``45 s``, ``3 min``, ``2 h 10 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def short_duration(seconds: float) -> str:
    """Return seconds in words, also less than one: ``24 ms``, ``1.3 s``, ``45 s``, ``3 min``."""
    if seconds >= 9.5:
        return duration(seconds)
    return f"{seconds:.1f} s" if seconds >= 0.095 else f"{max(1000 * seconds, 0.1):.2g} ms"


def size(count: float) -> str:
    """Return bytes in words: ``35 MB``, ``1.2 GB``."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
