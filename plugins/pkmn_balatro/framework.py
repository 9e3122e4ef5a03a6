"""Configuration and base class of trainers, and the function that makes a trainer by name.

from pkmn_balatro.framework import create_trainer, get_default_config
from pkmn_balatro.utils import create_balatro_env

trainer = create_trainer(create_balatro_env(seed=42), get_default_config("PPO"))
trainer.train()
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from pkmn_balatro.checkpoints import CheckpointManager as CheckpointManager  # noqa: PLC0414 - offered here, too
from pkmn_balatro.checks import check_environment, checked_count
from pkmn_balatro.env_wrapper import with_curriculum
from pkmn_balatro.utils import make_vectorized_env
from pkmncli.errors import ConfigurationError, did_you_mean

ALGORITHM_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "PPO": {
        "learning_rate": 3e-4,
        "n_steps": 2048,
        "batch_size": 64,
        "n_epochs": 10,
        "gamma": 0.99,
        "gae_lambda": 0.95,
        "clip_range": 0.2,
        "ent_coef": 0.01,
        "vf_coef": 0.5,
    },
    "A2C": {
        "learning_rate": 7e-4,
        "n_steps": 5,
        "gamma": 0.99,
        "gae_lambda": 1.0,
        "ent_coef": 0.01,
        "vf_coef": 0.5,
    },
    "DQN": {
        "learning_rate": 1e-4,
        "buffer_size": 100_000,
        "learning_starts": 10_000,
        "batch_size": 32,
        "train_freq": 4,
        "gamma": 0.99,
    },
}
"""Default numbers of each algorithm, under the names that Stable-Baselines3 has for them."""

BALATRO = "balatro"
"""Name of the encoder of Balatro's observations."""
_READ_AS_THEY_ARE = (BALATRO, "balatro-actions")
"""Encoders that read numbers as the environment gives them."""

_FIELDS = {
    "learning_rate": "learning_rate",
    "gamma": "gamma",
    "gae_lambda": "gae_lambda",
    "ent_coef": "entropy_coefficient",
    "vf_coef": "value_function_coefficient",
}
"""Names in :data:`ALGORITHM_DEFAULTS` that are fields of :class:`HyperparameterConfig` under other names."""


@dataclass
class HyperparameterConfig:
    """Numbers that an algorithm learns with.

    Attributes:
        learning_rate: step size of the optimizer.
        gamma: discount of a reward one step later.
        gae_lambda: weight of longer returns in the advantages; PPO and A2C.
        entropy_coefficient: weight of the policy's entropy in the loss; PPO and A2C.
        value_function_coefficient: weight of the value's error in the loss; PPO and A2C.
        max_grad_norm: norm to which gradients are scaled down.
        policy_net_arch: widths of the hidden layers of the policy; in DQN those of the values.
        value_net_arch: widths of the hidden layers of the value; PPO and A2C.
        features_dim: numbers that describe an observation, before these layers.
        algorithm_specific: further numbers of the algorithm by name, over its defaults. They also replace the fields
            above, as ``ent_coef`` does.
    """

    learning_rate: float = 3e-4
    gamma: float = 0.99
    gae_lambda: float = 0.95
    entropy_coefficient: float = 0.01
    value_function_coefficient: float = 0.5
    max_grad_norm: float = 0.5
    policy_net_arch: list[int] = field(default_factory=lambda: [256, 256])
    value_net_arch: list[int] = field(default_factory=lambda: [256, 256])
    features_dim: int = 512
    algorithm_specific: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, algorithm: str) -> HyperparameterConfig:
        """Return the defaults of an algorithm; those of this class for one without its own."""
        defaults = dict(ALGORITHM_DEFAULTS.get(base_algorithm(algorithm), {}))
        common = {own: defaults.pop(name) for name, own in _FIELDS.items() if name in defaults}
        return cls(**common, algorithm_specific=defaults)

    def switched(self, old: str, new: str) -> HyperparameterConfig:
        """Return the defaults of another algorithm, with what differs here from those of the present one.

        Args:
            old: the present algorithm.
            new: the other one.
        """
        before, after = HyperparameterConfig.of(old), HyperparameterConfig.of(new)
        own = {name: value for name, value in vars(self).items() if value != getattr(before, name)}
        defaults = before.algorithm_specific
        specific = {name: value for name, value in self.algorithm_specific.items() if defaults.get(name) != value}
        return replace(after, **{**own, "algorithm_specific": {**after.algorithm_specific, **specific}})

    def numbers(self, algorithm: str) -> dict[str, Any]:
        """Return all numbers but the network's, under the names that Stable-Baselines3 has for them.

        Args:
            algorithm: adds its defaults, where nothing else is given.
        """
        own: dict[str, Any] = {name: getattr(self, field_name) for name, field_name in _FIELDS.items()}
        own["max_grad_norm"] = self.max_grad_norm
        if base_algorithm(algorithm) == "DQN":
            for name in ("gae_lambda", "ent_coef", "vf_coef"):
                del own[name]
        return {**ALGORITHM_DEFAULTS.get(base_algorithm(algorithm), {}), **own, **self.algorithm_specific}


