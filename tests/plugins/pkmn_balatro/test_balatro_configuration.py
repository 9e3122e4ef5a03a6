"""Configurations of the Balatro framework: fields, defaults of its document, and the settings that they mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pkmn_balatro import framework, utils
from pkmn_balatro.learner_trainer import settings_of
from pkmncli.errors import ConfigurationError


def test_fields_and_defaults_of_the_trainer_configuration() -> None:
    printed = {
        "algorithm": "PPO",
        "total_timesteps": 1_000_000,
        "seed": 42,
        "n_envs": 8,
        "use_feature_extractor": True,
        "feature_extractor_type": "balatro",
        "normalize_obs": True,
        "normalize_reward": True,
        "use_curriculum": False,
        "save_dir": "models",
        "checkpoint_freq": 10_000,
        "eval_freq": 5_000,
        "use_wandb": False,
        "wandb_project": "balatro-rl",
    }
    assert printed.items() <= vars(framework.TrainerConfig()).items()


def test_fields_and_defaults_of_the_hyperparameters() -> None:
    assert vars(framework.HyperparameterConfig()) == {
        "learning_rate": 3e-4,
        "gamma": 0.99,
        "gae_lambda": 0.95,
        "entropy_coefficient": 0.01,
        "value_function_coefficient": 0.5,
        "max_grad_norm": 0.5,
        "policy_net_arch": [256, 256],
        "value_net_arch": [256, 256],
        "features_dim": 512,
        "algorithm_specific": {},
    }


DEFAULTS: Mapping[str, Mapping[str, Any]] = {
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
"""Defaults that the document prints."""


@pytest.mark.parametrize("algorithm", DEFAULTS)
def test_defaults_of_each_algorithm_are_those_that_it_is_trained_with(algorithm: str) -> None:
    config = framework.get_default_config(algorithm)
    assert DEFAULTS[algorithm].items() <= config.hyperparams.numbers(algorithm).items()
    trainer = framework.create_trainer(utils.create_balatro_env(), config)
    own = trainer.model.settings.plugin(algorithm.lower())
    assert {name: getattr(own, name) for name in DEFAULTS[algorithm]} == DEFAULTS[algorithm]
    assert (own.encoder, own.features_dim, own.normalize_rewards) == ("balatro", 512, True)


def test_one_change_of_the_configuration_switches_the_algorithm() -> None:
    config = framework.get_default_config("PPO")
    config.algorithm = "DQN"
    assert config == framework.get_default_config("DQN")
    config.hyperparams.gamma = 0.9
    config.hyperparams.algorithm_specific |= {"batch_size": 99}
    config.algorithm = "A2C"
    assert config.hyperparams.learning_rate == 7e-4
    assert config.hyperparams.gamma == 0.9
    assert config.hyperparams.algorithm_specific == {"n_steps": 5, "batch_size": 99}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("total_timestep", 5, "has no field 'total_timestep'; did you mean 'total_timesteps'?"),
        ("hyperparams", {"gamma": 1}, "hyperparams: give a HyperparameterConfig, not dict"),
    ],
)
def test_wrong_assignments_are_refused(name: str, value: Any, message: str) -> None:
    config = framework.TrainerConfig()
    with pytest.raises(ConfigurationError) as refused:
        setattr(config, name, value)
    assert message in str(refused.value)


def test_a_configuration_means_settings_of_the_program() -> None:
    config = framework.TrainerConfig(
        algorithm="dqn",
        use_feature_extractor=False,
        use_wandb=True,
        hyperparams=framework.HyperparameterConfig(algorithm_specific={"exploration_final_eps": 0.1}),
        settings={"seed": 5},
    )
    settings = settings_of(config, 4)
    wanted = {
        "rl": "dqn",
        "dqn.exploration_final": 0.1,
        "dqn.net_arch": [256, 256],
        "dqn.normalize_observations": True,
        "track": ["tensorboard", "wandb"],
        "wandb.project": "balatro-rl",
        "seed": 5,
    }
    assert wanted.items() <= settings.items()
    assert not {"dqn.encoder", "dqn.ent_coef", "dqn.gae_lambda"} & settings.keys()


@pytest.mark.parametrize(
    ("encoder", "normalized"), [("balatro", False), ("balatro-actions", False), ("embedding", True)]
)
def test_encoders_of_balatro_read_observations_as_they_are(encoder: str, normalized: bool) -> None:
    settings = settings_of(framework.TrainerConfig(feature_extractor_type=encoder), 4)
    assert (settings["ppo.encoder"], settings["ppo.normalize_observations"]) == (encoder, normalized)
