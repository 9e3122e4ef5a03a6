"""Training from Python: a run put together from objects, its callbacks, and going on with it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.odd_environments import Thrifty

from pkmn_pyboy.enhanced_environment import EnhancedPyBoyPokemonCrystalEnv
from pkmn_strategies import AdaptiveStrategySystem
from pkmn_strategies.settings import AdaptiveSettings
from pkmncli.api import StrategyType
from pkmncli.config import ResolvedSettings
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.agent import HybridAgent
from pkmncli.llm.manager import BaseLLMManager, LLMManager
from pkmncli.plugins import get_registry
from pkmncli.training.hybrid_trainer import HybridLLMRLTrainer, create_trainer_from_config

LONG = 1_000_000
"""Episodes between two of what a test doesn't want."""


def settings_of(trainer: HybridLLMRLTrainer) -> ResolvedSettings:
    assert trainer.run is not None
    return ResolvedSettings.from_run(trainer.run.folder, get_registry())


@pytest.mark.long
def test_a_run_is_trained_told_about_and_gone_on_with(tmp_path: Path) -> None:
    trainer = HybridLLMRLTrainer(
        EnhancedPyBoyPokemonCrystalEnv(action_repeat=2, seed_noops=(0, 3)),
        save_dir=tmp_path,
        settings={"dqn.learning_starts": 30, "eval_episodes": 2},
    )
    told: list[tuple[str, int]] = []

    def note(event: str) -> Any:
        def callback(caller: HybridLLMRLTrainer, episode: int, metrics: Mapping[str, Any]) -> None:
            assert caller is trainer
            assert metrics
            told.append((event, episode))

        return callback

    for event in ("episode_start", "episode_end", "checkpoint"):
        trainer.register_callback(event, note(event))
    summary = trainer.train(total_episodes=2, max_steps_per_episode=40, save_interval=1, eval_interval=2)
    assert (summary["total_episodes"], summary["total_steps"]) == (2, 80)
    assert summary["final_evaluation"]["episodes"] == 2
    assert [episode for event, episode in told if event == "episode_end"] == [1, 2]
    assert [episode for event, episode in told if event == "checkpoint"] == [0, 1, 2]
    own: Any = settings_of(trainer).plugin("pyboy")
    assert (own.action_repeat, own.seed_noops) == (2, (0, 3))
    first = trainer.run

    other = HybridLLMRLTrainer(save_dir=tmp_path)
    assert other.load_checkpoint("latest")
    other.save_best_model()
    assert first is not None
    assert first.checkpoints.index().best == "step-000000080"
    assert other.train(total_episodes=3, eval_interval=LONG)["total_steps"] == 120
    assert other.run is not None
    assert other.run.folder == first.folder


@pytest.mark.long
def test_going_on_from_an_earlier_checkpoint_sets_the_later_ones_aside(tmp_path: Path) -> None:
    trainer = HybridLLMRLTrainer(save_dir=tmp_path, settings={"rl": "none"})
    trainer.train(total_episodes=3, max_steps_per_episode=20, save_interval=1, eval_interval=LONG)
    run = trainer.run
    assert run is not None
    assert trainer.load_checkpoint(run.folder / "checkpoints" / "step-000000040")
    trainer.train(total_episodes=2, eval_interval=LONG)
    assert run.checkpoints.names()[-1] == "step-000000040"
    assert (run.folder / "superseded" / "step-000000060").is_dir()


@pytest.mark.long
def test_an_environment_of_your_own_is_trained_in(tmp_path: Path) -> None:
    trainer = HybridLLMRLTrainer(Thrifty(), save_dir=tmp_path, settings={"rl": "none"})
    summary = trainer.train(total_episodes=1, max_steps_per_episode=10, eval_interval=LONG)
    assert summary["best_reward"] == 30.0


@pytest.mark.long
def test_a_script_needs_no_guard_around_its_training(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from pkmncli import HybridLLMRLTrainer\n"
        "trainer = HybridLLMRLTrainer(save_dir='runs', settings={'rl': 'none'})\n"
        "print(trainer.train(total_episodes=1, max_steps_per_episode=10)['total_steps'])\n"
    )
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "10"


def test_something_else_than_an_environment_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="object is no environment"):
        HybridLLMRLTrainer(object())


class Upward(BaseLLMManager):
    """Advises to go up, always."""

    def __init__(self) -> None:
        super().__init__(None, "none")

    def get_action(self, context: str) -> tuple[int, dict[str, Any]]:
        return 4, {"reasoning": "up is out", "confidence": 0.9}


@pytest.mark.long
def test_a_model_of_a_script_advises(tmp_path: Path) -> None:
    trainer = HybridLLMRLTrainer(
        llm_manager=Upward(), save_dir=tmp_path, settings={"rl": "none", "llm_wait": True, "llm_interval": 4}
    )
    summary = trainer.train(total_episodes=1, max_steps_per_episode=40, eval_interval=LONG)
    assert summary["source_shares"]["llm"] > 0