@dataclass
class TrainerConfig:
    """Configuration of a training. Its fields may be assigned.

    Another ``algorithm`` brings its own defaults; numbers that differ from the defaults stay.

    Attributes:
        algorithm: ``"PPO"``, ``"A2C"`` or ``"DQN"``; with ``SB3-`` before it the one of Stable-Baselines3; or a name
            given to :func:`register_trainer`.
        hyperparams: numbers of the algorithm; None for its defaults.
        total_timesteps: steps, over all environments.
        seed: of everything random, from 0.
        n_envs: environments that are stepped together.
        use_feature_extractor: True for the network part named next, False for the learner's default.
        feature_extractor_type: name of an encoder, as ``pkmn plugins`` lists them.
        normalize_obs: True to have numbers of one size in observations. Those of Balatro are so already, and the
            encoders of Balatro read them as they are; for any other encoder they are shifted and scaled by what was
            seen so far.
        normalize_reward: True to divide rewards by the deviation of the returns so far.
        use_curriculum: True to begin with shorter games, see :class:`pkmn_balatro.env_wrapper.CurriculumWrapper`.
        save_dir: folder in which each training makes its own.
        checkpoint_freq: steps between two checkpoints.
        eval_freq: steps between two evaluations.
        use_wandb: True to send metrics to Weights & Biases, too.
        wandb_project: project there.
        settings: further settings of ``pkmn train`` by name, and a plugin's as ``section.key``; not for ``SB3-``.
    """

    algorithm: str = "PPO"
    hyperparams: HyperparameterConfig = field(default=None)  # type: ignore[assignment] # set below
    total_timesteps: int = 1_000_000
    seed: int = 42
    n_envs: int = 8
    use_feature_extractor: bool = True
    feature_extractor_type: str = BALATRO
    normalize_obs: bool = True
    normalize_reward: bool = True
    use_curriculum: bool = False
    save_dir: str = "models"
    checkpoint_freq: int = 10_000
    eval_freq: int = 5_000
    use_wandb: bool = False
    wandb_project: str = "balatro-rl"
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.hyperparams is None:
            self.hyperparams = HyperparameterConfig.of(self.algorithm)

    def __setattr__(self, name: str, value: Any) -> None:
        """Assign a field.

        Raises:
            ConfigurationError: there is no such field, or the numbers of the algorithm are of another class.
        """
        known = [one.name for one in fields(self)]
        if name not in known:
            raise ConfigurationError(f"TrainerConfig has no field {name!r}{did_you_mean(name, known, lead='; ')}")
        if name == "hyperparams" and not isinstance(value, HyperparameterConfig | None):
            raise ConfigurationError(f"hyperparams: give a HyperparameterConfig, not {type(value).__name__}")
        if name == "algorithm" and self.hyperparams is not None:
            super().__setattr__("hyperparams", self.hyperparams.switched(self.algorithm, value))
        super().__setattr__(name, value)


def get_default_config(algorithm: str = "PPO") -> TrainerConfig:
    """Return a configuration with the defaults of an algorithm.

    Raises:
        ConfigurationError: there is no such algorithm.
    """
    _trainer_named(algorithm)
    return TrainerConfig(algorithm=algorithm)


def base_algorithm(algorithm: str) -> str:
    """Return the name of an algorithm without the library in front of it, in capitals."""
    return str(algorithm).upper().removeprefix("SB3-")


def normalizes(config: TrainerConfig) -> bool:
    """Return whether observations are to be normalised while learning; encoders of Balatro read scaled ones."""
    as_they_are = config.use_feature_extractor and config.feature_extractor_type in _READ_AS_THEY_ARE
    return config.normalize_obs and not as_they_are


class RLTrainer(ABC):
    """Trainer of one environment with one algorithm.

    A subclass writes :meth:`create_model`, :meth:`train` and :meth:`evaluate`. :func:`register_trainer` gives it a
    name for :func:`create_trainer`.

    Args:
        env: a :class:`gymnasium.Env`, also in wrappers, or what :func:`pkmn_balatro.utils.make_vectorized_env` returns.
        config: the configuration.

    Attributes:
        env: the environment.
        config: the configuration.
        model: what :meth:`create_model` has returned or assigned.

    Raises:
        ConfigurationError: ``env`` is no environment, or a setting is wrong.
    """

    def __init__(self, env: Any, config: TrainerConfig) -> None:
        self.env = check_environment(env)
        self.config = config
        self.model: Any = None
        made = self.create_model()
        self.model = self.model if made is None else made

    @abstractmethod
    def create_model(self) -> Any:
        """Return an untrained model, or assign it to :attr:`model`."""

    @abstractmethod
    def train(self, total_timesteps: int | None = None, callback: Any = None) -> Any:
        """Train.

        Args:
            total_timesteps: steps, over all environments; None for those of the configuration.
            callback: follows the training; each trainer describes its kind.
        """

    @abstractmethod
    def evaluate(self, n_episodes: int = 10, deterministic: bool = True) -> tuple[float, float]:
        """Return mean and standard deviation of the reward of episodes.

        Args:
            n_episodes: episodes to play.
            deterministic: True for the best action each time, False to sample actions.
        """

    def save_model(self, path: str | Path | None = None) -> Path:
        """Save the model, and return where it is.

        Args:
            path: file; None for ``model.zip`` in the folder of the configuration.

        Raises:
            ConfigurationError: the model has no ``save``.
        """
        save = getattr(self.model, "save", None)
        if save is None:
            raise ConfigurationError(f"{type(self).__name__} cannot save its model: override save_model()")
        file = Path(path) if path is not None else Path(self.config.save_dir) / "model.zip"
        file.parent.mkdir(parents=True, exist_ok=True)
        save(file)
        return file

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


