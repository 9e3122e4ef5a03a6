"""Benchmarks of the Balatro framework, and the figures that it sums up, prints and plots."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.little_balatro import LittleBalatro

from pkmn_balatro.experiment import ExperimentConfig, MultiAlgorithmBenchmark
from pkmn_balatro.framework import RLTrainer, register_trainer
from pkmn_balatro.metrics import BalatroMetrics, compute_moving_average, plot_training_curves, print_comparison_table
from pkmn_balatro.utils import create_balatro_env
from pkmncli.errors import ConfigurationError, RunError


@pytest.fixture(autouse=True)
def _in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Fixed(RLTrainer):
    """Trainer that learns nothing: its seed says what it earns, and some fail."""

    def create_model(self) -> None:
        if self.config.seed == 3:
            raise RunError("the disk is full")

    def train(self, total_timesteps: int | None = None, callback: Any = None) -> dict[str, Any]:
        return {"total_steps": self.config.total_timesteps}

    def evaluate(self, n_episodes: int = 10, deterministic: bool = True) -> tuple[float, float]:
        return float(self.config.seed), float(n_episodes)

    def save_model(self, path: str | Path | None = None) -> Path:
        return Path()


def test_all_experiments_run_and_the_best_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    register_trainer("Fixed", Fixed)
    benchmark = MultiAlgorithmBenchmark(env_creator=LittleBalatro)
    assert benchmark.get_best_result() is None
    with pytest.raises(ConfigurationError, match="call add_experiment first"):
        benchmark.run_all()
    for seed in (1, 2, 3):
        benchmark.add_experiment(ExperimentConfig("Fixed", 500, seed=seed, n_eval_episodes=4))
    benchmark.add_experiment(ExperimentConfig("Fixd", 500, name="typing error"))
    results = benchmark.run_all()
    assert [one.name for one in results] == ["Fixed seed 1", "Fixed seed 2", "Fixed seed 3", "typing error"]
    assert [one.mean_reward for one in results] == [1.0, 2.0, None, None]
    assert results[1].std_reward == 4.0
    assert results[2].error == "the disk is full"
    assert 'did you mean "Fixed"?' in str(results[3].error)
    assert benchmark.get_best_result() is results[1]
    benchmark.print_summary()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines if "seed" in line] == [f"Fixed seed {seed}" for seed in (2, 1, 3)]
    assert "the disk is full" in lines[-2] + lines[-1]
    with pytest.raises(ConfigurationError, match="at least two finished runs"):
        benchmark.compare()


def test_a_benchmark_refuses_wrong_arguments() -> None:
    with pytest.raises(ConfigurationError, match="env_creator: LittleBalatro is no function"):
        MultiAlgorithmBenchmark(LittleBalatro())  # type: ignore[arg-type]
    benchmark = MultiAlgorithmBenchmark(LittleBalatro)
    benchmark.add_experiment(ExperimentConfig(options={"n_env": 3}))
    assert "n_env" in str(benchmark.run_all()[0].error)


def test_a_benchmark_goes_on_where_no_environment_is_made_and_closes_those_that_are() -> None:
    closed: list[int] = []

    class Counted(LittleBalatro):
        def close(self) -> None:
            closed.append(1)

    decks = iter([None, "rod", "red", "red"])

    def made() -> Any:
        deck = next(decks)
        if deck == "rod":
            return create_balatro_env(deck=deck)
        return None if deck is None else Counted()

    register_trainer("Fixed", Fixed)
    benchmark = MultiAlgorithmBenchmark(made)
    for algorithm in ("Fixed", "Fixed", "Fixed", "Fixd"):
        benchmark.add_experiment(ExperimentConfig(algorithm))
    errors = [str(one.error) for one in benchmark.run_all()]
    assert errors[0].startswith("NoneType is no environment")
    assert "there is no deck 'rod'" in errors[1]
    assert errors[2] == "None"
    assert len(closed) == 2


# Figures ----------------------------------------------------------------------------------------------------------


def test_episodes_are_summed_up() -> None:
    metrics = BalatroMetrics()
    assert metrics.get_summary() == {"episodes": 0}
    metrics.add_episode(reward=1, ante=2, score=300, length=40, won=True)
    metrics.add_episode(reward=3, ante=float("nan"), score=900, length=60)
    assert metrics.get_summary() == {
        "episodes": 2,
        "mean_reward": 2.0,
        "max_reward": 3.0,
        "std_reward": 1.0,
        "mean_ante": 2.0,
        "max_ante": 2.0,
        "mean_score": 600.0,
        "max_score": 900.0,
        "mean_length": 50.0,
        "max_length": 60.0,
        "win_rate": 1.0,
    }


def test_moving_averages_begin_with_what_is_there() -> None:
    np.testing.assert_allclose(compute_moving_average([2, 4, 6, 8], window=2), [2, 3, 5, 7])
    np.testing.assert_allclose(compute_moving_average([2, 4], window=50), [2, 3])
    np.testing.assert_allclose(compute_moving_average([1e20, 1, 2, 3], window=2), [1e20, 5e19, 1.5, 2.5])
    np.testing.assert_allclose(compute_moving_average([np.nan, 1, 3], window=2), [np.nan, np.nan, 2])
    assert compute_moving_average([]).shape == (0,)
    with pytest.raises(ConfigurationError, match="window = 0"):
        compute_moving_average([1], window=0)


@pytest.mark.parametrize(
    ("values", "path", "message"),
    [({}, "a.png", "nothing to draw"), ({"reward": []}, "a.png", "nothing"), ({"reward": [1]}, "a.txt", ".svg")],
)
def test_what_cannot_be_plotted_is_refused(values: Any, path: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        plot_training_curves(values, save_path=path)
    assert not Path(path).exists()


def test_algorithms_are_printed_beside_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    print_comparison_table({"PPO": {"mean_reward": 1.5, "steps": 1000}, "A2C": {"mean_reward": 20.25, "wins": 3}})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if "─" not in line] == [
        ["algorithm", "mean_reward", "steps", "wins"],
        ["A2C", "20.25", "-", "3"],
        ["PPO", "1.50", "1,000", "-"],
    ]
    assert len({len(line) for line in lines[:2]}) == 1
    print_comparison_table({"failed": {"mean_reward": None}, "PPO": {"mean_reward": -2.0}})
    assert [line.split() for line in capsys.readouterr().out.splitlines()[2:]] == [["PPO", "-2.00"], ["failed", "-"]]
    print_comparison_table({})
    assert capsys.readouterr().out == "No results.\n"
