"""Trainings that the documents show in Python run on the bundled game, with other imports, paths and counts.

The blocks that are not here, and why, are in docs/differences.md.
"""

from __future__ import annotations

import cProfile
import io
import logging
import pstats
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.own_classes import CustomPokemonEnv, CustomRewardEnvironment
from support.variants import long_after

from pkmncli import (
    EnhancedPyBoyPokemonCrystalEnv,
    HybridAgent,
    HybridLLMRLTrainer,
    create_trainer_from_config,
)
from pkmncli.errors import TrainingError
from pkmncli.testing import (
    benchmark_decision_latency,
    benchmark_memory_usage,
    benchmark_training_speed,
    cleanup_test_files,
    create_mock_environment,
    create_test_trainer,
    generate_test_config,
)
from pkmncli.testing.trainers import QUICK


@pytest.mark.long
def test_quick_start(config: str) -> None:
    trainer = create_trainer_from_config(config)
    summary = trainer.train(total_episodes=2, max_steps_per_episode=40)
    for key in [
        "total_episodes",
        "total_steps",
        "best_reward",
        "final_avg_reward",
        "curriculum_stage_reached",
        "curriculum_advancements",
        "strategy_switches",
        "final_evaluation",
        "avg_episode_length",
        "avg_llm_usage",
    ]:
        assert key in summary
    assert {"avg_reward", "std_reward", "avg_length", "avg_llm_usage"} <= summary["final_evaluation"].keys()


