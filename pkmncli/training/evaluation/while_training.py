"""Evaluations during a training: greedy episodes in separate environments, which change nothing in the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NamedTuple, Self

from pkmncli.api import Algorithm, Source
from pkmncli.config import NONE, ResolvedSettings
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.plugins import Registry
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import worker_spec
from pkmncli.training.evaluation.evaluation import AgentPolicy, EpisodeActor, evaluate, evaluation_of, report
from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.spec import WorkerSpec

SIDE_BY_SIDE = 2
"""Episodes that are played at once: the training waits meanwhile, so its cores are free."""


class Measured(NamedTuple):
    """Result of an episode of the learner alone."""

    reward: float
    steps: int
    success: bool | None
    """True if it was a success; None if nothing says so, or it was broken off."""


class LazyWorkerPool:
    """Environments apart from those of the training, started when first needed. Enter it for the time of the training.

    Args:
        spec: how to build the environments, and which seeds their episodes have.
    """

    def __init__(self, spec: WorkerSpec) -> None:
        self.spec = spec
        self._pool: WorkerPool | None = None

    @property
    def pool(self) -> WorkerPool:
        """The environments, started."""
        if self._pool is None:
            self._pool = WorkerPool(self.spec).__enter__()
        return self._pool

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.__exit__(kind, value, trace)
            self._pool = None


class PeriodicEvaluation:
    """Evaluation on the same seeded episodes at every ``eval_interval``.

    The learner plays alone; without a learner the advised side plays. The environment starts at the first evaluation.

    Args:
        spec: how to build the environment; its seeds are those of evaluation.
        episodes: how many are played.
        mode: rl-only, or llm-only where there is no learner.
    """

    def __init__(self, spec: WorkerSpec, episodes: int, mode: AgentMode) -> None:
        self.environments = LazyWorkerPool(spec)
        """Entered for the time of the training."""
        self.episodes = episodes
        self._mode = mode

    @classmethod
    def of(cls, settings: ResolvedSettings, registry: Registry) -> PeriodicEvaluation:
        """Return the evaluation of a training with these settings."""
        mode = AgentMode.LLM_ONLY if settings.train.rl == NONE else AgentMode.RL_ONLY
        played = settings.changed({"mode": mode.value}, may_change=("mode",), origin="an evaluation")
        return cls(worker_spec(played, registry, Purpose.EVALUATION, num_envs=1), settings.train.eval_episodes, mode)

    def play(self, learner: Algorithm) -> dict[str, Any]:
        """Play the episodes and return their :func:`pkmncli.training.evaluation.evaluation.report`."""
        pool = self.environments.pool
        policy = AgentPolicy(learner, self._mode, trust=0.0)
        with evaluation_of(learner):
            played = evaluate(pool, policy, self.episodes, seed=pool.spec.seed)
        return report([one.summary for one in played], pool.milestone_names, pool.goal)


class CurriculumEvaluation:
    """Numbered episodes for the curriculum: the same learner earns the same in the same episode.

    The learner decides greedily and learns nothing. The environments start at the first evaluation.

    Args:
        spec: how to build the environment; its seeds are those of measuring.
        idle_steps: steps without reward after which an episode is broken off.
    """

    def __init__(self, spec: WorkerSpec, idle_steps: int) -> None:
        self.idle_steps = idle_steps
        self.environments = LazyWorkerPool(spec)
        """Entered for the time of the training."""

    @classmethod
    def of(cls, settings: ResolvedSettings, registry: Registry) -> CurriculumEvaluation:
        """Return the evaluation of a training with these settings."""
        alone = settings.changed({"mode": AgentMode.RL_ONLY.value}, may_change=("mode",), origin="a measurement")
        envs = min(SIDE_BY_SIDE, settings.curriculum.measure_starts)
        spec = worker_spec(alone, registry, Purpose.MEASUREMENT, num_envs=envs)
        return cls(spec, settings.curriculum.measure_idle_steps)

    def play(
        self, learner: Algorithm, numbers: Sequence[int], interrupted: Callable[[], bool]
    ) -> list[Measured] | None:
        """Play episodes by their numbers, several side by side. Returns None if they were interrupted.

        One that earns nothing for :attr:`idle_steps` is broken off, which counts as its end.
        """
        pool, actor = self.environments.pool, EpisodeActor(learner)
        found: dict[int, Measured] = {}
        waiting: list[list[int]] = [[] for _ in range(pool.num_envs)]
        for number in numbers:
            waiting[number % pool.num_envs].append(number)
        running = {index: _begin(pool, index, queue.pop(0)) for index, queue in enumerate(waiting) if queue}
        while running:
            if interrupted():
                return None
            for index, episode in running.items():
                actions, confidences, _ = actor.act(pool.observation(index), episode.number)
                pool.begin_step(index, int(actions[0]), Source.RL, float(confidences[0]), actor.controls(pool))
            for index, episode in list(running.items()):
                record = pool.finish_step(index)
                episode.add(float(record["reward"]))
                ended = bool(record["terminated"] or record["truncated"])
                if ended or episode.idle >= self.idle_steps:
                    success = pool.latest_end(index).success if ended else None
                    found[episode.number] = Measured(episode.reward, episode.steps, success)
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
