"""Trainer with Stable-Baselines3: PPO with masks, A2C and DQN. The packages are optional.

    pip install 'pkmncli[examples]'

Its models are files of that library, with pickles in them. They are apart from the checkpoints of this program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import gymnasium
import numpy as np

from pkmn_balatro.checks import checked_count
from pkmn_balatro.env_wrapper import ActionMaskWrapper, EnvironmentWrapper, mask_of, metrics_of
from pkmn_balatro.framework import (
    BALATRO,
    CheckpointManager,
    RLTrainer,
    TrainerConfig,
    base_algorithm,
    copies_of,
    normalizes,
    number_of_environments,
    steps_of_training,
)
from pkmn_balatro.metrics import BalatroMetrics
from pkmncli.api.layers import method_of
from pkmncli.errors import CheckpointError, ConfigurationError

_EVALUATION_SEED = 1_000_000
"""Seed of the first episode of an evaluation; training begins at the seed of the configuration."""


class SB3Trainer(RLTrainer):
    """Trainer with an algorithm of Stable-Baselines3.

    PPO is MaskablePPO where the environment has masks. A2C and DQN know no masks there: an action that is forbidden is
    replaced as :class:`pkmn_balatro.env_wrapper.ActionMaskWrapper` describes.

    Args:
        env: the environment; copies of it are trained in, all in this process.
        config: the configuration. ``settings`` are not used.

    Attributes:
        model: the library's model.
        vec_env: the environments that it learns in.
        metrics: figures of the episodes of the training.
        checkpoints: models during the training.

    Raises:
        ConfigurationError: the packages are missing, or the library refuses a setting.
    """

    def __init__(self, env: Any, config: TrainerConfig) -> None:
        self.metrics = BalatroMetrics()
        self.checkpoints = CheckpointManager(Path(config.save_dir) / f"{config.algorithm}-{config.seed}")
        super().__init__(env, config)

    def create_model(self) -> Any:
        """Return an untrained model of the library."""
        library = _library()
        for number in ("total_timesteps", "n_envs", "checkpoint_freq", "eval_freq"):
            checked_count(number, getattr(self.config, number))
        checked_count("seed", self.config.seed, least=0)
        checked_count("features_dim", self.config.hyperparams.features_dim)
        name = base_algorithm(self.config.algorithm)
        self._single = next(copies_of(self.env))
        masked_ppo = name == "PPO" and mask_of(self._single, *self._single.reset(seed=self.config.seed)) is not None
        self.vec_env = self._environments()
        kind = library["MaskablePPO"] if masked_ppo else library[name]
        numbers = self.config.hyperparams.numbers(name)
        dictionary = isinstance(self._single.observation_space, gymnasium.spaces.Dict)
        try:
            return kind(
                "MultiInputPolicy" if dictionary else "MlpPolicy",
                self.vec_env,
                seed=self.config.seed,
                policy_kwargs=self._network(),
                **numbers,
            )
        except (TypeError, ValueError, AssertionError, NotImplementedError) as error:
            self.vec_env.close()
            raise ConfigurationError(f"{self.config.algorithm}: {' '.join(str(error).split())}") from None

    def train(self, total_timesteps: int | None = None, callback: Any = None) -> dict[str, Any]:
        """Train, and return a summary: steps, episodes, and the means of :attr:`metrics`. Called again, it continues.

        Args:
            total_timesteps: steps, over all environments; None for those of the configuration. The library rounds them
                up to whole rollouts. Its log has the evaluations as ``eval/mean_reward`` and ``eval/std_reward``.
            callback: a callback of the library, or a list of them; or a function, called at the end of each episode
                with this trainer, the number of episodes that have ended, and the metrics of the latest by name. If it
                returns False, the training ends.
        """
        function = callback if callable(callback) else None
        given = [] if callback is None or function is not None else callback
        others = list(given) if isinstance(given, Sequence) else [given]
        steps = steps_of_training(total_timesteps, self.config)
        follower = _follower(self, function)
        self.model.learn(steps, callback=[follower, *others], reset_num_timesteps=self.model.num_timesteps == 0)
        return {"total_steps": self.model.num_timesteps, **self.metrics.get_summary()}

    def evaluate(self, n_episodes: int = 10, deterministic: bool = True) -> tuple[float, float]:
        """Return mean and standard deviation of the reward of episodes with seeds that training does not use.

        Args:
            n_episodes: episodes to play; with a curriculum, whole games.
            deterministic: True for the best action each time, False to sample actions.
        """
        checked_count("n_episodes", n_episodes)
        env = ActionMaskWrapper(_Numbers(next(copies_of(self.env))))
        prepare = method_of(env, "for_evaluation")
        if prepare is not None:
            prepare()
        rewards = [self._episode(env, _EVALUATION_SEED + number, deterministic) for number in range(n_episodes)]
        env.close()
        return fmean(rewards), pstdev(rewards)

    def save_model(self, path: str | Path | None = None) -> Path:
        """Save the model, and return its file. The statistics of normalised observations are in a file beside it.

        Args:
            path: file; None for ``model.zip`` in the folder of :attr:`checkpoints`.

        Raises:
            CheckpointError: it cannot be written.
        """
        file = Path(path) if path is not None else self.checkpoints.folder / "model.zip"
        file = file if file.suffix else file.with_suffix(".zip")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self.model.save(file)
            if hasattr(self.vec_env, "obs_rms"):
                self.vec_env.save(str(file.with_suffix(".normalisation")))
        except OSError as error:
            raise CheckpointError(f"{file} cannot be written: {error.strerror}") from None
        return file

    def close(self) -> None:
        """Close all environments."""
        self.vec_env.close()
        self._single.close()
        super().close()

    def _episode(self, env: Any, seed: int, deterministic: bool) -> float:
        observation, _info = env.reset(seed=seed)
        total, ended = 0.0, False
        while not ended:
            action = self.predict(observation, env.action_masks(), deterministic)
            observation, reward, terminated, truncated, _info = env.step(action)
            total, ended = total + float(reward), terminated or truncated
        return total

    def predict(self, observation: Any, mask: Any, deterministic: bool = True) -> int:
        """Return the model's action for an observation as the environments of the training give it.

        Args:
            observation: of one environment.
            mask: (n,) bool, True = allowed; only MaskablePPO reads it.
            deterministic: False to sample.
        """
        if hasattr(self.vec_env, "normalize_obs"):
            observation = self.vec_env.normalize_obs(observation)
        masks = {"action_masks": mask} if "Maskable" in type(self.model).__name__ else {}
        action, _state = self.model.predict(observation, deterministic=deterministic, **masks)
        return int(action)

    def _environments(self) -> Any:
        """Return the library's vector of environments."""
        from stable_baselines3.common.monitor import Monitor  # noqa: PLC0415 - optional packages
        from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize  # noqa: PLC0415

        copies = islice(copies_of(self.env), number_of_environments(self.env, self.config))
        functions = [partial(Monitor, ActionMaskWrapper(_Numbers(one))) for one in copies]
        vector: Any = DummyVecEnv(functions)  # type: ignore[arg-type] # a step of Balatro is shorter than a message to another process
        vector.seed(self.config.seed)
        keys = _keys_to_normalize(self._single.observation_space) if normalizes(self.config) else []
        if keys or self.config.normalize_reward:
            gamma = self.config.hyperparams.numbers(self.config.algorithm)["gamma"]
            dictionary = isinstance(self._single.observation_space, gymnasium.spaces.Dict)
            vector = VecNormalize(
                vector,
                norm_obs=bool(keys),
                norm_reward=self.config.normalize_reward,
                gamma=gamma,
                norm_obs_keys=keys if keys and dictionary else None,
            )
        return vector

    def _network(self) -> dict[str, Any]:
        numbers = self.config.hyperparams
        name = base_algorithm(self.config.algorithm)
        policy, value = numbers.policy_net_arch, numbers.value_net_arch
        own: dict[str, Any] = {"net_arch": policy if name == "DQN" else {"pi": policy, "vf": value}}
        if self.config.use_feature_extractor:
            if self.config.feature_extractor_type != BALATRO:
                raise ConfigurationError(
                    f"feature_extractor_type = {self.config.feature_extractor_type!r}: SB3Trainer has 'balatro' alone; "
                    "or set use_feature_extractor=False"
                )
            own["features_extractor_class"] = _extractor_class()
            own["features_extractor_kwargs"] = {
                "features_dim": numbers.features_dim,
                "original": self._single.observation_space,
            }
        return own