@pytest.mark.long
def test_custom_training_parameters(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    trainer = create_trainer_from_config(config)
    training_params = {
        "total_episodes": 3,
        "max_steps_per_episode": 30,
        "save_interval": 1,
        "eval_interval": 2,
        "curriculum_patience": 2,
    }
    summary = trainer.train(**training_params)
    print(f"Training completed with best reward: {summary['best_reward']}")
    assert "Training completed with best reward: " in capsys.readouterr().out
    assert (Path("training_checkpoints")).is_dir()
    assert list(Path("pokemon_decisions.db").glob("*/decisions/*.parquet"))


@pytest.mark.long
def test_resuming_from_a_checkpoint(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    create_trainer_from_config(config).train(total_episodes=1, max_steps_per_episode=30)
    trainer = create_trainer_from_config(config)
    success = trainer.load_checkpoint("latest")
    if success:
        print("Resumed training from episode 1")
        assert trainer.train(total_episodes=2)["total_episodes"] == 2
    assert "Resumed training from episode 1" in capsys.readouterr().out
    assert not trainer.load_checkpoint("checkpoints/checkpoint_episode_500.pt")
    assert "after 500 episodes; there are episode-0, episode-1, episode-2" in capsys.readouterr().err


@pytest.mark.long
def test_resuming_from_an_episode(config: str) -> None:
    create_trainer_from_config(config).train(total_episodes=2, max_steps_per_episode=20, save_interval=1)
    trainer = create_trainer_from_config(config)
    success = trainer.load_checkpoint("training_checkpoints/checkpoint_episode_1.pt")
    assert success
    assert trainer.train(total_episodes=2)["total_episodes"] == 2  # goes on from episode 1
    assert trainer.run is not None
    assert "going on from step 20;" in trainer.run.log_file.read_text()


@pytest.mark.long
def test_validation_run(config: str) -> None:
    trainer = create_trainer_from_config(config)
    summary = trainer.train(total_episodes=3, max_steps_per_episode=30)
    assert summary["total_episodes"] == 3
    assert summary["best_reward"] > -100


@pytest.mark.long
def test_recovery_from_an_error(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    trainer = create_trainer_from_config(config)
    failed: list[int] = []

    def fail(_trainer: Any, episode: int, _metrics: Mapping[str, Any]) -> None:
        if episode == 2 and not failed:
            failed.append(episode)
            raise TrainingError("a callback had enough")

    trainer.register_callback("episode_end", fail)
    try:
        trainer.train(total_episodes=4, max_steps_per_episode=20, save_interval=1)
    except TrainingError as e:
        print(f"Training failed: {e}")
        if trainer.load_checkpoint("latest"):
            summary = trainer.train(total_episodes=3)
    assert "Training failed: a callback had enough" in capsys.readouterr().out
    assert summary["total_episodes"] == 3


@pytest.mark.long
def test_a_callback_that_saves_the_best(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    trainer = create_trainer_from_config(config)
    best_reward = 0.0

    def training_callback(trainer: HybridLLMRLTrainer, episode: int, metrics: Mapping[str, Any]) -> None:
        nonlocal best_reward
        print(f"Episode {episode}: Reward={metrics['reward']}")
        if metrics["reward"] > best_reward:
            best_reward = metrics["reward"]
            trainer.save_best_model()

    trainer.register_callback("episode_end", training_callback)
    trainer.train(total_episodes=2, max_steps_per_episode=30, eval_interval=None)
    assert "Episode 2: Reward=" in capsys.readouterr().out
    assert best_reward > 0
    assert trainer.run is not None
    assert trainer.run.checkpoints.index().best in {"step-000000030", "step-000000031", "step-000000060"}


def test_logging_of_a_script(environment: EnhancedPyBoyPokemonCrystalEnv) -> None:
    """DEBUG has a line for each decision, in the script's handlers and in the run's log."""
    handler = logging.FileHandler("training.log")
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.DEBUG)
    root.addHandler(handler)
    try:
        trainer = HybridLLMRLTrainer(environment, log_level="DEBUG", settings={"rl": "none"})
        trainer.train(total_episodes=1, max_steps_per_episode=50, eval_interval=None)
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
        handler.close()
    assert trainer.run is not None
    for text in (Path("training.log").read_text(), trainer.run.log_file.read_text()):
        lines = [line for line in text.splitlines() if "environment 0, episode 0, step " in line]
        assert len(lines) == 50
        for part in ("by rule", "confidence", "learner 0.00", "advised side", "actions allowed", "strategy", "reward"):
            assert part in lines[0]


def test_the_level_info_has_no_line_for_each_decision(environment: EnhancedPyBoyPokemonCrystalEnv) -> None:
    trainer = HybridLLMRLTrainer(environment, settings={"rl": "none"})
    trainer.train(total_episodes=1, max_steps_per_episode=10, eval_interval=None)
    assert trainer.run is not None
    assert "DEBUG" not in trainer.run.log_file.read_text()


@pytest.mark.parametrize(("made", "more"), long_after(1, [(CustomPokemonEnv, 50.0), (CustomRewardEnvironment, 100.0)]))
def test_custom_rewards(made: type[EnhancedPyBoyPokemonCrystalEnv], more: float) -> None:
    trainer = HybridLLMRLTrainer(made(), settings={"rl": "none"})
    summary = trainer.train(total_episodes=1, max_steps_per_episode=5, eval_interval=None)
    assert summary["best_reward"] >= 4 * more


@pytest.mark.long
def test_profiling(config: str) -> None:
    trainer = create_trainer_from_config(config)
    profiler = cProfile.Profile()
    profiler.enable()
    trainer.train(total_episodes=1, max_steps_per_episode=30)
    profiler.disable()
    told = io.StringIO()
    stats = pstats.Stats(profiler, stream=told)
    stats.sort_stats("cumulative").print_stats(20)
    assert "train" in told.getvalue()


@pytest.mark.long
def test_utilities_for_tests_and_benchmarks() -> None:
    mock_env = create_mock_environment()
    mock_env.close()
    test_trainer = create_test_trainer(episodes=10, headless=True, temp_dir="test")
    speed_results = benchmark_training_speed(test_trainer, episodes=2)
    memory_results = benchmark_memory_usage(test_trainer, duration=0)
    latency_results = benchmark_decision_latency(HybridAgent(settings=QUICK), samples=10)
    assert min(speed_results["steps_per_second"], memory_results["peak_bytes"], latency_results["median_ms"]) > 0
    assert generate_test_config("other").is_file()
    cleanup_test_files("test")
    assert not Path("test").exists()
