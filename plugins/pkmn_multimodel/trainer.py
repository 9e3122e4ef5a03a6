"""Trainer for scripts: the same training and run as `pkmn multimodel train`, step by step and asynchronous."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from pkmn_multimodel.checkpoints import find_checkpoint
from pkmn_multimodel.games.catalog import game_maker
from pkmn_multimodel.population.bases import LoadingError, memory_error
from pkmn_multimodel.recording import MAY_CHANGE, RecordedTraining, nested, summary_of
from pkmn_multimodel.settings import MultiModelConfig
from pkmn_multimodel.training import Training
from pkmncli.api import runs
from pkmncli.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pkmn_multimodel.games.text_game import TextGame
    from pkmn_multimodel.monitor import UnifiedMonitor
    from pkmncli.api.runs import CommandRun

RECENT = 10
"""Batches that the performance of a model is averaged over."""


class MultiModelTrainer:
    """Trainer of several language models on one game.

    Its run is in ``config.checkpoint_dir``; every command that reads runs works on it. Between two calls of
    :meth:`train`, ``config`` and ``environment`` may be changed.

    Args:
        config: settings; by default those of :class:`MultiModelConfig`.
        seed: of everything random.
    """

    def __init__(self, config: MultiModelConfig | None = None, seed: int = 0) -> None:
        self.config = config or MultiModelConfig.model_validate({})
        self.seed = seed
        self.environment: TextGame | None = None
        """Game to train on; None for the one that the settings name."""
        self.monitor: UnifiedMonitor | None = None
        """Monitor that metrics are sent to while ``config.enable_monitoring``; None for the one that was started."""
        self._training: Training | None = None
        self._start_state: dict[str, Any] | None = None
        self._run: CommandRun | None = None
        self._recorded: RecordedTraining | None = None
        self._entered = ExitStack()
        self._folder: Path | None = None
        self._running = False
        self._recent: dict[str, list[float]] = {}

    # Training ---------------------------------------------------------------------------------------------------------

    async def train(self) -> dict[str, Any]:
        """Train until ``config.max_episodes`` games are played. Return the results.

        After an error the run is saved and can be continued by another call.

        Raises:
            asyncio.TimeoutError: a batch of games took longer than ``config.episode_timeout_s``.
            RuntimeError: a model cannot be loaded, or the graphics card has too little memory.
            ConfigurationError: a setting is wrong, or changed that cannot change.
        """
        recorded = await self._begin()
        self._running = True
        try:
            while self._live_training.episodes < self.config.max_episodes and not recorded.stop_requested:
                await self._batch(recorded)
            recorded.save()
        finally:
            self._running = False
            self._leave()
        return self._results()

    async def train_multi_model_episode(self, episode_num: int) -> dict[str, Any]:
        """Play one batch of games and learn from it. Return its metrics.

        Args:
            episode_num: number of its first game; games before it count as played.
        """
        recorded = await self._begin()
        self._live_training.episodes = int(episode_num)
        await self._batch(recorded)
        return {name.removeprefix("multimodel/"): value for name, value in recorded.last.items()}

    async def shutdown(self) -> None:
        """Save a last checkpoint and end the run."""
        if self._recorded is not None:
            self._recorded.save()
        self._leave()

    async def _save_checkpoint(self, episode_num: int) -> str:
        """Save a checkpoint after so many games. Return its id."""
        recorded = await self._begin()
        assert self._run is not None
        self._live_training.episodes = int(episode_num)
        return f"{self._run.folder.name}/{recorded.save()}"

    # State ------------------------------------------------------------------------------------------------------------

    @property
    def current_episode(self) -> int:
        """Games played."""
        return 0 if self._training is None else self._training.episodes

    @property
    def run_folder(self) -> Path | None:
        """Folder of the run; None before there is one."""
        return self._folder

    def load_checkpoint(self, checkpoint_id: str) -> bool:
        """Resume from a checkpoint: the run is resumed if it is its newest, else a new run begins with its state.

        Args:
            checkpoint_id: as :func:`list_available_checkpoints` returns it.

        Returns:
            True.

        Raises:
            FileNotFoundError: there is no such checkpoint.
            CheckpointError: it is damaged.
        """
        self._leave()
        found = find_checkpoint(checkpoint_id, self.config.checkpoint_dir)
        self._training = None
        self._start_state = dict(runs.read_state(found.run, str(found.step)))
        self._folder = found.run if found.newest else None
        return True

    def get_training_status(self) -> dict[str, Any]:
        """Return how far the training is."""
        done = self.current_episode
        return {
            "current_episode": done,
            "max_episodes": self.config.max_episodes,
            "progress": min(done / self.config.max_episodes, 1.0),
            "running": self._running,
            "training_mode": self.config.training_mode.value,
            "weight_update_strategy": self.config.weight_update_strategy.value,
            "num_models": self.config.num_models,
            "run": None if self._folder is None else str(self._folder),
        }

    def get_model_performance_summary(self) -> dict[str, Any]:
        """Return for each model its mean reward of the latest batches, and the updates that it has had."""
        training = self._training
        if training is None:
            return {}
        return {
            f"model_{number}": {
                "type": self.config.type_of(number),
                "learns": f"model_{number}" in training.names,
                "updates": training.population.version_of(f"model_{number}").number
                if f"model_{number}" in training.names
                else 0,
                "mean_reward": float(np.mean(self._recent[f"reward/model_{number}"]))
                if self._recent.get(f"reward/model_{number}")
                else None,
            }
            for number in range(self.config.num_models)
        }

    # Parts ------------------------------------------------------------------------------------------------------------

    @property
    def _live_training(self) -> Training:
        assert self._training is not None
        return self._training

    async def _begin(self) -> RecordedTraining:
        """Enter the run, unless that was done, and make the training."""
        if self._recorded is not None:
            return self._recorded
        make_game, directory = self._game_maker(), Path(self.config.checkpoint_dir)
        if self._folder is not None:
            names = {*MAY_CHANGE, *self.config.model_fields_set} - {"checkpoint_dir"}  # a path has several spellings
            given = {name: getattr(self.config, name) for name in names}
            begun = runs.resume(self._folder, "multimodel", given, may_change=MAY_CHANGE, save_dir=directory)
        else:
            begun = runs.start("multimodel", self.config, seed=self.seed, save_dir=directory)
        with ExitStack() as entered:
            run = entered.enter_context(begun)
            training = await asyncio.to_thread(self._made_training, run, make_game)
            entered.callback(training.close)
            training.start()  # in this thread: Ray ends with the one that starts it
            recorded = RecordedTraining(run, training, self._note)
            if run.state is None and self._start_state is not None:
                training.load_state_dict(nested(self._start_state))
                recorded.save()
            else:
                recorded.resume_or_begin()
            self._entered = entered.pop_all()
        self._run, self._folder, self._training, self._recorded = run, run.folder, training, recorded
        self._start_state = None
        return recorded

    def _game_maker(self) -> Callable[[], TextGame]:
        config, game = self.config, self.environment
        if game is None:
            return game_maker(config.environment.value, config.num_models, config.environment_args)
        if len(game.possible_agents) != config.num_models:
            raise ConfigurationError(
                f"the game is for {len(game.possible_agents)} models, num_models = {config.num_models}"
            )
        return game.again

    def _made_training(self, run: CommandRun, make_game: Callable[[], TextGame]) -> Training:
        try:
            return Training(self.config, make_game, run.seed, run.tell)
        except LoadingError as error:
            raise RuntimeError(f"Model loading failed: {error}") from None
        except torch.cuda.OutOfMemoryError as error:
            raise memory_error(error) from None

    async def _batch(self, recorded: RecordedTraining) -> None:
        try:
            await asyncio.to_thread(recorded.one_batch)
        except torch.cuda.OutOfMemoryError as error:
            raise memory_error(error) from None

    def _note(self, metrics: dict[str, float]) -> None:
        for name, value in metrics.items():
            values = self._recent.setdefault(name.removeprefix("multimodel/"), [])
            values.append(value)
            del values[:-RECENT]
        if self.config.enable_monitoring:
            from pkmn_multimodel import monitor  # noqa: PLC0415

            target = self.monitor or monitor.started()
            if target is not None:
                played = [] if self._recorded is None else monitor.games_of(self._recorded.episodes)
                target.note("batch", self.current_episode, metrics, played)

    def _leave(self) -> None:
        """End the run, if it is entered."""
        if self._run is not None and self._recorded is not None and self._training is not None:
            done = self._training.episodes >= self.config.max_episodes
            if done and not self._run.finished:
                self._run.finish(summary_of(self._training, self._recorded.last))
        self._run = self._recorded = None
        self._entered.pop_all().close()

    def _results(self) -> dict[str, Any]:
        latest = {name: values[-1] for name, values in self._recent.items()}
        return {
            "total_episodes": self.current_episode,
            "score": latest.get("score"),
            "valid_replies": latest.get("valid_replies"),
            "models": self.get_model_performance_summary(),
            "run": str(self._folder),
        }