class _Numbers(EnvironmentWrapper):
    """Wrapper that gives categories as numbers in 0..1: the library would make an input of each of their values."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        space = env.observation_space
        self._largest: dict[str, Any] = {}
        if isinstance(space, gymnasium.spaces.Dict):
            parts = dict(space.spaces)
            for name, part in parts.items():
                if isinstance(part, gymnasium.spaces.MultiDiscrete):
                    self._largest[name] = np.maximum(part.nvec - 1, 1).astype(np.float32)
                    parts[name] = gymnasium.spaces.Box(0, 1, part.shape, np.float32)
            self.observation_space = gymnasium.spaces.Dict(parts)

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(**kwargs)
        return self._seen(observation), info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        if terminated or truncated:
            info = {**info, "metrics": metrics_of(self.env, info)}
        return self._seen(observation), float(reward), terminated, truncated, info

    def _seen(self, observation: Any) -> Any:
        if not self._largest:
            return observation
        scaled = {name: observation[name].astype(np.float32) / largest for name, largest in self._largest.items()}
        return {**observation, **scaled}


def _keys_to_normalize(space: gymnasium.Space[Any]) -> list[str]:
    """Return the names of the arrays of numbers in an observation; a placeholder for an observation that is one."""
    if not isinstance(space, gymnasium.spaces.Dict):
        return ["observation"] if isinstance(space, gymnasium.spaces.Box) else []
    return [
        name
        for name, part in space.spaces.items()
        if isinstance(part, gymnasium.spaces.Box) and np.issubdtype(part.dtype, np.floating)
    ]


def _library() -> Mapping[str, Any]:
    """Return the algorithms of the library by name.

    Raises:
        ConfigurationError: it is not installed.
    """
    try:
        from sb3_contrib import MaskablePPO  # noqa: PLC0415 - optional packages
        from stable_baselines3 import A2C, DQN, PPO  # noqa: PLC0415
    except ImportError:
        raise ConfigurationError(
            "SB3Trainer needs stable-baselines3 and sb3-contrib, which are not installed; run: pip install "
            "'pkmncli[examples]'"
        ) from None
    return {"PPO": PPO, "A2C": A2C, "DQN": DQN, "MaskablePPO": MaskablePPO}


def _extractor_class() -> type[Any]:
    """Return the class of the features extractor, which the library's own class is needed for."""
    from pkmn_balatro.sb3_features import BalatroFeaturesExtractor  # noqa: PLC0415 - optional packages

    return BalatroFeaturesExtractor


