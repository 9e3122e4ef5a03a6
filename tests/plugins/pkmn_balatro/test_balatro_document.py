"""What the document of the training framework shows in Python runs, with other imports and fewer steps.

The blocks are those of the document; ``from training`` is ``from pkmn_balatro`` here.
"""

from __future__ import annotations

import pydoc
from pathlib import Path
from typing import Any

import pytest
from support.little_balatro import LittleBalatro

from pkmn_balatro import env_wrapper, experiment, framework, metrics, sb3_trainer, utils
from pkmn_balatro.env_wrapper import CurriculumWrapper, wrap_balatro_env
from pkmn_balatro.environment import BalatroEnvironment
from pkmn_balatro.learner_trainer import LearnerTrainer, settings_of
from pkmncli.errors import ConfigurationError

QUICK = {"quiet": True, "eval_episodes": 1, "max_steps_per_episode": 60}
"""Further settings of a training that is over soon."""
FEW = {
    'algorithm="PPO", total_timesteps=1_000_000': 'algorithm="PPO", total_timesteps=40, n_envs=2, settings=QUICK',
    "config.total_timesteps = 500_000": "config.total_timesteps, config.n_envs, config.settings = 40, 2, QUICK",
    "total_timesteps=100_000": "total_timesteps=40, n_envs=1, n_eval_episodes=1, options={'settings': QUICK}",
    "n_episodes=10": "n_episodes=2",
}
"""Numbers of the document, and those of a test."""

FRAMEWORK = """
from training.framework import TrainerConfig, RLTrainer, create_trainer

# Configuration
config = TrainerConfig(algorithm="PPO", total_timesteps=1_000_000)

# Create trainer (factory pattern)
trainer = create_trainer(env, config)
"""

SB3 = """
from training.sb3_trainer import SB3Trainer

trainer = SB3Trainer(env, config)
result = trainer.train()
"""

EXPERIMENT = """
from training.experiment import ExperimentConfig, MultiAlgorithmBenchmark

# Configure experiments
config = ExperimentConfig(algorithm="PPO", total_timesteps=100_000)

# Run benchmark
benchmark = MultiAlgorithmBenchmark(env_creator=create_balatro_env)
benchmark.add_experiment(config)
results = benchmark.run_all()
benchmark.print_summary()
"""

METRICS = """
from training.metrics import BalatroMetrics, plot_training_curves

metrics = BalatroMetrics()
metrics.add_episode(reward=100, ante=5, score=50000, length=500)
print(metrics.get_summary())

plot_training_curves(metrics_dict, save_path="plot.png")
"""

UTILS = """
from training.utils import create_balatro_env, make_vectorized_env

# Create single environment
env = create_balatro_env(seed=42)

# Create vectorized environments
vec_env = make_vectorized_env(create_balatro_env, n_envs=8)
"""

WRAPPERS = """
from training.env_wrapper import BalatroGymWrapper, CurriculumWrapper

env = BalatroGymWrapper(env)  # Standardized wrapper
env = CurriculumWrapper(env)  # Curriculum learning
"""

SINGLE = """
from training.framework import get_default_config, create_trainer
from training.utils import create_balatro_env

config = get_default_config("PPO")
config.total_timesteps = 500_000

env = create_balatro_env(seed=42)
trainer = create_trainer(env, config)

trainer.train()
trainer.evaluate(n_episodes=10)
trainer.save_model()
trainer.close()
"""

COMPARISON = """
from training.experiment import ExperimentConfig, MultiAlgorithmBenchmark
from training.utils import create_balatro_env

configs = [
    ExperimentConfig(algorithm="PPO", total_timesteps=100_000),
    ExperimentConfig(algorithm="A2C", total_timesteps=100_000),
    ExperimentConfig(algorithm="DQN", total_timesteps=100_000),
]

benchmark = MultiAlgorithmBenchmark(create_balatro_env)
for config in configs:
    benchmark.add_experiment(config)

results = benchmark.run_all()
best = benchmark.get_best_result()
"""

HYPERPARAMETERS = """
from training.framework import TrainerConfig, HyperparameterConfig

hyperparams = HyperparameterConfig(
    learning_rate=1e-3,
    gamma=0.995,
    policy_net_arch=[512, 512],
    algorithm_specific={
        'n_steps': 4096,
        'batch_size': 128,
    }
)

config = TrainerConfig(
    algorithm="PPO",
    hyperparams=hyperparams,
    total_timesteps=1_000_000
)
"""

CURRICULUM = """
from training.env_wrapper import wrap_balatro_env

env = wrap_balatro_env(
    env,
    use_curriculum=True,
    curriculum_config={
        'initial_max_ante': 2,
        'ante_increment': 1,
        'success_threshold': 0.8,
    }
)
"""

