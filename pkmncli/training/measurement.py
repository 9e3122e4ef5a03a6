"""Measuring what the learner can do alone, while it trains: greedy episodes in an environment of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pkmncli.api import Algorithm, Source
from pkmncli.config import ResolvedSettings
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.plugins import Registry
from pkmncli.training.assembly import worker_spec
from pkmncli.training.lazy_pool import LazyWorkerPool
from pkmncli.training.seeds import Purpose
from pkmncli.training.worker_spec import WorkerSpec


class Measured(NamedTuple):
    """What an episode of the learner alone came to."""

    reward: float
    steps: int
    success: bool
    """Whether it reached the goal."""


class Measurement:
    """Plays numbered episodes: the same learner earns the same in the same one, whenever it is played.

    Nobody helps, nothing is explored, and nothing of it is learned from. The environment is started at the first.

    Args:
        spec: how to build the environment; its seeds are those of measuring.
        idle_steps: steps without reward after which an episode is broken off.
    """

    def __init__(self, spec: WorkerSpec, idle_steps: int) -> None:
        self.idle_steps = idle_steps
        self.environments = LazyWorkerPool(spec)
        """To be entered while episodes are played."""

    @classmethod
    def of(cls, settings: ResolvedSettings, registry: Registry) -> Measurement:
        """The measurement of a training with these settings."""
        alone = settings.changed({"mode": AgentMode.RL_ONLY.value}, may_change=("mode",), origin="a measurement")
        spec = worker_spec(alone, registry, Purpose.MEASUREMENT, num_envs=1)
        return cls(spec, settings.curriculum.measure_idle_steps)

    def play(self, learner: Algorithm, number: int, interrupted: Callable[[], bool]) -> Measured | None:
        """Play an episode by its number; nothing is returned if it was interrupted.

        One that earns nothing for :attr:`idle_steps` is broken off, which counts as its end.
        """
        pool = self.environments.pool
        pool.reset(number)
        total, steps, idle = 0.0, 0, 0
        while not interrupted():
            actions, confidences, _exploring = learner.act(pool.observation(0), explore=False)
            pool.begin_step(0, int(actions[0]), Source.RL, float(confidences[0]))
            record = pool.finish_step(0)
            steps += 1
            total += float(record["reward"])
            idle = 0 if record["reward"] > 0 else idle + 1
            if record["terminated"] or record["truncated"] or idle >= self.idle_steps:
                return Measured(total, steps, bool(record["terminated"]))
        return None
