"""Trainer with the learners of this program: PPO, A2C and DQN, in runs as ``pkmn train`` makes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pkmn_balatro.framework import (
    CheckpointManager,
    RLTrainer,
    TrainerConfig,
    base_algorithm,
    normalizes,
    number_of_environments,
    steps_of_training,
)
from pkmn_balatro.metrics import BalatroMetrics
from pkmncli.errors import CheckpointError, ConfigurationError

Callback = Callable[[RLTrainer, int, Mapping[str, Any]], object]
"""Takes the trainer, the number of episodes that have ended, and the metrics of the latest; False ends the training."""

_OTHER_NAMES = {
    "exploration_initial_eps": "exploration_initial",
    "exploration_final_eps": "exploration_final",
}
"""Settings of the learners that Stable-Baselines3 has under other names."""


class LearnerTrainer(RLTrainer):
    """Trainer with a learner of this program.

    Each training is a run in ``config.save_dir``, with checkpoints, tables and metrics; all commands read it, such as
    ``pkmn plot`` and ``pkmn compare``. The environments run in processes: the given one is built again there from its
    settings, or sent there with its wrappers.

    Args:
        env: the environment; every environment of the training is like it.
        config: the configuration.

    Attributes:
        model: the :class:`pkmncli.HybridLLMRLTrainer` that trains.
        metrics: figures of the episodes of the training.
    """

    def create_model(self) -> Any:
        """Return the trainer of a run with the settings of the configuration."""
        from pkmncli import HybridLLMRLTrainer  # noqa: PLC0415 - it imports the learners

        self.metrics = BalatroMetrics()
        self._callback: Callback | None = None
        creator = getattr(self.env, "env_creator", None)
        settings = settings_of(self.config, number_of_environments(self.env, self.config))
        environment = self.env if creator is None else creator()
        model = HybridLLMRLTrainer(environment, save_dir=self.config.save_dir, settings=settings)
        if creator is not None:
            environment.close()
        model.register_callback("episode_end", self._on_episode)
        return model

    def train(self, total_timesteps: int | None = None, callback: Callback | None = None) -> dict[str, Any]:
        """Train, and return the summary of the run.

        Called again, or after :meth:`resume`, the run continues for so many more steps.

        Args:
            total_timesteps: steps, over all environments; None for those of the configuration.
            callback: called at the end of each episode with this trainer, the number of episodes that have ended, and
                the metrics of the latest by name; those of the environment are ``environment/NAME``. If it returns
                False, the training ends after the current step, and is saved.

        Raises:
            PkmnError: the training failed; the message says what to do.
        """
        if callback is not None and not callable(callback):
            raise ConfigurationError(f"callback: {type(callback).__name__} is no function")
        steps = steps_of_training(total_timesteps, self.config)
        latest = None if self.model.run is None else self.checkpoints.latest()
        if latest is not None and self.model.load_checkpoint(self.model.run.folder):
            steps += CheckpointManager.step_of(latest)
        self._callback = callback
        try:
            summary: dict[str, Any] = self.model.train(
                None,
                save_interval=None,
                eval_interval=None,
                curriculum_patience=None,
                total_steps=steps,
            )
        finally:
            self._callback = None
        return summary

    def resume(self, run: str | Path = "latest") -> bool:
        """Let :meth:`train` continue an earlier run. Return False, and say why, if there is none.

        Args:
            run: its folder, or its name in ``config.save_dir``; ``latest`` for the latest.
        """
        return bool(self.model.load_checkpoint(run))

    def evaluate(self, n_episodes: int = 10, deterministic: bool = True) -> tuple[float, float]:
        """Return mean and standard deviation of the reward of episodes that training does not use.

        The result and its episodes are kept in the run. With a curriculum, whole games are played.

        Args:
            n_episodes: episodes to play.
            deterministic: True for the best action each time, False to sample actions from the policy.

        Raises:
            CheckpointError: nothing has been trained.
        """
        result = self.model.evaluate(n_episodes, stochastic=not deterministic)
        return result["avg_reward"], result["std_reward"]

    def save_model(self, path: str | Path | None = None) -> Path:
        """Return the newest checkpoint of the run, or write the policy to a folder.

        Args:
            path: folder for the policy, as ``pkmn export --policy`` writes it, for programs with torch alone; None for
                the checkpoint, which every training has saved.

        Returns:
            The checkpoint's folder, or the policy's file.

        Raises:
            CheckpointError: nothing has been trained.
        """
        if path is not None:
            file: Path = self.model.export_policy(path)
            return file
        found = self.checkpoints.latest()
        if found is None:
            raise CheckpointError("there is nothing to save yet: train first")
        return found

    @property
    def checkpoints(self) -> CheckpointManager:
        """Checkpoints of the run."""
        if self.model.run is None:
            raise CheckpointError("there is no checkpoint yet: train first")
        return CheckpointManager(self.model.run.folder / "checkpoints")

    @property
    def run_folder(self) -> Path | None:
        """Folder of the run; None before a training."""
        return None if self.model.run is None else self.model.run.folder

    def _on_episode(self, model: Any, episode: int, metrics: Mapping[str, Any]) -> None:
        own = {name: metrics.get(f"environment/{name}", float("nan")) for name in ("ante", "score")}
        self.metrics.add_episode(reward=metrics["reward"], length=metrics["episode_length"], **own)
        if self._callback is not None and self._callback(self, episode, metrics) is False:
            model.stop()


def settings_of(config: TrainerConfig, n_envs: int) -> dict[str, Any]:
    """Return the settings of ``pkmn train`` that a configuration means, by name, a plugin's as ``section.key``.

    Args:
        config: the configuration.
        n_envs: number of environments.
    """
    learner = base_algorithm(config.algorithm).lower()
    numbers = config.hyperparams
    own: dict[str, Any] = {"features_dim": numbers.features_dim}
    if learner == "dqn":
        own["net_arch"] = numbers.policy_net_arch
    else:
        own |= {"policy_net_arch": numbers.policy_net_arch, "value_net_arch": numbers.value_net_arch}
    own |= {_OTHER_NAMES.get(name, name): value for name, value in numbers.numbers(config.algorithm).items()}
    own |= {"normalize_observations": normalizes(config), "normalize_rewards": config.normalize_reward}
    if config.use_feature_extractor:
        own["encoder"] = config.feature_extractor_type
    trackers = ["tensorboard", "wandb"] if config.use_wandb else ["tensorboard"]
    wandb = {"wandb.project": config.wandb_project} if config.use_wandb else {}
    return {
        "rl": learner,
        "mode": "rl-only",
        "pilot": "none",
        "steps": config.total_timesteps,
        "seed": config.seed,
        "envs": n_envs,
        "envs_per_worker": _per_worker(n_envs),
        "save_interval": config.checkpoint_freq,
        "eval_interval": config.eval_freq,
        "final_episodes": 0,
        "film": False,
        "track": trackers,
        **wandb,
        **{f"{learner}.{name}": value for name, value in own.items()},
        **config.settings,
    }


def _per_worker(n_envs: int) -> int:
    """Return the number of environments of a process, one process for each core: steps of Balatro are short."""
    return -(-n_envs // min(n_envs, os.cpu_count() or 1))
