"""Measuring what the learner can do alone, while it trains: greedy episodes in an environment of their own."""

from __future__ import annotations

from collections.abc import Callable

from pkmncli.api import Algorithm, Source
from pkmncli.config import ResolvedSettings
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.plugins import Registry
from pkmncli.training.assembly import worker_spec
from pkmncli.training.lazy_pool import LazyWorkerPool
from pkmncli.training.seeds import Purpose
from pkmncli.training.worker_spec import WorkerSpec


class Measurement:
    """Plays numbered episodes: the same learner earns the same in the same one, whenever it is played.

    Nobody helps, nothing is explored, and nothing of it is learned from. The environment is started at the first.

    Args:
        spec: how to build the environment; its seeds are those of measuring.
    """

    def __init__(self, spec: WorkerSpec) -> None:
        self.environments = LazyWorkerPool(spec)
        """To be entered while episodes are played."""

    @classmethod
    def of(cls, settings: ResolvedSettings, registry: Registry) -> Measurement:
        """The measurement of a training with these settings."""
        alone = settings.changed({"mode": AgentMode.RL_ONLY.value}, may_change=("mode",), origin="a measurement")
        return cls(worker_spec(alone, registry, Purpose.MEASUREMENT, num_envs=1))

    def play(self, learner: Algorithm, number: int, interrupted: Callable[[], bool]) -> float | None:
        """The reward of an episode; nothing if it was interrupted."""
        pool = self.environments.pool
        pool.reset(number)
        total = 0.0
        while not interrupted():
            actions, confidences, _exploring = learner.act(pool.observation(0), explore=False)
            pool.begin_step(0, int(actions[0]), Source.RL, float(confidences[0]))
            record = pool.finish_step(0)
            total += float(record["reward"])
            if record["terminated"] or record["truncated"]:
                return total
        return None