ALGORITHM = """
from training.framework import RLTrainer, TrainerConfig

class MyAlgorithmTrainer(RLTrainer):
    def create_model(self):
        # Initialize your model
        pass

    def train(self, total_timesteps=None, callback=None):
        # Training loop
        pass

    def evaluate(self, n_episodes, deterministic=True):
        # Evaluation loop
        return mean_reward, std_reward
"""

WRAPPER = """
from training.env_wrapper import EnvironmentWrapper

class MyWrapper(EnvironmentWrapper):
    def reset(self, **kwargs):
        obs, info = self.env.reset(**kwargs)
        # Custom reset logic
        return obs, info

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        # Custom step logic
        return obs, reward, terminated, truncated, info
"""

VALIDATION = """
from training.utils import validate_environment
validate_environment(env)  # Prints detailed errors
"""

MEMORY = """
config = TrainerConfig(
    n_envs=2,  # Reduce parallel environments
    hyperparams=HyperparameterConfig(
        features_dim=256,  # Reduce network size
    )
)
"""

SLOW = """
config = TrainerConfig(
    n_envs=8,  # Increase vectorization
    checkpoint_freq=100_000,  # Reduce checkpoint frequency
)
"""

REFERENCE = """
from training import framework, sb3_trainer, experiment, metrics, utils

help(framework.TrainerConfig)
help(sb3_trainer.SB3Trainer)
help(experiment.MultiAlgorithmBenchmark)
help(metrics.BalatroMetrics)
help(utils.create_balatro_env)
"""


@pytest.fixture(autouse=True)
def _in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ran(block: str, **names: Any) -> dict[str, Any]:
    """Run a block with some names known. Return all names after it."""
    text = block.replace("from training", "from pkmn_balatro")
    for printed, here in FEW.items():
        text = text.replace(printed, here)
    space = {"QUICK": QUICK, **names}
    exec(compile(text, "block", "exec"), space)
    return space


# Modules ----------------------------------------------------------------------------------------------------------


def test_framework_makes_a_trainer() -> None:
    found = ran(FRAMEWORK, env=LittleBalatro())
    assert isinstance(found["trainer"], LearnerTrainer)
    assert isinstance(found["trainer"], found["RLTrainer"])


@pytest.mark.long
def test_metrics_are_summed_up_and_plotted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = ran(METRICS, metrics_dict={"reward": [1.0, 2.0, 4.0], "ante": [1, 1, 2]})
    assert found["metrics"].get_summary()["mean_score"] == 50_000
    assert "'mean_reward': 100.0" in capsys.readouterr().out
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_utils_make_one_environment_and_eight() -> None:
    found = ran(UTILS)
    assert isinstance(found["env"], BalatroEnvironment)
    observation, _ = found["vec_env"].reset(seed=1)
    assert found["vec_env"].num_envs == len(observation["action_mask"]) == 8
    found["vec_env"].close()


def test_wrappers_go_around_each_other() -> None:
    env = ran(WRAPPERS, env=utils.create_balatro_env())["env"]
    assert isinstance(env, CurriculumWrapper)
    assert env.reset(seed=1)[1]["metrics"]["ante"] == 1


@pytest.mark.long
def test_stable_baselines_trains() -> None:
    pytest.importorskip("sb3_contrib")
    numbers = framework.HyperparameterConfig(features_dim=8, policy_net_arch=[8], value_net_arch=[8])
    numbers.algorithm_specific = {"n_steps": 16, "batch_size": 16}
    config = framework.TrainerConfig(hyperparams=numbers, total_timesteps=20, n_envs=1)
    result = ran(SB3, env=utils.create_balatro_env(), config=config)["result"]
    assert result["total_steps"] == 32


@pytest.mark.long
def test_a_benchmark_of_one_algorithm(capsys: pytest.CaptureFixture[str]) -> None:
    found = ran(EXPERIMENT, create_balatro_env=utils.create_balatro_env)
    assert found["results"][0].error is None
    assert "PPO" in capsys.readouterr().out


# Usage patterns ---------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_single_algorithm_training(tmp_path: Path) -> None:
    trainer = ran(SINGLE)["trainer"]
    assert trainer.run_folder.parent == tmp_path / "models"
    assert trainer.save_model().name == "step-000000040"


@pytest.mark.long
def test_multi_algorithm_comparison() -> None:
    found = ran(COMPARISON)
    assert [one.error for one in found["results"]] == [None] * 3
    assert found["best"].mean_reward == max(one.mean_reward for one in found["results"])
    assert {group["label"] for group in found["benchmark"].compare()["groups"]} == {"ppo", "a2c", "dqn"}