class Opinionated(AdaptiveStrategySystem):
    """Switches after every episode."""

    def _should_switch_strategy(self, performance_metrics: Mapping[str, Any]) -> StrategyType:
        assert performance_metrics["episode_reward"] is not None
        rule_heavy = self.current_strategy is StrategyType.RULE_HEAVY
        return StrategyType.BALANCED if rule_heavy else StrategyType.RULE_HEAVY


@pytest.mark.long
def test_a_strategy_of_a_script_is_asked_and_its_switches_are_told(tmp_path: Path) -> None:
    strategy = Opinionated()
    trainer = HybridLLMRLTrainer(
        strategy_system=strategy,
        llm_manager=Upward(),
        save_dir=tmp_path,
        settings={"llm_wait": True, "curriculum.measure": "training"},
    )
    told: list[Any] = []
    trainer.register_callback("strategy_switched", lambda _trainer, episode, metrics: told.append((episode, metrics)))
    summary = trainer.train(total_episodes=3, max_steps_per_episode=20, eval_interval=LONG, curriculum_patience=2)
    assert [(episode, metrics["strategy"]) for episode, metrics in told] == [
        (1, "rule_heavy"),
        (2, "balanced"),
        (3, "rule_heavy"),
    ]
    assert summary["strategy_switches"] == strategy.get_strategy_stats()["total_switches"] == 3
    assert summary["curriculum"]["trust"] == 0.7, "patience ran out once"
    assert settings_of(trainer).curriculum.advancement_patience == 2


def test_a_strategy_of_an_installed_class_is_named_in_the_run(tmp_path: Path) -> None:
    strategy = AdaptiveStrategySystem(settings=AdaptiveSettings(evidence=2.5), initial=StrategyType.BALANCED)
    settings = HybridLLMRLTrainer(strategy_system=strategy, save_dir=tmp_path).settings
    assert (settings.train.strategy, settings.train.initial_strategy) == ("adaptive", "balanced")
    assert settings.plugin("adaptive").evidence == 2.5  # type: ignore[attr-defined]


def test_an_agent_brings_its_strategy_and_its_curriculum(tmp_path: Path) -> None:
    stages = [{"reward_threshold": 5.0, "min_episodes": 3, "llm_confidence": 0.8, "strategy_preference": "BALANCED"}]
    agent = HybridAgent(
        None,
        AdaptiveStrategySystem(initial=StrategyType.BALANCED),
        curriculum_config={"stages": stages, "advancement_patience": 7, "confidence_decay_rate": 0.05},
    )
    settings = HybridLLMRLTrainer(agent=agent, save_dir=tmp_path).settings
    assert (settings.train.strategy, settings.train.initial_strategy) == ("adaptive", "balanced")
    (stage,) = settings.curriculum.stages
    assert (stage.reward_threshold, stage.min_episodes, stage.llm_confidence) == (5.0, 3, 0.8)
    assert stage.preferred is StrategyType.BALANCED
    assert (settings.curriculum.advancement_patience, settings.curriculum.confidence_decay_rate) == (7, 0.05)


def test_something_else_than_a_strategy_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"derive it from AdaptiveStrategySystem"):
        HybridLLMRLTrainer(strategy_system=object())


def test_a_named_model_is_named_in_the_run(tmp_path: Path) -> None:
    trainer = HybridLLMRLTrainer(
        llm_manager=LLMManager.named("ollama", "smollm2", llm_timeout_s=7), save_dir=tmp_path, log_level="WARNING"
    )
    train = trainer.settings.train
    assert (train.llm, train.llm_model, train.llm_timeout_s) == ("ollama", "smollm2", 7)
    assert (train.save_dir, train.log_level) == (tmp_path, "WARNING")


@pytest.mark.long
def test_a_trainer_from_a_file(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"save_dir": str(tmp_path / "runs"), "rl": "none", "seed": 5}))
    trainer = create_trainer_from_config(config)
    summary = trainer.train(total_episodes=1, max_steps_per_episode=15)
    assert summary["total_steps"] == 15
    assert settings_of(trainer).train.seed == 5
    with pytest.raises(ConfigurationError, match="no_such"):
        create_trainer_from_config(tmp_path / "no_such.json")


def test_an_unknown_event_says_which_there_are() -> None:
    with pytest.raises(ConfigurationError, match="did you mean episode_end"):
        HybridLLMRLTrainer().register_callback("episode_ends", print)


def test_nothing_to_load_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not HybridLLMRLTrainer(save_dir=tmp_path).load_checkpoint("latest")
    assert str(tmp_path) in capsys.readouterr().err
