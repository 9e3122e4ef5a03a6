"""Training from Python, by the same session as ``pkmn train``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pkmncli.config import MAY_CHANGE, ResolvedSettings, resolve_settings
from pkmncli.diagnostics import say
from pkmncli.errors import CheckpointError, PkmnError
from pkmncli.plugins import get_registry
from pkmncli.runs import Run, open_run
from pkmncli.training.compatibility import check_live_page, prepare_settings
from pkmncli.training.display.console import ConsoleProgress
from pkmncli.training.display.script_callbacks import Function, ScriptCallbacks
from pkmncli.training.from_objects import Given
from pkmncli.training.run_settings import run_settings
from pkmncli.training.session import Outcome, TrainingSession
from pkmncli.training.trainer import Trainer


class HybridLLMRLTrainer:
    """Trainer of an agent of language model, rules and learner together, in a new run folder.

    The objects are only read for their settings: the environment is built again in its own process, and the run's
    ``config.toml`` holds everything that is needed to resume, also with ``pkmn train --resume``.

    Args:
        env: an environment, such as ``EnhancedPyBoyPokemonCrystalEnv(...)``; without one the bundled game.
        agent: mode and learner; without one DQN beside the rules.
        strategy_system: how much of the advice is followed; without one, an ``AdaptiveStrategySystem``.
        decision_analyzer: where decisions are kept; without one, in the run.
        llm_manager: the language model; without one there is no advice.
        save_dir: folder in which run folders are made.
        log_level: least severe messages that ``log.txt`` keeps.
        settings: other settings of a training by name, and a plugin's as ``section.key``.

    Raises:
        ConfigurationError: something can't be expressed as settings, or is wrong.
    """

    def __init__(
        self,
        env: Any = None,
        agent: Any = None,
        strategy_system: Any = None,
        decision_analyzer: Any = None,
        llm_manager: Any = None,
        save_dir: str | Path | None = None,
        log_level: str = "INFO",
        *,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.env = env
        self.agent = agent
        self.strategy_system = strategy_system
        self.decision_analyzer = decision_analyzer
        self.llm_manager = llm_manager
        given = Given(get_registry())
        if env is not None:
            given.environment(env)
        if agent is not None:
            agent.describe(given)
        if llm_manager is not None:
            given.model(llm_manager)
        if strategy_system is not None:
            given.strategy(strategy_system)
        given.decisions(decision_analyzer)
        given.core["log_level"] = log_level
        if save_dir is not None:
            given.core["save_dir"] = Path(save_dir)
        for name, value in (settings or {}).items():
            section, _, key = name.rpartition(".")
            if section:
                given.plugin(section, key, value)
            else:
                given.core[name] = value
        self._begin(resolve_settings(given.core, registry=get_registry(), sets=given.sets))

    @classmethod
    def from_settings(cls, settings: ResolvedSettings) -> HybridLLMRLTrainer:
        """Return a trainer with the given settings."""
        trainer = cls.__new__(cls)
        trainer.env = trainer.agent = trainer.strategy_system = None
        trainer.decision_analyzer = trainer.llm_manager = None
        trainer._begin(settings)
        return trainer

    def _begin(self, settings: ResolvedSettings) -> None:
        self.settings = settings
        self.run: Run | None = None
        """Run of the latest training, or the loaded run."""
        self.summary: dict[str, Any] | None = None
        """Summary of the latest training."""
        self._callbacks = ScriptCallbacks(self)
        self._checkpoint: str | None = None
        self._trainer: Trainer | None = None

    def register_callback(self, event: str, callback: Function) -> None:
        """Call a function with (trainer, episode, metrics) at an event.

        ``episode`` is the number of ended episodes; the events are ``episode_start``, ``episode_end``, ``step_batch``,
        ``checkpoint``, ``stage_advanced`` and ``strategy_switched``.

        Raises:
            ConfigurationError: there is no such event.
        """
        self._callbacks.register(event, callback)

    def train(
        self,
        total_episodes: int | None = 1000,
        max_steps_per_episode: int | None = None,
        save_interval: int | None = 100,
        eval_interval: int | None = 50,
        curriculum_patience: int | None = 20,
    ) -> dict[str, Any]:
        """Train, and return the summary.

        This begins a new run, unless :meth:`load_checkpoint` has loaded one: that run resumes until it has
        ``total_episodes`` in all. Ctrl-C saves first, then raises KeyboardInterrupt.

        Args:
            total_episodes: episodes, over all environments; None for the budget of the settings.
            max_steps_per_episode: steps after which an episode is cut off; None for the settings', or what suits the
                game (10,000 for Crystal).
            save_interval: episodes between two checkpoints.
            eval_interval: episodes between two evaluations of the learner alone.
            curriculum_patience: measured episodes without advancing after which trust is lowered anyway; of a new run.

        Raises:
            PkmnError: the training failed; the message says what to do.
        """
        changes: dict[str, Any] = {
            "episodes": total_episodes,
            "save_interval_episodes": save_interval,
            "eval_interval_episodes": eval_interval,
        }
        changes = {name: value for name, value in changes.items() if value is not None}
        if self.run is not None and self._checkpoint is not None:
            own = run_settings(self.run, get_registry())
            settings = own.changed(changes, may_change=MAY_CHANGE, origin="train()")
            check_live_page(settings, get_registry())
            outcome = self._session(settings).go_on(self.run, at=self._checkpoint)
        else:
            if max_steps_per_episode is not None:
                changes["max_steps_per_episode"] = max_steps_per_episode
            if curriculum_patience is not None:
                changes["curriculum.advancement_patience"] = curriculum_patience
            settings = self.settings.changed(changes, may_change=(*MAY_CHANGE, *changes), origin="train()")
            outcome = self._session(prepare_settings(settings, get_registry())).start()
        return self._finish(outcome)

    def load_checkpoint(self, checkpoint_path: str | Path = "latest") -> bool:
        """Load a run to resume. Return True if there is one; otherwise write the reason to standard error.

        Args:
            checkpoint_path: a run's folder or name, or one of its checkpoints; ``latest`` for the latest run's newest,
                ``best`` for its best.
        """
        try:
            run, at = self._find(str(checkpoint_path))
            run.checkpoints.resolve(at)
        except PkmnError as error:
            say(str(error))
            return False
        self.run, self._checkpoint = run, at
        return True

    def save_best_model(self) -> None:
        """Save the present agent as the best; while it trains, after the current step.

        Raises:
            CheckpointError: nothing has been trained or loaded.
        """
        if self._trainer is not None:
            self._trainer.ask_to_save(best=True)
        elif self.run is not None:
            newest = self.run.checkpoints.resolve("latest")
            self.run.checkpoints.mark_best(newest.name)
        else:
            raise CheckpointError("there is nothing to save yet: train first, or load a checkpoint")

    def _find(self, which: str) -> tuple[Run, str]:
        save_dir = self.settings.train.save_dir
        if which in ("latest", "best"):
            return (self.run or open_run(None, save_dir)), which
        path = Path(which)
        if path.parent.name == "checkpoints" and path.parent.parent.is_dir():
            return open_run(path.parent.parent, save_dir), path.name
        return open_run(which, save_dir), "latest"

    def _session(self, settings: ResolvedSettings) -> TrainingSession:
        return TrainingSession(
            settings,
            get_registry(),
            sys.argv,
            ConsoleProgress(quiet=settings.train.quiet),
            callbacks=[self._callbacks],
            on_trainer=self._watch,
        )

    def _watch(self, trainer: Trainer) -> None:
        self._trainer = trainer

    def _finish(self, outcome: Outcome) -> dict[str, Any]:
        self.run, self.summary, self._checkpoint, self._trainer = outcome.run, outcome.summary, None, None
        if outcome.exit_code:
            raise KeyboardInterrupt
        return outcome.summary


def create_trainer_from_config(config_path: str | Path) -> HybridLLMRLTrainer:
    """Return a trainer with the settings of a JSON or TOML file.

    Raises:
        ConfigurationError: the file can't be read, or a key or value in it is wrong.
    """
    return HybridLLMRLTrainer.from_settings(
        resolve_settings({}, registry=get_registry(), config_path=Path(config_path))
    )
