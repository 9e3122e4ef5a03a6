"""Measuring what the learner can do alone, while it trains: greedy episodes in an environment of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pkmncli.api import Algorithm, Source
from pkmncli.config import ResolvedSettings
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.plugins import Registry
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import worker_spec
from pkmncli.training.workers.lazy_pool import LazyWorkerPool
from pkmncli.training.workers.spec import WorkerSpec

if TYPE_CHECKING:
    from pkmncli.training.workers.pool import WorkerPool

SIDE_BY_SIDE = 2
"""Episodes that are played at once: the training stands still meanwhile, so that its cores are free."""


class Measured(NamedTuple):
    """Result of an episode of the learner alone."""

    reward: float
    steps: int
    success: bool
    """True where it reached the goal."""


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
        envs = min(SIDE_BY_SIDE, settings.curriculum.measure_starts)
        spec = worker_spec(alone, registry, Purpose.MEASUREMENT, num_envs=envs)
        return cls(spec, settings.curriculum.measure_idle_steps)

    def play(
        self, learner: Algorithm, numbers: Sequence[int], interrupted: Callable[[], bool]
    ) -> list[Measured] | None:
        """Play episodes by their numbers, several side by side; nothing is returned if they were interrupted.

        One that earns nothing for :attr:`idle_steps` is broken off, which counts as its end.
        """
        pool = self.environments.pool
        found: dict[int, Measured] = {}
        waiting: list[list[int]] = [[] for _ in range(pool.num_envs)]
        for number in numbers:
            waiting[number % pool.num_envs].append(number)
        running = {index: _begin(pool, index, queue.pop(0)) for index, queue in enumerate(waiting) if queue}
        while running:
            if interrupted():
                return None
            for index in running:
                actions, confidences, _exploring = learner.act(pool.observation(index), explore=False)
                pool.begin_step(index, int(actions[0]), Source.RL, float(confidences[0]))
            for index, episode in list(running.items()):
                record = pool.finish_step(index)
                episode.add(float(record["reward"]))
                ended = bool(record["terminated"] or record["truncated"])
                if ended or episode.idle >= self.idle_steps:
                    found[episode.number] = Measured(episode.reward, episode.steps, bool(record["terminated"]))
                    del running[index]
                    if waiting[index]:
                        running[index] = _begin(pool, index, waiting[index].pop(0))
        return [found[number] for number in numbers]


@dataclass(slots=True)
class _Running:
    """An episode that is being played."""

    number: int
    reward: float = 0.0
    steps: int = 0
    idle: int = 0
    """Steps since it earned anything."""

    def add(self, reward: float) -> None:
        self.steps += 1
        self.reward += reward
        self.idle = 0 if reward > 0 else self.idle + 1


def _begin(pool: WorkerPool, index: int, number: int) -> _Running:
    pool.reset_one(index, number // pool.num_envs)
    return _Running(number)
