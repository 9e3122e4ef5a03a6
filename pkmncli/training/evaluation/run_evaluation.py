"""Evaluation of a run of ``pkmn train``, as a command or a script asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from pkmncli.config import NONE, ResolvedSettings
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.hybrid.hand_over import HandOver
from pkmncli.plugins import Registry
from pkmncli.plurals import counted
from pkmncli.runs import Run
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import build_learner, worker_spec
from pkmncli.training.beginnings.given_starts import check_kept_starts
from pkmncli.training.checkpoints.files import read_checkpoint
from pkmncli.training.checkpoints.selection import readable_checkpoint
from pkmncli.training.compatibility import check_deciders
from pkmncli.training.display.verdict import verdict
from pkmncli.training.evaluation.baselines import BASELINES_FILE, Baselines
from pkmncli.training.evaluation.evaluation import (
    PLAYED_BY,
    AgentPolicy,
    EvaluatedEpisode,
    LearnerPolicy,
    Policy,
    RandomPolicy,
    evaluate,
    keep_evaluation,
    report,
)
from pkmncli.training.evaluation.final_evaluation import OnStep, play_baselines, side_by_side_spec
from pkmncli.training.run_settings import check_identity
from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.spec import WorkerSpec


class EvaluationMode(StrEnum):
    """Players of an evaluation."""

    RL_ONLY = "rl-only"
    ADAPTIVE = "adaptive"
    LLM_ONLY = "llm-only"
    RANDOM = "random"


def for_evaluation(
    own: ResolvedSettings, mode: EvaluationMode, name: str, changes: Mapping[str, Any]
) -> ResolvedSettings:
    """Return a run's settings for an evaluation.

    Args:
        own: the run's.
        mode: which side plays.
        name: the run's name, for messages.
        changes: settings that differ from the run's; None for those that do not.

    Raises:
        ConfigurationError: the mode does not suit the run.
    """
    changes = {**changes, "llm": NONE, "pretrain_steps": 0}  # no model is asked, and nothing is learned
    if mode is not EvaluationMode.RANDOM:
        changes["mode"] = mode.value
    settings = own.without_unknown_advice().changed(changes, may_change=tuple(changes))
    if settings.train.rl == settings.train.pilot == NONE and mode is not EvaluationMode.RANDOM:
        raise ConfigurationError(f"{name} was played by a language model alone, and an evaluation asks none")
    if mode in (EvaluationMode.RL_ONLY, EvaluationMode.ADAPTIVE) and settings.train.rl == NONE:
        raise ConfigurationError(
            f"{name} was trained without a learner: use pkmn eval --mode llm-only, or pkmn watch --mode rules"
        )
    if mode is not EvaluationMode.RANDOM:
        check_deciders(settings)
    return settings


@dataclass(frozen=True, slots=True)
class RunEvaluation:
    """Evaluation of a run of ``pkmn train``: the checkpoint, the mode, the episodes."""

    run: Run
    settings: ResolvedSettings
    registry: Registry
    checkpoint: Path
    mode: EvaluationMode
    envs: int
    episodes: int
    seed: int
    stochastic: bool
    baselines: bool

    @classmethod
    def of(
        cls,
        run: Run,
        own: ResolvedSettings,
        registry: Registry,
        *,
        checkpoint: str,
        mode: EvaluationMode,
        envs: int,
        episodes: int,
        seed: int | None,
        baselines: bool,
        stochastic: bool = False,
        changes: Mapping[str, Any] | None = None,
    ) -> RunEvaluation:
        """Return an evaluation as options ask for it.

        Args:
            run: the run.
            own: its settings, with the present paths.
            registry: the plugins.
            checkpoint: as :meth:`pkmncli.checkpoint_index.Checkpoints.resolve` takes it.
            mode: which side plays.
            envs: parallel environments, at most.
            episodes: episodes to play.
            seed: of the starts; the run's if None.
            baselines: also play with the pilot and at random.
            stochastic: sample the learner's actions.
            changes: settings that differ from the run's; None for those that do not.

        Raises:
            ConfigurationError: the mode does not suit the run.
            CheckpointError: there is no such checkpoint.
        """
        settings = for_evaluation(own, mode, run.name, changes or {})
        return cls(
            run,
            settings,
            registry,
            readable_checkpoint(run, checkpoint),
            mode,
            min(envs, episodes),
            episodes,
            settings.train.seed if seed is None else seed,
            stochastic,
            baselines,
        )

    @contextmanager
    def ready(self) -> Iterator[tuple[WorkerPool, Policy]]:
        """Yield the environments and the player.

        Raises:
            RunError: the run lacks the start states of its episodes.
            EnvironmentSetupError: the checkpoint is of another image or game.
        """
        check_kept_starts(self.settings, self.run)
        with WorkerPool(self._spec()) as pool:
            if states := read_checkpoint(self.checkpoint).workers:
                pool.call(0, "load", states[0], 0)  # what it loads is gone with the first reset
            else:
                check_identity(self.run, pool.identity)
            yield pool, self._policy(pool)

    def play(
        self,
        *,
        on_begin: Callable[[str], None] = lambda text: None,
        on_step: OnStep = lambda who, done, share: None,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> tuple[list[EvaluatedEpisode], dict[str, Any]]:
        """Play the episodes. Return them and the result; fewer than asked for only when interrupted.

        Args:
            on_begin: takes the lines that explain the evaluation, the first before the environments are started.
            on_step: follows the steps of each player.
            interrupted: returns true to end early.
        """
        on_begin(f"Evaluating {self.run.name}, {self.checkpoint.name}: {PLAYED_BY[self.mode]}.")
        with self.ready() as (pool, policy):
            on_begin(self._introduction(pool))
            played = evaluate(
                pool,
                policy,
                self.episodes,
                seed=self.seed,
                on_step=partial(on_step, PLAYED_BY[self.mode]),
                interrupted=interrupted,
            )
            result: dict[str, Any] = {
                "run": self.run.name,
                "checkpoint": self.checkpoint.name,
                "mode": self.mode.value,
                "stochastic": self.stochastic,
                "seed": self.seed,
            }
            if played:
                result |= report([one.summary for one in played], pool.milestone_names, pool.goal)
            if self.baselines and len(played) == self.episodes:
                result |= play_baselines(
                    Baselines(self.run.folder / BASELINES_FILE, pool),
                    self.episodes,
                    on_step=on_step,
                    interrupted=interrupted,
                )
            if played and self.mode is EvaluationMode.RL_ONLY:
                result["verdict"] = verdict(result, result.get("pilot"), result.get("random"))
            return played, result

    def keep(self, played: Sequence[EvaluatedEpisode], result: Mapping[str, Any]) -> Path:
        """Write what :meth:`play` returned into a new folder of the run. Raises RunError if it cannot be written."""
        return keep_evaluation(self.run, self.registry, result, played)

    def _spec(self) -> WorkerSpec:
        if self.baselines:
            return side_by_side_spec(self.settings, self.registry, num_envs=self.envs, seed=self.seed)
        return worker_spec(self.settings, self.registry, Purpose.EVALUATION, num_envs=self.envs, seed=self.seed)

    def _policy(self, pool: WorkerPool) -> Policy:
        if self.mode is EvaluationMode.RANDOM:
            return RandomPolicy(self.seed)
        content = read_checkpoint(self.checkpoint)
        train = self.settings.train
        learner = build_learner(self.settings, self.registry, pool, total_steps=1, num_envs=train.envs)
        learner.load_state_dict(content.learner)
        if self.mode is EvaluationMode.RL_ONLY:
            return LearnerPolicy(learner, self.seed if self.stochastic else None)
        hand_over = None
        if content.trainer.hand_over is not None:  # not in a game's own policy, nor of an earlier version
            hand_over = HandOver(pool.situations, train.envs, self.settings.hand_over)
            hand_over.load_state_dict(content.trainer.hand_over)
        return AgentPolicy(learner, AgentMode(self.mode.value), content.trainer.trust, hand_over)

    def _introduction(self, pool: WorkerPool) -> str:
        """Return the lines that explain the evaluation."""
        lines = []
        if self.mode is EvaluationMode.RL_ONLY:
            how = "samples each action from its policy" if self.stochastic else "always takes its best action"
            lines.append(f"It decides every step, and {how}.")
        ends = f"to {pool.goal} or at most" if pool.goal is not None else "of at most"
        lines.append(
            f"{counted(self.episodes, 'episode')} from held-out starts (seed {self.seed}), each {ends} "
            f"{pool.max_steps_per_episode:,} steps."
        )
        return "\n".join(lines)