def test_custom_hyperparameters() -> None:
    settings = settings_of(ran(HYPERPARAMETERS)["config"], 1)
    wanted = {
        "rl": "ppo",
        "ppo.learning_rate": 1e-3,
        "ppo.gamma": 0.995,
        "ppo.policy_net_arch": [512, 512],
        "ppo.value_net_arch": [256, 256],
        "ppo.n_steps": 4096,
        "ppo.batch_size": 128,
        "ppo.n_epochs": 10,
        "steps": 1_000_000,
    }
    assert wanted.items() <= settings.items()


def test_curriculum_learning() -> None:
    env = ran(CURRICULUM, env=utils.create_balatro_env())["env"]
    assert isinstance(env, CurriculumWrapper)
    assert (env.max_ante, env.ante_increment, env.success_threshold) == (2, 1, 0.8)


# Extending --------------------------------------------------------------------------------------------------------


def test_a_new_algorithm_is_registered_and_made() -> None:
    own = ran(ALGORITHM, mean_reward=3.0, std_reward=1.0)["MyAlgorithmTrainer"]
    framework.register_trainer("MyAlgorithm", own)
    config = framework.TrainerConfig(algorithm="MyAlgorithm")
    trainer = framework.create_trainer(LittleBalatro(), config)
    assert type(trainer) is own
    assert trainer.evaluate(5) == (3.0, 1.0)
    with pytest.raises(ConfigurationError, match="MyAlgorithmTrainer cannot save its model"):
        trainer.save_model()
    trainer.close()


def test_a_custom_environment_wrapper() -> None:
    env = ran(WRAPPER)["MyWrapper"](utils.create_balatro_env())
    assert env.reset(seed=1)[0]["action_mask"].any()


# Troubleshooting and reference ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("algorithm", "hint"), [("PPPO", ' did you mean "PPO"?'), ("Rainbow", ""), ("", ""), (None, "")]
)
def test_an_unknown_algorithm_is_refused_with_those_that_are_supported(algorithm: Any, hint: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        framework.create_trainer(LittleBalatro(), framework.TrainerConfig(algorithm=algorithm))
    assert str(refused.value).startswith(f'Unknown algorithm: {algorithm!r}.{hint} Supported: "PPO", "A2C", "DQN"')
    with pytest.raises(ConfigurationError, match="Unknown algorithm"):
        framework.get_default_config(algorithm)


def test_the_check_of_an_environment_prints_its_result(capsys: pytest.CaptureFixture[str]) -> None:
    ran(VALIDATION, env=utils.create_balatro_env())
    assert capsys.readouterr().out == "BalatroEnvironment: no faults found.\n"


def test_less_memory_and_more_speed_are_settings() -> None:
    names = {"TrainerConfig": framework.TrainerConfig, "HyperparameterConfig": framework.HyperparameterConfig}
    small = settings_of(ran(MEMORY, **names)["config"], 2)
    assert (small["ppo.features_dim"], small["envs"]) == (256, 2)
    assert settings_of(ran(SLOW, **names)["config"], 8)["save_interval"] == 100_000


def test_the_reference_is_in_the_docstrings(capsys: pytest.CaptureFixture[str]) -> None:
    ran(REFERENCE, help=lambda thing: print(pydoc.render_doc(thing, renderer=pydoc.plaintext)))
    told = capsys.readouterr().out
    for part in (
        "total_timesteps: steps, over all environments",
        "MaskablePPO",
        "add_experiment",
        "get_summary",
        "seed",
    ):
        assert part in told


def test_all_modules_and_names_of_the_document_are_there() -> None:
    for module, names in {
        framework: ("TrainerConfig", "HyperparameterConfig", "RLTrainer", "CheckpointManager"),
        sb3_trainer: ("SB3Trainer",),
        experiment: ("ExperimentConfig", "ExperimentResult", "MultiAlgorithmBenchmark"),
        metrics: ("BalatroMetrics", "compute_moving_average", "plot_training_curves", "print_comparison_table"),
        utils: ("create_balatro_env", "make_vectorized_env", "validate_environment", "setup_logging"),
        env_wrapper: ("BalatroGymWrapper", "CurriculumWrapper", "RewardScalingWrapper", "ActionMaskWrapper"),
    }.items():
        assert all(getattr(module, name).__doc__ for name in names)
    assert wrap_balatro_env.__doc__


def test_the_package_offers_every_name_of_the_framework() -> None:
    import pkmn_balatro  # noqa: PLC0415 - its names are imported here

    found = {name: getattr(pkmn_balatro, name).__module__ for name in pkmn_balatro.__all__}
    assert len(found) >= 25
    assert all(module.startswith("pkmn_balatro.") for module in found.values())
