"""Training from Python, by the same session as ``pkmn train``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

from pkmncli.api import runs
from pkmncli.api.spaces import array_members
from pkmncli.checkpoint_index import LATEST, names_episode
from pkmncli.config import CONFIG_FILE, MAY_CHANGE, NONE, ResolvedSettings, resolve_settings
from pkmncli.diagnostics import say
from pkmncli.errors import CheckpointError, ConfigurationError, PkmnError
from pkmncli.hybrid.build import trained_alone
from pkmncli.plugins import get_registry
from pkmncli.runs import Run, open_run
from pkmncli.training.assembly import environment_spec
from pkmncli.training.compatibility import check_live_page, prepare_settings
from pkmncli.training.display.console import ConsoleProgress
from pkmncli.training.display.script_callbacks import Function, ScriptCallbacks
from pkmncli.training.from_objects import Given
from pkmncli.training.run_settings import run_settings
from pkmncli.training.script_objects import known_as
from pkmncli.training.session import Outcome, TrainingSession
from pkmncli.training.trainer import Trainer
from pkmncli.training.workers.flat_environment import flattened

_T = TypeVar("_T")


class HybridLLMRLTrainer:
    """Trainer of an agent of language model, rules and learner together, in a new run folder.

    The objects are only read for their settings: the environment is built again in its own process, and the run's
    ``config.toml`` holds everything that is needed to resume, also with ``pkmn train --resume``. Wrappers, classes
    of the script and other objects are sent to that process and kept in no file: such a run resumes from the script.

    Args:
        env: an environment, such as ``EnhancedPyBoyPokemonCrystalEnv(...)`` or any :class:`gymnasium.Env`, also in
            wrappers; without one the bundled game.
        agent: mode and learner; without one DQN beside the rules. After a training it has the trained learner.
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
        decides_itself = getattr(agent, "decides_itself", False)
        for its, other in (("llm_manager", llm_manager), ("adaptive_strategy", strategy_system)):
            if decides_itself and other is not None and other is not getattr(agent, its, None):
                raise ConfigurationError(
                    f"{type(agent).__name__} decides by itself: give {type(other).__name__} to it, as {its}"
                )
        if llm_manager is not None and not decides_itself:
            given.model(llm_manager)
        if strategy_system is not None and not decides_itself:
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
        with given.registered():
            self._begin(resolve_settings(given.core, registry=get_registry(), sets=given.sets), given)

    @classmethod
    def from_settings(cls, settings: ResolvedSettings) -> HybridLLMRLTrainer:
        """Return a trainer with the given settings."""
        trainer = cls.__new__(cls)
        trainer.env = trainer.agent = trainer.strategy_system = None
        trainer.decision_analyzer = trainer.llm_manager = None
        trainer._begin(settings, Given(get_registry()))
        return trainer

    def _begin(self, settings: ResolvedSettings, given: Given) -> None:
        self.settings = settings
        self._given = given
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
        *,
        total_steps: int | None = None,
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
            total_steps: steps, over all environments; None for the budget of the settings.

        Raises:
            PkmnError: the training failed; the message says what to do.
        """
        changes = {
            "episodes": total_episodes,
            "steps": total_steps,
            "save_interval_episodes": save_interval,
            "eval_interval_episodes": eval_interval,
        }
        of_new_run = {
            "max_steps_per_episode": max_steps_per_episode,
            "curriculum.advancement_patience": curriculum_patience,
        }
        with self._given.registered():
            if self.run is not None and self._checkpoint is not None:
                outcome = self._go_on(self.run, self._checkpoint, _given_ones(changes))
            else:
                outcome = self._start(_given_ones(changes | of_new_run))
            return self._finish(outcome)

    def _start(self, changes: Mapping[str, Any]) -> Outcome:
        settings = self.settings.changed(changes, may_change=(*MAY_CHANGE, *changes), origin="train()")
        return self._session(prepare_settings(settings, get_registry())).start()

    def _go_on(self, run: Run, at: str, changes: Mapping[str, Any]) -> Outcome:
        own = run_settings(run, get_registry())
        given, of_run = self.settings.train.env_object_digest, own.train.env_object_digest
        if given is not None and of_run is not None and given != of_run:
            say(
                f"The environment {own.train.env_object} has other classes or attributes than the one that run "
                f"{run.name} began with: the run resumes with the given one."
            )
        settings = own.changed(changes, may_change=MAY_CHANGE, origin="train()")
        check_live_page(settings, get_registry())
        with self._environment_of(own):
            return self._session(settings).go_on(run, at=at)

    def load_checkpoint(self, checkpoint_path: str | Path = "latest") -> bool:
        """Load a run to resume. Return True if there is one; otherwise write the reason to standard error.

        Args:
            checkpoint_path: a run's folder or name, or one of its checkpoints; ``latest`` for the latest run's newest,
                ``best`` for its best, ``episode-500`` for the one after so many episodes, also as
                ``checkpoint_episode_500.pt``.
        """
        try:
            run, at = self._find(str(checkpoint_path))
            run.checkpoints.resolve(at)
        except PkmnError as error:
            say(str(error))
            return False
        self.run, self._checkpoint = run, at
        return True

    def training_environment(self) -> Any:
        """Return an environment such as the training's own, for a loop with the trained agent. Close it afterwards.

        Its observations are those that the learner is trained on: without texts, and with packed screens.
        """
        with self._given.registered():
            settings = self.settings if self.run is None else run_settings(self.run, get_registry())
            with self._environment_of(settings):
                return flattened(environment_spec(settings, get_registry()).build())

    def evaluate(
        self,
        episodes: int = 10,
        *,
        checkpoint: str | None = None,
        envs: int = 2,
        seed: int | None = None,
        stochastic: bool = False,
        baselines: bool = False,
    ) -> dict[str, Any]:
        """Evaluate the learner alone, of the run that was trained or loaded, as :func:`pkmncli.api.runs.evaluate` does.

        Args:
            episodes: episodes to play.
            checkpoint: None for the loaded one, or the latest.
            envs: parallel environments; the result is the same.
            seed: of the starts; the run's if None.
            stochastic: sample the learner's actions from its policy.
            baselines: also play with the pilot and at random, from the same starts.

        Returns:
            ``avg_reward``, ``std_reward``, ``metrics`` and more.

        Raises:
            CheckpointError: nothing has been trained or loaded.
        """
        return self._with_run(
            runs.evaluate,
            checkpoint=checkpoint,
            episodes=episodes,
            envs=envs,
            seed=seed,
            stochastic=stochastic,
            baselines=baselines,
        )

    def export_policy(self, folder: str | Path, *, checkpoint: str | None = None) -> Path:
        """Write the policy of the run that was trained or loaded, as :func:`pkmncli.api.runs.export_policy` does.

        Raises:
            CheckpointError: nothing has been trained or loaded.
        """
        return self._with_run(runs.export_policy, folder, checkpoint=checkpoint)

    def _with_run(self, function: Callable[..., _T], *given: Any, checkpoint: str | None, **named: Any) -> _T:
        """Call a function of a run's folder, while the objects of the script have their names in settings."""
        if self.run is None:
            raise CheckpointError("there is no trained learner yet: train first, or load a checkpoint")
        with self._given.registered(), self._environment_of(run_settings(self.run, get_registry())):
            at = checkpoint or self._checkpoint or LATEST
            return function(self.run.folder, *given, checkpoint=at, **named)

    def stop(self) -> None:
        """End a running training after the current step, as if its budget were used: for functions of callbacks."""
        if self._trainer is not None:
            self._trainer.ask_to_stop()

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

    def _environment_of(self, settings: ResolvedSettings) -> AbstractContextManager[None]:
        """Return the context in which this trainer's environment object has the name that a run has for it."""
        name = settings.train.env_object
        script = self._given.script
        return nullcontext() if name is None or script is None else known_as(name, script)

    def _find(self, which: str) -> tuple[Run, str]:
        save_dir = self.settings.train.save_dir
        if which in ("latest", "best"):
            return (self.run or open_run(None, save_dir)), which
        path = Path(which)
        if names_episode(path.name):
            inside = path.parent.parent if path.parent.name == "checkpoints" else path.parent
            if path.parent != Path() and (inside / CONFIG_FILE).is_file():
                return open_run(inside, save_dir), path.name
            here = path.parent if path.parent.is_dir() and path.parent != Path() else save_dir
            return (self.run or open_run(None, here)), path.name
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
        if self._trainer is not None:
            self._hand_back(self._trainer, outcome)
        self.run, self.summary, self._checkpoint, self._trainer = outcome.run, outcome.summary, None, None
        if outcome.exit_code:
            raise KeyboardInterrupt
        return outcome.summary

    def _hand_back(self, trainer: Trainer, outcome: Outcome) -> None:
        """Give what was trained to the objects that the trainer was made from."""
        trained = trainer.strategy
        for strategy in (self.strategy_system, getattr(self.agent, "adaptive_strategy", None)):
            if trained is not None and strategy is not trained and isinstance(strategy, type(trained)):
                strategy.load_state_dict(trained.state_dict())
        take = getattr(self.agent, "take_trained", None)
        if take is None or self.agent.decides_itself:
            return
        settings = self.settings if self._checkpoint is None else run_settings(outcome.run, get_registry())
        learner = None
        if settings.train.rl != NONE:
            learner = trained_alone(trainer.learner, settings, get_registry(), trainer.spaces)
        observed = (
            {} if learner is None else {".".join(path): it for path, it in array_members(trainer.spaces[0]).items()}
        )
        take(learner, observed, episodes=outcome.summary["total_episodes"], trust=trainer.trust)


def _given_ones(changes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in changes.items() if value is not None}


def create_trainer_from_config(config_path: str | Path) -> HybridLLMRLTrainer:
    """Return a trainer with the settings of a JSON or TOML file.

    Raises:
        ConfigurationError: the file can't be read, or a key or value in it is wrong.
    """
    return HybridLLMRLTrainer.from_settings(
        resolve_settings({}, registry=get_registry(), config_path=Path(config_path))
    )