def _follower(trainer: SB3Trainer, function: Callable[..., object] | None) -> Any:
    """Return a callback of the library that counts episodes, saves checkpoints and evaluates."""
    from stable_baselines3.common.callbacks import BaseCallback  # noqa: PLC0415 - optional packages

    class Follower(BaseCallback):
        """Callback of one call of :meth:`SB3Trainer.train`."""

        def _on_training_start(self) -> None:
            self.before = self.num_timesteps

        def _on_step(self) -> bool:
            going_on = True
            for info in self.locals["infos"]:
                if "episode" in info:
                    going_on = self._on_episode(info) and going_on
            before, self.before = self.before, self.num_timesteps
            config = trainer.config
            score = None
            if self.before // config.eval_freq > before // config.eval_freq:
                score, deviation = trainer.evaluate()
                self.logger.record("eval/mean_reward", score)
                self.logger.record("eval/std_reward", deviation)
            if self.before // config.checkpoint_freq > before // config.checkpoint_freq:
                trainer.checkpoints.save(trainer.model, self.before, score)
            return going_on

        def _on_episode(self, info: Mapping[str, Any]) -> bool:
            played, own = info["episode"], info.get("metrics", {})
            ante, score = (own.get(name, float("nan")) for name in ("ante", "score"))
            trainer.metrics.add_episode(played["r"], ante, score, played["l"], info.get("success"))
            metrics = {"reward": played["r"], "episode_length": played["l"]}
            metrics |= {f"environment/{name}": value for name, value in own.items()}
            return function is None or function(trainer, len(trainer.metrics.rewards), metrics) is not False

    return Follower()
