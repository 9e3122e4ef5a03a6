"""Trainings with several algorithms on the same environment, and their comparison.

from pkmn_balatro.experiment import ExperimentConfig, MultiAlgorithmBenchmark
from pkmn_balatro.utils import create_balatro_env

benchmark = MultiAlgorithmBenchmark(env_creator=create_balatro_env)
benchmark.add_experiment(ExperimentConfig(algorithm="PPO", total_timesteps=100_000))
benchmark.run_all()
benchmark.print_summary()
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pkmn_balatro.checks import check_environment
from pkmn_balatro.framework import HyperparameterConfig, TrainerConfig, create_trainer
from pkmn_balatro.metrics import BalatroMetrics, print_comparison_table
from pkmncli.errors import ConfigurationError, PkmnError


@dataclass
class ExperimentConfig:
    """Configuration of one training among several.

    Attributes:
        algorithm: as in :class:`pkmn_balatro.framework.TrainerConfig`.
        total_timesteps: steps, over all environments.
        name: its name in results; by default the algorithm, with the seed if several have that.
        hyperparams: numbers of the algorithm; None for its defaults.
        seed: of everything random.
        n_envs: environments that are stepped together.
        n_eval_episodes: episodes of the evaluation at the end.
        options: further fields of :class:`pkmn_balatro.framework.TrainerConfig` by name.
    """

    algorithm: str = "PPO"
    total_timesteps: int = 100_000
    name: str | None = None
    hyperparams: HyperparameterConfig | None = None
    seed: int = 42
    n_envs: int = 8
    n_eval_episodes: int = 10
    options: dict[str, Any] = field(default_factory=dict)

    def trainer_config(self, save_dir: str | Path) -> TrainerConfig:
        """Return the configuration of the trainer.

        Raises:
            ConfigurationError: an option is no field of it.
        """
        own = {
            "algorithm": self.algorithm,
            "total_timesteps": self.total_timesteps,
            "hyperparams": self.hyperparams,
            "seed": self.seed,
            "n_envs": self.n_envs,
            "save_dir": str(save_dir),
        }
        try:
            return TrainerConfig(**{**own, **self.options})
        except TypeError as error:
            raise ConfigurationError(f"options of an experiment: {str(error).partition(') ')[2] or error}") from None


@dataclass
class ExperimentResult:
    """Result of one training.

    Attributes:
        name: name of the experiment.
        config: its configuration.
        mean_reward: mean reward of the evaluation's episodes; None if the training failed.
        std_reward: standard deviation of these rewards.
        training_time_s: seconds of the training.
        summary: what :meth:`pkmn_balatro.framework.RLTrainer.train` returned.
        metrics: figures of the training's episodes, if the trainer has them.
        run_folder: folder of the run, if it is one of this program.
        error: the reason why it failed; None if it did not.
    """

    name: str
    config: ExperimentConfig
    mean_reward: float | None = None
    std_reward: float | None = None
    training_time_s: float = 0.0
    summary: Any = None
    metrics: BalatroMetrics | None = None
    run_folder: Path | None = None
    error: str | None = None

    def figures(self) -> dict[str, Any]:
        """Return what a comparison shows of it, by name."""
        if self.error is not None:
            return {"error": self.error}
        rate = self.config.total_timesteps / self.training_time_s if self.training_time_s else 0.0
        found = {
            "mean_reward": self.mean_reward,
            "std_reward": self.std_reward,
            "steps": self.config.total_timesteps,
            "time_s": self.training_time_s,
            "steps_per_s": rate,
        }
        played = {} if self.metrics is None else self.metrics.get_summary()
        return found | {name: played[name] for name in ("mean_ante", "max_ante", "max_score") if name in played}


class MultiAlgorithmBenchmark:
    """Trainings with several algorithms, one after the other, each on a new environment.

    Trainings of this program's learners are runs in the folder, so that ``pkmn compare FOLDER`` and ``pkmn plot`` read
    them; :meth:`compare` is the former.

    Args:
        env_creator: makes an environment, such as :func:`pkmn_balatro.utils.create_balatro_env`.
        save_dir: folder of the trainings.

    Attributes:
        results: results so far, in order.
    """

    def __init__(self, env_creator: Callable[[], Any], save_dir: str | Path = "experiments") -> None:
        if not callable(env_creator):
            raise ConfigurationError(f"env_creator: {type(env_creator).__name__} is no function")
        self.env_creator = env_creator
        self.save_dir = Path(save_dir)
        self.experiments: list[ExperimentConfig] = []
        self.results: list[ExperimentResult] = []

    def add_experiment(self, config: ExperimentConfig) -> None:
        """Add a training."""
        self.experiments.append(config)

    def run_all(self) -> list[ExperimentResult]:
        """Train and evaluate all that were added. Return the results.

        A training that fails has the reason in its result, and the next one follows.

        Raises:
            ConfigurationError: no training was added.
            KeyboardInterrupt: Ctrl-C, after the running training was saved.
        """
        if not self.experiments:
            raise ConfigurationError("there is no experiment: call add_experiment first")
        self.results = []
        for name, config in zip(self._names(), self.experiments, strict=True):
            self.results.append(self._run(name, config))
        return self.results

    def get_best_result(self) -> ExperimentResult | None:
        """Return the result with the highest mean reward; None if there is none yet, or all failed."""
        found = [one for one in self.results if one.mean_reward is not None]
        return max(found, key=lambda one: one.mean_reward or 0.0) if found else None

    def print_summary(self) -> None:
        """Print all results as a table, the best first."""
        print_comparison_table(self.results)

    def compare(self, by: tuple[str, ...] = ("rl",)) -> dict[str, Any]:
        """Compare the runs of this program's learners: groups with bootstrap intervals, and probabilities.

        Args:
            by: settings that distinguish groups; others, such as the seed, are within a group.

        Returns:
            As :func:`pkmncli.api.runs.compare`.

        Raises:
            ConfigurationError: there are fewer than two runs.
        """
        from pkmncli.api.runs import compare  # noqa: PLC0415 - it imports the tables

        folders = [one.run_folder for one in self.results if one.run_folder is not None]
        if len(folders) < 2:
            raise ConfigurationError("a comparison needs at least two finished runs of this program's learners")
        return compare(folders, by=by)

    def _run(self, name: str, config: ExperimentConfig) -> ExperimentResult:
        result = ExperimentResult(name, config)
        began = time.perf_counter()
        opened: Any = None
        try:
            opened = env = check_environment(self.env_creator())
            opened = trainer = create_trainer(env, config.trainer_config(self.save_dir))
            result.summary = trainer.train()
            result.training_time_s = time.perf_counter() - began
            result.run_folder = getattr(trainer, "run_folder", None)
            result.metrics = getattr(trainer, "metrics", None)
            result.mean_reward, result.std_reward = trainer.evaluate(config.n_eval_episodes)
            trainer.save_model()
        except PkmnError as error:
            result.error = str(error)
        finally:
            if opened is not None:
                opened.close()
        return result

    def _names(self) -> list[str]:
        """Return a name for each training, all different."""
        algorithms = [config.algorithm for config in self.experiments]
        names: list[str] = []
        for config in self.experiments:
            alone = algorithms.count(config.algorithm) == 1
            name = config.name or (config.algorithm if alone else f"{config.algorithm} seed {config.seed}")
            number = 1
            while (chosen := name if number == 1 else f"{name} ({number})") in names:
                number += 1
            names.append(chosen)
        return names
