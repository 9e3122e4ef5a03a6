"""What ``pkmncli.testing`` offers beside the check of plugins: small trainings that are real, and measurements."""

from __future__ import annotations

from pathlib import Path

import pytest

import pkmncli.testing
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid.agent import HybridAgent
from pkmncli.testing import (
    benchmark_decision_latency,
    benchmark_memory_usage,
    benchmark_training_speed,
    cleanup_test_files,
    create_mock_environment,
    create_test_trainer,
    generate_test_config,
)
from pkmncli.training.hybrid_trainer import create_trainer_from_config


@pytest.mark.parametrize("name", pkmncli.testing.__all__)
def test_every_name_is_found_and_is_itself(name: str) -> None:
    assert getattr(pkmncli.testing, name).__name__ == name
    assert name in dir(pkmncli.testing)


def test_the_mock_environment_is_the_game() -> None:
    environment = create_mock_environment(max_steps_per_episode=5)
    try:
        observation, _ = environment.reset(seed=1)
        assert "stairs" in observation["strategic_context"]["current_goal"]
        ended = [environment.step(8)[3] for _ in range(5)]
        assert ended == [False] * 4 + [True]
    finally:
        environment.close()


@pytest.mark.long
def test_a_test_trainer_trains_in_its_folder_and_is_cleaned_up(tmp_path: Path) -> None:
    folder = tmp_path / "test"
    trainer = create_test_trainer(episodes=2, headless=True, temp_dir=folder, max_steps_per_episode=30)
    summary = trainer.train(total_episodes=None)
    assert (summary["total_episodes"], summary["total_steps"]) == (2, 60)
    assert trainer.run is not None
    assert folder in trainer.run.folder.parents
    cleanup_test_files(folder)
    assert not folder.exists()
    cleanup_test_files(folder)


@pytest.mark.long
def test_a_generated_configuration_trains(tmp_path: Path) -> None:
    path = generate_test_config(tmp_path / "test", rl="none")
    summary = create_trainer_from_config(path).train(total_episodes=1)
    assert (summary["total_episodes"], summary["total_steps"]) == (1, 50)


def test_folders_of_users_are_neither_used_nor_removed(tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("keep me")
    for act in (cleanup_test_files, generate_test_config, lambda folder: create_test_trainer(temp_dir=folder)):
        with pytest.raises(ConfigurationError):
            act(tmp_path)
    assert [mine] == list(tmp_path.iterdir())


@pytest.mark.long
def test_speed_memory_and_latency_are_measured(tmp_path: Path) -> None:
    speed = benchmark_training_speed(create_test_trainer(temp_dir=tmp_path / "a", rl="none"), episodes=2)
    assert speed["episodes"] == 2
    assert speed["steps_per_second"] > 0
    memory = benchmark_memory_usage(create_test_trainer(10_000, temp_dir=tmp_path / "b", rl="none"), duration=0)
    assert memory["samples"] == 1
    assert memory["peak_bytes"] == memory["mean_bytes"] > 50_000_000
    agent = HybridAgent(settings={"dqn.learning_starts": 1_000})
    latency = benchmark_decision_latency(agent, samples=20)
    assert 0 < latency["median_ms"] <= latency["p95_ms"]
