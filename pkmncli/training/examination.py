"""Evaluation while a training pauses: greedy episodes in an environment of its own, which change nothing in the run."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from pkmncli.api import Algorithm
from pkmncli.config import NONE, ResolvedSettings
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.plugins import Registry
from pkmncli.training.assembly import worker_spec
from pkmncli.training.evaluation import AgentPolicy, evaluate, report
from pkmncli.training.seeds import Purpose
from pkmncli.training.worker_process import WorkerSpec
from pkmncli.training.workers import WorkerPool


class Examination:
    """Plays the same seeded episodes each time it is held.

    The learner plays alone, so that what it is carried by does not count as its own; without a learner the advised
    side plays. The environment is started at the first examination.

    Args:
        spec: how to build the environment; its seeds are those of evaluation.
        episodes: how many are played.
        mode: rl-only, or llm-only where there is no learner.
    """

    def __init__(self, spec: WorkerSpec, episodes: int, mode: AgentMode) -> None:
        self.episodes = episodes
        self._spec = spec
        self._mode = mode
        self._pool: WorkerPool | None = None

    @classmethod
    def of(cls, settings: ResolvedSettings, registry: Registry) -> Examination:
        """The examination of a training with these settings."""
        mode = AgentMode.LLM_ONLY if settings.train.rl == NONE else AgentMode.RL_ONLY
        played = settings.changed({"mode": mode.value}, may_change=("mode",), origin="an evaluation")
        return cls(worker_spec(played, registry, Purpose.EVALUATION, num_envs=1), settings.train.eval_episodes, mode)

    def __enter__(self) -> Examination:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.__exit__(kind, value, trace)
            self._pool = None

    def hold(self, learner: Algorithm) -> dict[str, Any]:
        """Returns what :func:`pkmncli.training.evaluation.report` says of the episodes."""
        if self._pool is None:
            self._pool = WorkerPool(self._spec).__enter__()
        policy = AgentPolicy(learner, self._mode, trust=0.0)
        played = evaluate(self._pool, policy, self.episodes, seed=self._spec.seed)
        return report(played, list(self._pool.milestone_names))
