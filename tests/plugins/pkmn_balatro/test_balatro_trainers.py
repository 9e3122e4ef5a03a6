"""Trainers of the Balatro framework by the learners of this program: trainings, callbacks and evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.little_balatro import LittleBalatro, quick

from pkmn_balatro.env_wrapper import wrap_balatro_env
from pkmn_balatro.framework import HyperparameterConfig, RLTrainer, create_trainer
from pkmn_balatro.utils import make_vectorized_env
from pkmncli.errors import CheckpointError, ConfigurationError


@pytest.fixture(autouse=True)
def _in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.long
def test_a_training_that_another_script_continues_is_the_unbroken_one_also_with_a_curriculum(tmp_path: Path) -> None:
    def trained(name: str, *steps: int) -> Any:
        rewards: list[float] = []
        for number, count in enumerate(steps):
            curriculum = {"window": 3, "success_threshold": 0.5, "initial_max_ante": 1}
            env = wrap_balatro_env(LittleBalatro(forbidden=0.8), True, curriculum)
            trainer: Any = create_trainer(env, quick("PPO", save_dir=str(tmp_path / name)))
            assert trainer.resume() is (number > 0)
            summary = trainer.train(count)
            rewards += trainer.metrics.rewards
        weights = {file.name: file.read_bytes() for file in trainer.checkpoints.latest().glob("*.safetensors")}
        return summary["total_steps"], summary["metrics"], rewards, weights

    once, twice = trained("once", 150), trained("twice", 70, 80)
    assert once == twice
    assert once[0] == 150
    assert once[1]["max_ante"] > 2  # the curriculum has advanced
    assert once[3]


@pytest.mark.long
def test_a_callback_follows_the_episodes_and_ends_the_training(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[RLTrainer, int, Any]] = []

    def callback(trainer: RLTrainer, episode: int, metrics: Any) -> bool:
        told.append((trainer, episode, dict(metrics)))
        return episode < 3

    trainer: Any = create_trainer(LittleBalatro(), quick("A2C", total_timesteps=5_000))
    summary = trainer.train(callback=callback)
    assert [episode for _, episode, _ in told] == [1, 2, 3]
    assert all(one is trainer for one, _, _ in told)
    assert told[-1][2]["environment/ante"] == trainer.metrics.antes[-1]
    assert summary["total_episodes"] == 3
    assert trainer.checkpoints.latest().name == f"step-{summary['total_steps']:09d}"
    assert trainer.train(7)["total_steps"] == summary["total_steps"] + 7
    mean, deviation = trainer.evaluate(3, deterministic=False)
    assert mean >= 0 <= deviation
    assert trainer.metrics.rewards[:3] == [metrics["reward"] for _, _, metrics in told]
    file = trainer.save_model("policy")
    assert (file.parent, file.suffix) == (Path("policy"), ".pt2")
    trainer.close()


def test_a_vector_of_environments_is_trained_by_its_function(tmp_path: Path) -> None:
    vector = make_vectorized_env(lambda: LittleBalatro(win_ante=2), n_envs=2)
    trainer: Any = create_trainer(vector, quick("DQN", n_envs=7, use_curriculum=True))
    assert trainer.model.settings.train.envs == 2
    assert trainer.train()["total_steps"] == 40
    assert "max_ante" in trainer.model.summary["metrics"]
    trainer.close()


def test_environments_that_have_a_curriculum_get_no_second_one() -> None:
    def made() -> Any:
        return wrap_balatro_env(LittleBalatro(), True, {"initial_max_ante": 4})

    for given in (made(), make_vectorized_env(made, n_envs=1)):
        trainer = create_trainer(given, quick("PPO", use_curriculum=True))
        env = getattr(trainer.env, "env_creator", lambda given=given: given)()
        assert env.metric_names.count("max_ante") == 1
        assert env.max_ante == 4
        trainer.close()


def test_nothing_is_evaluated_or_saved_before_a_training() -> None:
    trainer = create_trainer(LittleBalatro(), quick("PPO"))
    for call in (trainer.evaluate, trainer.save_model, lambda: trainer.save_model("policy")):
        with pytest.raises(CheckpointError, match=r"train first"):
            call()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"total_timesteps": 0}, "steps"),
        ({"seed": -1}, "seed"),
        ({"n_envs": 0}, "n_envs = 0: give a whole number from 1"),
        ({"n_envs": 2.5}, "n_envs = 2.5: give a whole number from 1"),
        ({"n_envs": "many"}, "n_envs = 'many': give a whole number from 1"),
        ({"checkpoint_freq": "often"}, "save_interval"),
        ({"feature_extractor_type": "balatr"}, "did you mean 'balatro'?"),
        ({"hyperparams": HyperparameterConfig(learning_rate=-1)}, "learning_rate"),
        ({"hyperparams": HyperparameterConfig(policy_net_arch=[0])}, "policy_net_arch"),
        ({"hyperparams": HyperparameterConfig(algorithm_specific={"n_step": 5})}, "did you mean 'ppo.n_steps'?"),
        ({"settings": {"quite": True}}, "did you mean"),
        ({"settings": {"ppo.gamma": None}}, "setting 'ppo.gamma' = None: give a text, a number"),
    ],
)
def test_wrong_settings_are_refused_in_one_line(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        create_trainer(LittleBalatro(), quick("PPO", **change))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("thing", [None, 7, "CartPole-v1", object()])
@pytest.mark.parametrize("algorithm", ["PPO", "SB3-PPO"])
def test_a_trainer_of_no_environment_is_refused(algorithm: str, thing: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"^\w+ is no environment: it has no reset; give a gymnasium.Env$"):
        create_trainer(thing, quick(algorithm, use_curriculum=True))


def test_the_number_of_steps_is_checked() -> None:
    trainer = create_trainer(LittleBalatro(), quick("PPO"))
    with pytest.raises(ConfigurationError, match=r"total_timesteps = 0\.5"):
        trainer.train(0.5)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="callback: str is no function"):
        trainer.train(5, callback="print")
