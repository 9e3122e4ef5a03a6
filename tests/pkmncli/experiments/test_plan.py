"""The file of an experiment: its trainings and their names, and mistakes in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pkmncli.config.sources import from_set_options, parse_text
from pkmncli.errors import ConfigurationError
from pkmncli.experiments.plan import Plan, read_plan

HEAD = '[experiment]\nname = "it"\n'


def plan_of(text: str, folder: Path) -> Plan:
    path = folder / "it.toml"
    path.write_text(text)
    return read_plan(path)


def test_every_combination_and_seed(tmp_path: Path) -> None:
    plan = plan_of(
        """
        [experiment]
        name = "discount"
        seeds = [3, 5]
        processes = 2
        [settings]
        steps = 20_000
        dqn.batch_size = 64
        [settings.exploration]
        new_tile = 0.25
        [[grid]]
        rl = ["dqn"]
        dqn.gamma = [0.9, 0.99]
        "dqn.double" = [true, false]
        [[grid]]
        rl = ["none"]
        """,
        tmp_path,
    )
    assert (plan.name, plan.processes, plan.varying) == ("discount", 2, ("rl", "dqn.gamma", "dqn.double"))
    names = [run.name for run in plan.runs]
    assert names[:3] == [
        "dqn_gamma-0.9_double-true_seed-3",
        "dqn_gamma-0.9_double-true_seed-5",
        "dqn_gamma-0.9_double-false_seed-3",
    ]
    assert names[-2:] == ["none_seed-3", "none_seed-5"]
    assert len(names) == 10
    assert plan.runs[0].settings == {
        **{"steps": 20_000, "dqn.batch_size": 64, "exploration.new_tile": 0.25},
        **{"rl": "dqn", "dqn.gamma": 0.9, "dqn.double": True},
    }


def test_options_read_back_as_the_values_they_were(tmp_path: Path) -> None:
    plan = plan_of(f'{HEAD}[settings]\nsteps = 5\nreward = ["a", "b=0.5"]\nquick = true\nrate = 1e-4\n', tmp_path)
    (run,) = plan.runs
    assert (run.name, run.seed) == ("seed-0", 0)
    read = {given.key: parse_text(given.value) for given in from_set_options(run.set_options)}
    assert read == {"steps": 5, "reward": ["a", "b=0.5"], "quick": True, "rate": 1e-4}


def test_names_are_told_apart_fit_for_folders_and_not_too_long(tmp_path: Path) -> None:
    grid = '[[grid]]\ndqn.gamma = [0.9, 0.8]\nother.gamma = [1, 2]\nreward = [["progress", "exploration=0.5"], []]\n'
    plan = plan_of(f"{HEAD}{grid}", tmp_path)
    assert plan.runs[0].name == "dqn.gamma-0.9_other.gamma-1_reward-progress-exploration-0.5_seed-0"
    long = plan_of(f'{HEAD}[[grid]]\ngoal = ["{"a" * 300}", "{"a" * 299}"]\n', tmp_path)
    assert len({run.name for run in long.runs}) == 2
    assert all(len(run.name) <= 120 and run.name.endswith("_seed-0") for run in long.runs)


def test_a_combination_of_two_grids_counts_once(tmp_path: Path) -> None:
    plan = plan_of(f"{HEAD}[[grid]]\nenvs = [1, 2]\n[[grid]]\nenvs = [2, 3]\n", tmp_path)
    assert [run.name for run in plan.runs] == ["envs-1_seed-0", "envs-2_seed-0", "envs-3_seed-0"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[experiment\n", "not valid TOML"),
        ("", "[experiment] needs a name"),
        ('[experiment]\nname = "a/b"\n', "[experiment] needs a name"),
        (HEAD + "[setings]\n", "'setings' is no table of an experiment: did you mean 'settings'?"),
        (HEAD + "seed = 3\n", "'seed' is no key of [experiment]: did you mean 'seeds'?"),
        (HEAD + "seeds = []\n", "seeds = []: give how many"),
        (HEAD + "seeds = [0, -1]\n", "give how many, or a list of whole numbers from 0"),
        (HEAD + "seeds = true\n", "seeds = True: give how many"),
        (HEAD + "processes = 0\n", "processes = 0: give the number"),
        (HEAD + "[settings]\nseed = 3\n", "'seed' in [settings]: each training gets its own"),
        (HEAD + "[[grid]]\nenvs = 2\n", "'envs' in [[grid]] must be a list of values to try, not 2"),
        (HEAD + "[[grid]]\nenvs = []\n", "'envs' in [[grid]] must be a list"),
        (HEAD + "[settings]\nenvs = 1\n[[grid]]\nenvs = [2]\n", "'envs' is in [settings] and in [[grid]]"),
        (HEAD + "grid = 3\n[settings]\n", "is no key of [experiment]"),
        ('grid = [3]\n[experiment]\nname = "it"\n', "[[grid]] must be a table"),
        ('grid = 3\n[experiment]\nname = "it"\n', "[[grid]] must be a table"),
        (HEAD + '[[grid]]\ngoal = ["a b", "a-b"]\n', "two trainings would have the name goal-a-b_seed-0"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(text: str, expected: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as told:
        plan_of(text, tmp_path)
    assert str(told.value).startswith(f"{tmp_path / 'it.toml'}: ")
    assert expected in str(told.value)
    assert "\n" not in str(told.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"there is no experiment file .*none\.toml"):
        read_plan(tmp_path / "none.toml")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_plan(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError, match="not UTF-8 text"):
        read_plan(tmp_path / "binary.toml")