def register_trainer(algorithm: str, trainer: type[RLTrainer]) -> None:
    """Let :func:`create_trainer` use a class for an algorithm.

    Args:
        algorithm: its name in :attr:`TrainerConfig.algorithm`; another trainer of that name is replaced.
        trainer: the class.
    """
    _TRAINERS[algorithm] = lambda: trainer


def create_trainer(env: Any, config: TrainerConfig) -> RLTrainer:
    """Return a trainer for the algorithm of a configuration.

    ``PPO``, ``A2C`` and ``DQN`` are the learners of this program, with exact resume, the tables of a run and all
    commands. ``SB3-PPO``, ``SB3-A2C`` and ``SB3-DQN`` are those of Stable-Baselines3.

    Args:
        env: a :class:`gymnasium.Env`, also in wrappers, or what :func:`pkmn_balatro.utils.make_vectorized_env` returns.
        config: the configuration.

    Raises:
        ConfigurationError: ``env`` is no environment, there is no such algorithm, or a setting is wrong.
    """
    if not isinstance(config, TrainerConfig):
        raise ConfigurationError(f"config: give a TrainerConfig, not {type(config).__name__}")
    trainer = _trainer_named(config.algorithm)
    if config.use_curriculum:
        env = wrapped_each(check_environment(env), with_curriculum)
    return trainer(env, config)


def wrapped_each(env: Any, wrap: Callable[[Any], Any]) -> Any:
    """Return an environment in a wrapper; of a vector of environments, a function that makes wrapped ones in its place.

    Args:
        env: an environment, or what :func:`pkmn_balatro.utils.make_vectorized_env` returns.
        wrap: takes an environment and returns it wrapped.
    """
    creator = getattr(env, "env_creator", None)
    if creator is None:
        return wrap(env)
    vector = make_vectorized_env(lambda: wrap(creator()), n_envs=env.num_envs)
    env.close()
    return vector


def copies_of(env: Any) -> Iterator[Any]:
    """Yield independent environments like the given one, without end."""
    creator = getattr(env, "env_creator", None)
    while True:
        yield deepcopy(env) if creator is None else creator()


def number_of_environments(env: Any, config: TrainerConfig) -> int:
    """Return the number of environments that are stepped together: a vector's own, otherwise the configuration's.

    Raises:
        ConfigurationError: it is not a whole number from 1.
    """
    return checked_count("n_envs", getattr(env, "num_envs", config.n_envs))


def steps_of_training(total_timesteps: int | None, config: TrainerConfig) -> int:
    """Return the steps of a call of :meth:`RLTrainer.train`: the given ones, or the configuration's for None.

    Raises:
        ConfigurationError: it is not a whole number from 1.
    """
    return checked_count("total_timesteps", config.total_timesteps if total_timesteps is None else total_timesteps)


def _trainer_named(algorithm: str) -> type[RLTrainer]:
    by_capitals = {name.upper(): load for name, load in _TRAINERS.items()}
    load = _TRAINERS.get(algorithm) or by_capitals.get(str(algorithm).upper())
    if load is None:
        known = ", ".join(f'"{name}"' for name in _TRAINERS)
        hint = did_you_mean(str(algorithm), _TRAINERS, lead=" ", shown='"{}"')
        raise ConfigurationError(f"Unknown algorithm: {algorithm!r}.{hint} Supported: {known}")
    return load()


def _learner_trainer() -> type[RLTrainer]:
    from pkmn_balatro.learner_trainer import LearnerTrainer  # noqa: PLC0415 - it imports this module

    return LearnerTrainer


def _sb3_trainer() -> type[RLTrainer]:
    from pkmn_balatro.sb3_trainer import SB3Trainer  # noqa: PLC0415 - it imports this module

    return SB3Trainer


_TRAINERS: dict[str, Callable[[], type[RLTrainer]]] = {
    **dict.fromkeys(ALGORITHM_DEFAULTS, _learner_trainer),
    **{f"SB3-{name}": _sb3_trainer for name in ALGORITHM_DEFAULTS},
}
"""Functions that give the class of a trainer, by the algorithm's name."""
