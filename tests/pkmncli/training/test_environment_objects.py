"""Environment objects of a script: classes of the script, wrappers and plain Gymnasium environments are trained."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import TransformReward
from support.plain_environments import Corridor, Counting, Nested, Unseeded

from pkmn_pyboy.enhanced_environment import EnhancedPyBoyPokemonCrystalEnv
from pkmncli.api import GymnasiumEnvironment
from pkmncli.errors import CheckpointError, ConfigurationError
from pkmncli.hybrid.agent import HybridAgent
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.plugins import get_registry
from pkmncli.training.assembly import open_store
from pkmncli.training.hybrid_trainer import HybridLLMRLTrainer
from pkmncli.training.run_settings import run_settings
from pkmncli.training.script_objects import object_named
from pkmncli.training.workers.flat_environment import flattened

LONG = 1_000_000
ALONE = {"final_episodes": 0, "dqn.learning_starts": 30}
RULES = {"rl": "none", "final_episodes": 0}


def trained(environment: Any, save_dir: Path, settings: dict[str, Any], episodes: int = 1) -> HybridLLMRLTrainer:
    trainer = HybridLLMRLTrainer(environment, save_dir=save_dir, settings=settings)
    trainer.train(total_episodes=episodes, max_steps_per_episode=10, eval_interval=LONG)
    return trainer


def summary_of(trainer: HybridLLMRLTrainer) -> dict[str, Any]:
    assert trainer.summary is not None
    return trainer.summary


@pytest.mark.long
def test_a_reward_of_a_class_of_the_script_is_earned_in_training(tmp_path: Path) -> None:
    class Local(EnhancedPyBoyPokemonCrystalEnv):
        def _calculate_reward(self, current_state: Any, previous_state: Any, action: int) -> float:
            return 7.0

    assert summary_of(trained(Local(), tmp_path, RULES))["best_reward"] == 70.0


def test_a_step_that_is_overridden_is_called_in_training(tmp_path: Path) -> None:
    class Generous(EnhancedPyBoyPokemonCrystalEnv):
        def step(self, action: Any) -> Any:
            observation, _reward, *others = super().step(action)
            return observation, 100.0, *others

    assert summary_of(trained(Generous(), tmp_path, RULES))["best_reward"] == 1000.0


def test_a_wrapper_around_the_game_is_trained_with_its_pilot(tmp_path: Path) -> None:
    trainer = trained(TransformReward(EnhancedPyBoyPokemonCrystalEnv(), lambda reward: 3.0), tmp_path, RULES)
    assert summary_of(trainer)["best_reward"] == 30.0
    assert summary_of(trainer)["source_shares"]["rule"] == 1.0


@pytest.mark.long
def test_an_environment_of_the_script_reports_success_and_metrics_and_resumes_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = trained(TransformReward(Corridor(), lambda reward: 5 * reward), tmp_path, ALONE, episodes=12)
    summary = summary_of(trainer)
    assert summary["best_reward"] in (0.0, 5.0)
    assert 0 <= summary["success_rate"] <= 1
    assert 0 <= summary["metrics"]["place"] <= 6
    assert trainer.run is not None
    store = open_store(get_registry(), trainer.run.folder)
    measured, episodes = {row["name"] for row in store.read("metrics")}, store.read("episodes")
    store.close()
    assert {"environment/place", "episode/success"} <= measured
    places = {row["outcome"]: json.loads(row["metrics"])["place"] for row in episodes}
    assert {"ended": 0, "goal": 6}.items() >= {name: places[name] for name in places if name != "time-limit"}.items()
    files = b"".join(path.read_bytes() for path in trainer.run.folder.rglob("*") if path.is_file())
    assert b"cloudpickle" not in files, "objects are in no file"
    again = HybridLLMRLTrainer(TransformReward(Corridor(), lambda reward: 5 * reward), save_dir=tmp_path)
    assert again.load_checkpoint(trainer.run.folder)
    assert again.train(total_episodes=14, eval_interval=LONG)["total_episodes"] == 14
    monkeypatch.setattr("pkmncli.training.script_objects._known", {})
    name = run_settings(trainer.run, get_registry()).train.env_object
    with pytest.raises(ConfigurationError, match="'TransformReward of Corridor': the environment is an object of the"):
        object_named(str(name))


def test_an_environment_of_the_fast_contract_is_trained_as_it_is(tmp_path: Path) -> None:
    summary = summary_of(trained(Counting(), tmp_path, ALONE, episodes=2))
    assert (summary["total_steps"], list(summary["metrics"])) == (20, ["total"])
    assert summary["success_rate"] is None


def test_an_environment_of_gymnasium_becomes_settings() -> None:
    environment = gymnasium.make("CartPole-v1", sutton_barto_reward=True, max_episode_steps=20)
    settings = HybridLLMRLTrainer(environment).settings
    assert (settings.train.env, settings.train.env_object) == ("gym", None)
    assert (settings.train.env_args, settings.train.max_steps_per_episode) == (["sutton_barto_reward=true"], 20)
    assert settings.plugin_values("gym")["id"] == "CartPole-v1"


def test_an_environment_of_gymnasium_that_was_played_and_drawn_is_still_settings() -> None:
    environment = gymnasium.make("CartPole-v1")
    environment.reset(seed=1)
    while not environment.step(1)[2]:
        pass
    inside: Any = environment.unwrapped
    inside.screen, inside.isopen = object(), False  # as render() and close() leave it
    assert HybridLLMRLTrainer(environment).settings.train.env_object is None


def test_an_environment_of_gymnasium_that_was_changed_is_sent_as_an_object() -> None:
    steep, kind = gymnasium.make("CartPole-v1"), gymnasium.make("CartPole-v1")
    steep.unwrapped.theta_threshold_radians = 0.01  # type: ignore[attr-defined]
    kind.unwrapped.step = lambda action: None  # type: ignore[assignment, method-assign, misc, return-value]
    for environment in (steep, kind):
        assert HybridLLMRLTrainer(environment).settings.train.env_object is not None


def test_a_step_that_a_class_of_the_fast_contract_overrides_is_called_in_training(tmp_path: Path) -> None:
    class Generous(Counting):
        def step(self, action: int) -> Any:
            observation, reward, *others = super().step(action)
            return observation, reward + 100, *others

    assert summary_of(trained(Generous(), tmp_path, ALONE))["best_reward"] >= 1000


def test_an_environment_that_no_seed_decides_is_trained_and_said_to_be_without_resume(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert summary_of(trained(Unseeded(), tmp_path, ALONE, episodes=2))["total_episodes"] == 2
    assert "Unseeded does not repeat an episode, so this run cannot be resumed" in "".join(capsys.readouterr())


def test_a_class_in_place_of_an_environment_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="Corridor is a class: give an instance of it"):
        HybridLLMRLTrainer(Corridor)


def test_what_cannot_be_sent_to_another_process_is_refused() -> None:
    class Handle:
        def __reduce__(self) -> Any:
            raise TypeError("a window is open")

    environment = Corridor()
    environment.handle = Handle()  # type: ignore[attr-defined]
    with pytest.raises(ConfigurationError, match=r"cannot be sent to another process .*a window is open"):
        HybridLLMRLTrainer(environment)


@pytest.mark.long
def test_a_resumed_run_has_the_environment_of_its_trainer_and_leaves_others_theirs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = trained(Corridor(0.5), tmp_path, ALONE)
    assert begun.run is not None
    folder = begun.run.folder
    del begun
    gc.collect()
    one, other = (HybridLLMRLTrainer(Corridor(wind), save_dir=tmp_path, settings=ALONE) for wind in (0.25, 0.75))
    capsys.readouterr()
    assert other.load_checkpoint(folder)
    assert wind_of(other) == 0.75
    other.train(total_episodes=2, eval_interval=LONG)
    assert "The environment Corridor has other classes or attributes" in capsys.readouterr().err
    assert (wind_of(one), wind_of(other)) == (0.25, 0.75)
    same = HybridLLMRLTrainer(Corridor(0.5), save_dir=tmp_path)
    assert same.load_checkpoint(folder)
    same.train(total_episodes=3, eval_interval=LONG)
    assert "other classes or attributes" not in capsys.readouterr().err


def wind_of(trainer: HybridLLMRLTrainer) -> float:
    environment = trainer.training_environment()
    wind: float = environment.env.wind
    environment.close()
    return wind


def test_an_object_is_kept_as_long_as_its_trainer() -> None:
    trainer = HybridLLMRLTrainer(Corridor(0.125))
    name = str(trainer.settings.train.env_object)
    assert object_named(name).packed
    del trainer
    gc.collect()
    with pytest.raises(ConfigurationError, match="the environment is an object of the script"):
        object_named(name)


def test_a_trained_agent_plays_where_observations_are_nested(tmp_path: Path) -> None:
    agent = HybridAgent(mode=AgentMode.RL_ONLY, rl="a2c")
    HybridLLMRLTrainer(Nested(), agent, save_dir=tmp_path, settings={"final_episodes": 0, "pilot": "none"}).train(
        total_episodes=1, eval_interval=LONG
    )
    environment = flattened(Nested())
    observation, _ = environment.reset(seed=1)
    assert 0 <= agent.get_action(observation) < 12
    with pytest.raises(ConfigurationError, match=r"the agent was trained on action_mask, me\.cards, me\.suit"):
        agent.get_action({"me": {"cards": np.ones(2)}})


def test_two_objects_of_one_class_are_told_apart() -> None:
    one, other = (HybridLLMRLTrainer(Corridor(wind)) for wind in (0.25, 0.75))
    assert one.settings.train.env_object != other.settings.train.env_object


@pytest.mark.long
def test_a_training_has_a_budget_in_steps_and_goes_on_with_a_larger_one(tmp_path: Path) -> None:
    trainer = HybridLLMRLTrainer(Corridor(), save_dir=tmp_path, settings=ALONE)
    assert trainer.train(None, eval_interval=LONG, total_steps=20)["total_steps"] == 20
    assert trainer.load_checkpoint("latest")
    assert trainer.train(None, eval_interval=LONG, total_steps=30)["total_steps"] == 30


@pytest.mark.long
def test_a_callback_ends_a_training_which_is_saved(tmp_path: Path) -> None:
    trainer = HybridLLMRLTrainer(Corridor(), save_dir=tmp_path, settings=ALONE)
    trainer.register_callback("episode_end", lambda told, episode, metrics: told.stop() if episode == 3 else None)
    summary = trainer.train(100, eval_interval=LONG)
    assert summary["total_episodes"] == 3
    assert trainer.run is not None
    assert trainer.run.checkpoints.names()[-1] == f"step-{summary['total_steps']:09d}"


class Graded(Corridor):
    """A corridor whose end is worth more in an evaluation."""

    worth = 1.0

    def for_evaluation(self) -> None:
        self.worth = 3.0

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        seen, reward, *others = super().step(action)
        return seen, self.worth * reward, *others


@pytest.mark.long
def test_a_learner_is_evaluated_and_exported_where_only_the_script_has_its_environment(tmp_path: Path) -> None:
    environment = TransformReward(Graded(), lambda reward: 5 * reward)
    trainer = HybridLLMRLTrainer(environment, save_dir=tmp_path)
    with pytest.raises(CheckpointError, match="no trained learner yet"):
        trainer.evaluate()
    trainer = trained(environment, tmp_path, ALONE, episodes=6)
    assert summary_of(trainer)["best_reward"] in (0.0, 5.0)
    result = trainer.evaluate(episodes=6, stochastic=True, envs=1)
    assert (result["episodes"], result["stochastic"]) == (6, True)
    assert result["avg_reward"] == pytest.approx(15 * result["goal_share"])
    file = trainer.export_policy(tmp_path / "policy")
    assert json.loads((file.parent / "policy.json").read_text())["num_actions"] == 2


class Longer(gymnasium.Wrapper[Any, int, Any, int]):
    """Wrapper that remembers from episode to episode, and says so."""

    episodes = 0

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        self.episodes += 1
        return super().reset(**given)

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        seen, _reward, *others = super().step(action)
        return seen, float(self.episodes), *others

    def save_state(self) -> dict[str, Any]:
        corridor: Any = self.unwrapped
        return {"episodes": self.episodes, "place": corridor.place}

    def load_state(self, state: dict[str, Any]) -> None:
        corridor: Any = self.unwrapped
        self.episodes, corridor.place = state["episodes"], state["place"]


def test_a_wrapper_that_keeps_the_whole_state_goes_on_where_it_was() -> None:
    first, second = (GymnasiumEnvironment(Longer(Corridor())) for _ in range(2))
    for seed in (1, 2, 3):
        first.reset(seed=seed)
    first.step(1)
    second.load_state(first.save_state())
    found = [environment.step(1) for environment in (first, second)]
    assert found[0][1] == found[1][1] == 3.0
    np.testing.assert_array_equal(found[0][0]["observation"], found[1][0]["observation"])
