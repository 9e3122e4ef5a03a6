"""Evaluation while a training pauses: greedy episodes in an environment of its own, which change nothing in the run."""

from __future__ import annotations

from typing import Any

from pkmncli.api import Algorithm
from pkmncli.config import NONE, ResolvedSettings
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.plugins import Registry
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import worker_spec
from pkmncli.training.evaluation.evaluation import AgentPolicy, evaluate, report
from pkmncli.training.workers.lazy_pool import LazyWorkerPool
from pkmncli.training.workers.spec import WorkerSpec


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
        self.environments = LazyWorkerPool(spec)
        """To be entered while examinations are held."""
        self.episodes = episodes
        self._mode = mode

    @classmethod
    def of(cls, settings: ResolvedSettings, registry: Registry) -> Examination:
        """The examination of a training with these settings."""
        mode = AgentMode.LLM_ONLY if settings.train.rl == NONE else AgentMode.RL_ONLY
        played = settings.changed({"mode": mode.value}, may_change=("mode",), origin="an evaluation")
        return cls(worker_spec(played, registry, Purpose.EVALUATION, num_envs=1), settings.train.eval_episodes, mode)

    def hold(self, learner: Algorithm) -> dict[str, Any]:
        """Returns what :func:`pkmncli.training.evaluation.evaluation.report` says of the episodes."""
        pool = self.environments.pool
        policy = AgentPolicy(learner, self._mode, trust=0.0)
        played = evaluate(pool, policy, self.episodes, seed=pool.spec.seed)
        return report([one.summary for one in played], pool.milestone_names)
