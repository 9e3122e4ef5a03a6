"""Trainers of the Balatro framework by Stable-Baselines3, and the checkpoints of its models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from support.little_balatro import LittleBalatro, quick

from pkmn_balatro.env_wrapper import wrap_balatro_env
from pkmn_balatro.framework import CheckpointManager, HyperparameterConfig, create_trainer
from pkmn_balatro.sb3_trainer import SB3Trainer
from pkmn_balatro.utils import make_vectorized_env
from pkmncli.errors import CheckpointError, ConfigurationError


@pytest.fixture(autouse=True)
def _in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def library() -> Iterator[None]:
    pytest.importorskip("sb3_contrib")
    yield


@pytest.mark.long
@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("algorithm", ["PPO", "A2C", "DQN"])
def test_each_algorithm_of_the_library_trains_without_a_forbidden_action(algorithm: str) -> None:
    env = wrap_balatro_env(LittleBalatro(), use_curriculum=True)
    config = quick(f"SB3-{algorithm}", checkpoint_freq=16, eval_freq=32)
    trainer: Any = create_trainer(env, config)
    assert isinstance(trainer, SB3Trainer)
    told: list[int] = []
    summary = trainer.train(callback=lambda _trainer, episode, _metrics: told.append(episode))
    assert told == list(range(1, summary["episodes"] + 1))
    assert sum(trainer.vec_env.get_attr("illegal")) == 0
    assert trainer.train(16)["total_steps"] - summary["total_steps"] in (16, 20)  # whole rollouts
    assert trainer.checkpoints.best() in trainer.checkpoints.paths()
    assert len(trainer.checkpoints.paths()) <= 4
    mean, deviation = trainer.evaluate(2)
    assert 0 <= mean <= 24
    assert deviation >= 0
    file = trainer.save_model()
    loaded = type(trainer.model).load(file, device="cpu")
    observation = {name: array[None] for name, array in LittleBalatro().reset(seed=2)[0].items()}
    observation["kinds"] = observation["kinds"].astype(np.float32)
    actions = [model.predict(observation, deterministic=True)[0] for model in (loaded, trainer.model)]
    np.testing.assert_array_equal(*actions)
    trainer.close()


@pytest.mark.long
@pytest.mark.usefixtures("library")
def test_the_library_trains_in_several_environments_and_stops_when_asked() -> None:
    vector = make_vectorized_env(LittleBalatro, n_envs=2)
    trainer: Any = create_trainer(vector, quick("SB3-PPO", use_feature_extractor=False, total_timesteps=1_000))
    summary = trainer.train(callback=lambda *_given: False)
    assert summary["total_steps"] < 100
    trainer.close()


@pytest.mark.long
@pytest.mark.usefixtures("library")
def test_each_evaluation_is_in_the_log_of_the_library() -> None:
    from stable_baselines3.common.callbacks import BaseCallback  # noqa: PLC0415 - an optional package

    logged: list[float] = []

    class Listener(BaseCallback):
        def _on_step(self) -> bool:
            found = self.logger.name_to_value
            if "eval/mean_reward" in found:
                logged.append(found["eval/mean_reward"])
            return True

    config = quick("SB3-A2C", use_feature_extractor=False, total_timesteps=20, eval_freq=10)
    trainer: Any = create_trainer(LittleBalatro(), config)
    trainer.train(callback=Listener())
    assert logged
    assert all(0 <= reward <= 24 for reward in logged)
    assert trainer.checkpoints.paths() == []  # they are due later
    trainer.close()


@pytest.mark.usefixtures("library")
def test_what_the_library_refuses_is_said_in_one_line() -> None:
    config = quick("SB3-A2C", hyperparams=HyperparameterConfig(algorithm_specific={"n_epoch": 3}))
    with pytest.raises(ConfigurationError, match="n_epoch"):
        create_trainer(gymnasium.make("CartPole-v1"), config)


@pytest.mark.usefixtures("library")
def test_numbers_of_steps_and_episodes_for_the_library_are_checked() -> None:
    trainer = create_trainer(LittleBalatro(), quick("SB3-A2C", use_feature_extractor=False))
    with pytest.raises(ConfigurationError, match=r"^total_timesteps = 0\.5: give a whole number from 1$"):
        trainer.train(0.5)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=r"^n_episodes = 0: give a whole number from 1$"):
        trainer.evaluate(0)
    trainer.close()


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("name", ["total_timesteps", "n_envs", "checkpoint_freq", "eval_freq"])
def test_counts_for_the_library_are_checked(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{name} = 0: give a whole number from 1$"):
        create_trainer(LittleBalatro(), quick("SB3-DQN", **{name: 0}))


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": -1}, "seed = -1: give a whole number from 0"),
        ({"hyperparams": HyperparameterConfig(features_dim=0)}, "features_dim = 0: give a whole number from 1"),
    ],
)
def test_seed_and_features_for_the_library_are_checked(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{message}$"):
        create_trainer(LittleBalatro(), quick("SB3-PPO", **change))


# Checkpoints ------------------------------------------------------------------------------------------------------


class Model:
    """Anything that can be saved."""

    def __init__(self, content: str) -> None:
        self.content = content

    def save(self, path: Path) -> None:
        path.write_text(self.content)


def test_the_newest_checkpoints_and_the_best_are_kept(tmp_path: Path) -> None:
    manager = CheckpointManager(tmp_path / "models", keep=2)
    assert (manager.paths(), manager.latest(), manager.best()) == ([], None, None)
    for step, score in ((100, 1.0), (200, 5.0), (300, None), (1_400, 2.0), (1_500, 3.0)):
        manager.save(Model(f"after {step}"), step, score)
    assert [path.name for path in manager.paths()] == [f"step-{step:09d}.zip" for step in (200, 1_400, 1_500)]
    best, latest = CheckpointManager(tmp_path / "models").best(), manager.latest()
    assert best is not None
    assert latest is not None
    assert (best.read_text(), latest.read_text()) == ("after 200", "after 1500")


def test_the_index_is_replaced_as_a_whole(tmp_path: Path) -> None:
    manager = CheckpointManager(tmp_path)
    manager.save(Model("worse"), 1, 1.0)
    earlier = tmp_path / "earlier"
    earlier.hardlink_to(tmp_path / "index.json")
    content = earlier.read_text()
    manager.save(Model("better"), 2, 2.0)
    assert earlier.read_text() == content
    assert not list(tmp_path.glob("part-*"))


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file")
    with pytest.raises(CheckpointError, match="cannot be written"):
        CheckpointManager(tmp_path / "models").save(Model(""), 1)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "index.json").write_text("{")
    with pytest.raises(CheckpointError, match="cannot be read"):
        CheckpointManager(tmp_path / "other").best()
