"""The file of a tuning: its content, and one line for each mistake in it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pkmncli.errors import ConfigurationError
from pkmncli.plugins import get_registry
from pkmncli.tuning.plan import TuningPlan, read_tuning
from pkmncli.tuning.space import Choice, Range, corners, read_space

HEAD = '[tune]\nname = "it"\n'
SPACE = '[space]\n"dqn.gamma" = { low = 0, high = 1 }\n'


def plan_of(text: str, folder: Path) -> TuningPlan:
    path = folder / "it.toml"
    path.write_text(text)
    return read_tuning(path, folder / "runs", get_registry())


def test_what_a_file_asks_for(tmp_path: Path) -> None:
    plan = plan_of(
        f"{HEAD}trials = 7\nseeds = [3, 5]\nprocesses = 4\npruner = 'hyperband'\n[settings]\nsteps = 1000\n[space]\n"
        "envs = { low = 1, high = 3 }\n"
        '"dqn.gamma" = { low = 0, high = 1 }\n'
        "dqn.learning_rate = { low = 1e-5, high = 1e-3, log = true }\n"
        "dqn.n_step = { low = 1, high = 9, step = 2 }\n"
        "dqn.screen_channels = [[4, 8], [8, 16]]\n",
        tmp_path,
    )
    assert (plan.trials, plan.seeds, plan.processes, plan.pruner) == (7, (3, 5), 4, "hyperband")
    assert (plan.steps, plan.interval, plan.looks) == (1000, 100, 10)
    assert (plan.trials_at_a_time(4), plan.trials_at_a_time(3), plan.trials_at_a_time(1)) == (2, 1, 1)
    assert plan.space == {
        "envs": Range(1, 3, False, 0, whole=True),
        "dqn.gamma": Range(0, 1, False, 0, whole=False),  # the setting is a float, though its ends are integers
        "dqn.learning_rate": Range(1e-5, 1e-3, True, 0, whole=False),
        "dqn.n_step": Range(1, 9, False, 2, whole=True),
        "dqn.screen_channels": Choice(("[4, 8]", "[8, 16]")),
    }
    assert str(plan.objective) == "episode/reward over the last 10, higher is better"


def test_a_training_that_evaluates_is_judged_by_its_evaluations(tmp_path: Path) -> None:
    settings = "[settings]\nsteps = 1000\neval_interval = 400\n"
    plan = plan_of(f"{HEAD}{settings}{SPACE}", tmp_path)
    assert (plan.objective.metric, plan.objective.last, plan.interval, plan.looks) == (
        "evaluation/avg_reward",
        1,
        400,
        3,
    )
    lower = plan_of(f'{HEAD}objective = "evaluation/avg_length"\ndirection = "minimize"\n{settings}{SPACE}', tmp_path)
    assert str(lower.objective) == "evaluation/avg_length, lower is better"


def test_the_runs_of_a_trial(tmp_path: Path) -> None:
    plan = plan_of(f"{HEAD}seeds = [3, 5]\n[settings]\ndqn.n_step = 2\n{SPACE}", tmp_path)
    runs = plan.runs(4, {"dqn.gamma": 0.5}, tmp_path, get_registry())
    assert [one.run.folder.relative_to(tmp_path).as_posix() for one in runs] == [
        "it/trial-004_seed-3",
        "it/trial-004_seed-5",
    ]
    assert runs[1].settings.train.seed == 5
    assert (runs[0].settings.plugin_values("dqn")["gamma"], runs[0].settings.plugin_values("dqn")["n_step"]) == (0.5, 2)


def test_what_any_combination_uses_may_be_searched(tmp_path: Path) -> None:
    """Also if the choices that lead to it are at different places of their lists."""
    choices = 'rl = ["dqn", "ppo"]\ndqn.encoder = ["convolution", "embedding"]\n'
    plan = plan_of(f"{HEAD}[space]\n{choices}ppo.gamma = [0.8, 0.9]\nembedding.vector_layers = [1, 2]\n", tmp_path)
    assert set(plan.space) == {"rl", "dqn.encoder", "ppo.gamma", "embedding.vector_layers"}


def test_every_end_and_every_choice_is_tried() -> None:
    points = corners(read_space({"a": {"low": 1, "high": 2}, "b": ["x", "y", "z"]}))
    assert {point["a"] for point in points} == {1, 2}
    assert [point["b"] for point in points] == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[tune\n", "not valid TOML"),
        (f"{SPACE}", "[tune] needs a name"),
        (f"{HEAD}", "[space] is empty"),
        (f"{HEAD}[space]\n", "[space] is empty"),
        (f"{HEAD}trails = 3\n{SPACE}", "'trails' is no key of [tune]: did you mean 'trials'?"),
        (f"{HEAD}trials = 0\n{SPACE}", "trials = 0: give a whole number from 1"),
        (f"{HEAD}seeds = 0\n{SPACE}", "seeds = 0: give how many"),
        (f"{HEAD}pruner = 'medain'\n{SPACE}", "'medain' is no pruner: did you mean 'median'?"),
        (f"{HEAD}direction = 'up'\n{SPACE}", "'up' is no direction: there are maximize, minimize"),
        (
            f"{HEAD}objective = 'episode/rewrad'\n{SPACE}",
            "'episode/rewrad' is no metric: did you mean 'episode/reward'?",
        ),
        (f"{HEAD}objective = 'evaluation/goal_share'\n{SPACE}", "needs evaluations: set eval_interval in [settings]"),
        (f"{HEAD}[spaces]\n{SPACE}", "'spaces' is no table of a tuning: did you mean 'space'?"),
        (f"{HEAD}[settings]\nepisodes = 3\n{SPACE}", "a tuning's trainings are as long as 'steps' says"),
        (f"{HEAD}[settings]\nseed = 3\n{SPACE}", "'seed' in [settings]: each training gets its own"),
        (f"{HEAD}[settings]\ndqn.gamma = 0.5\n{SPACE}", "'dqn.gamma' is in [settings] and in [space]"),
        (f'{HEAD}[space]\n"dqn.gama" = [0.1, 0.2]\n', "unknown setting 'dqn.gama'"),
        (f'{HEAD}[space]\n"dqn.gama" = [0.1, 0.2]\n', "did you mean 'dqn.gamma'?"),
        (f'{HEAD}[space]\n"dqn.gamma" = [0.1, 2.0]\n', "setting 'dqn.gamma' = 2.0"),
        (f'{HEAD}[space]\n"dqn.gamma" = {{ low = 0.9, high = 1.5 }}\n', "setting 'dqn.gamma' = 1.5"),
        (f'{HEAD}[space]\n"dqn.gamma" = {{ low = 0.9, high = 0.5 }}\n', "low = 0.9 is above high = 0.5"),
        (f'{HEAD}[space]\n"dqn.gamma" = {{ low = 0.9, high = 0.9 }}\n', "low and high are both 0.9"),
        (f'{HEAD}[space]\n"dqn.gamma" = {{ low = 0, high = 1, log = true }}\n', "with log = true, low must be above 0"),
        (f'{HEAD}[space]\n"dqn.gamma" = {{ low = 0, high = 1, step = 0 }}\n', "step must be above 0"),
        (f'{HEAD}[space]\n"dqn.gamma" = {{ low = 0, hihg = 1 }}\n', "did you mean 'high'?"),
        (f'{HEAD}[space]\n"dqn.gamma" = {{ low = 0 }}\n', "high must be a number, and is missing"),
        (f'{HEAD}[space]\n"dqn.gamma" = {{ low = 0, high = "1" }}\n', "high must be a number"),
        (f'{HEAD}[space]\n"dqn.gamma" = 0.5\n', "write { low = ..., high = ... } or a list of values"),
        (f'{HEAD}[space]\n"dqn.gamma" = [0.5]\n', "list two values or more, each once"),
        (f'{HEAD}[space]\n"dqn.n_step" = {{ low = 1.0, high = 9.0 }}\n', "setting 'dqn.n_step' = 5.5"),
        (f'{HEAD}[space]\n"dqn.n_step" = {{ low = 1, high = 9, step = 0.5 }}\n', "setting 'dqn.n_step' = 1.5"),
        (f'{HEAD}[space]\n"ppo.gamma" = [0.1, 0.2]\n', "'ppo.gamma' in [space]: no training of this tuning uses ppo"),
        (f'{HEAD}[space]\n"embedding.vector_features" = [4, 8]\n', "no training of this tuning uses embedding"),
        (f"{HEAD}[space]\nsteps = [10, 20]\n", "'steps' in [space]: trials of different length cannot be compared"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(text: str, expected: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as told:
        plan_of(text, tmp_path)
    assert str(told.value).startswith(f"{tmp_path / 'it.toml'}: ")
    assert expected in str(told.value)
    assert "\n" not in str(told.value)


def test_the_command_tells_it_with_2(pkmn: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "it.toml").write_text(HEAD)
    result = pkmn("tune", "it.toml")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("it.toml: [space] is empty") and result.err.count("\n") == 1
    assert not (tmp_path / "runs").exists()
    assert pkmn("tune", "none.toml").err == "there is no tuning file none.toml\n"


def test_without_optuna_a_line_says_what_to_install(
    pkmn: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "it.toml").write_text(f"{HEAD}{SPACE}")
    monkeypatch.setitem(sys.modules, "optuna", None)
    result = pkmn("tune", "it.toml")
    assert (result.code, result.out) == (2, "")
    assert result.err == "pkmn tune needs optuna, which is not installed; run: pip install 'pkmncli[tune]'\n"


def test_the_example_can_be_read() -> None:
    plan = read_tuning(Path(__file__).parents[3] / "examples" / "tune_dqn.toml", Path("runs"), get_registry())
    assert (plan.name, len(plan.seeds), plan.objective.metric) == ("tune-dqn", 2, "episode/reward")
    assert set(plan.space) == {"dqn.learning_rate", "dqn.n_step", "dqn.batch_size"}
