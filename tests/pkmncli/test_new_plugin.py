"""``pkmn plugins new`` writes packages whose tests pass and whose code is clean, and refuses what it can't write."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.variants import long_after

from pkmncli import cli
from pkmncli.errors import EXIT_USAGE
from pkmncli.plugins import Plugin, get_registry
from pkmncli.testing import check_plugin, exercise_plugin

KINDS = "reward,strategy,llm,learner,environment,analyzer,command,pilot,encoder"


def test_all_kinds_are_written_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["plugins", "new", "coin-hunt", "--kind", KINDS, "--dir", str(tmp_path)]) == 0
    root = tmp_path / "pkmn_coin_hunt"
    assert f"Wrote {root}. Next: cd {root} && pip install -e . pytest && pytest" in capsys.readouterr().out
    assert {path.name for path in root.iterdir()} == {"pyproject.toml", "README.md", "pkmn_coin_hunt", "tests"}
    registration = (root / "pkmn_coin_hunt" / "plugin.py").read_text()
    for kind in KINDS.split(","):
        assert f'"coin-hunt-{kind}",\n        "pkmn_coin_hunt.{kind}:' in registration
        assert (root / "tests" / f"test_{kind}.py").is_file()


@pytest.mark.parametrize("name", long_after(1, ["a", "coin-hunt", "abcdefghijklmnopqr", "a-b-c-d-e-f-g-h-ij"]))
def test_what_is_written_is_lint_clean(name: str, tmp_path: Path) -> None:
    assert cli.run(["plugins", "new", name, "--kind", KINDS, "--dir", str(tmp_path)]) == 0
    for check in (["check", "--no-cache", "."], ["format", "--no-cache", "--check", "."]):
        result = subprocess.run(
            [sys.executable, "-m", "ruff", *check], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("name", "target"), [("my-reward", "MyReward"), ("reward", "Reward"), ("coins", "CoinsReward")]
)
def test_a_class_is_not_called_a_reward_twice(name: str, target: str, tmp_path: Path) -> None:
    assert cli.run(["plugins", "new", name, "--kind", "reward", "--dir", str(tmp_path)]) == 0
    package = f"pkmn_{name.replace('-', '_')}"
    assert f'"{package}.reward:{target}",' in (tmp_path / package / package / "plugin.py").read_text()
    assert f"class {target}:" in (tmp_path / package / package / "reward.py").read_text()


@pytest.mark.long
def test_the_parts_that_are_written_keep_the_contracts_and_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli.run(["plugins", "new", "fresh-start", "--kind", KINDS, "--dir", str(tmp_path)]) == 0
    monkeypatch.syspath_prepend(str(tmp_path / "pkmn_fresh_start"))
    plugin = importlib.import_module("pkmn_fresh_start.plugin")
    assert {entry.name for entry in check_plugin(plugin)} == {f"fresh-start-{kind}" for kind in KINDS.split(",")}
    assert exercise_plugin(plugin) == []


@pytest.mark.long
def test_the_tests_of_what_is_written_pass(tmp_path: Path) -> None:
    assert cli.run(["plugins", "new", "coin-hunt", "--kind", KINDS, "--dir", str(tmp_path)]) == 0
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pkmncli.testing.pytest_plugin"],
        cwd=tmp_path / "pkmn_coin_hunt",
        env={key: value for key, value in os.environ.items() if not key.startswith("PYTEST")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    assert "passed" in result.stdout


def test_a_test_beside_the_installed_plugins_takes_the_installed_one(
    register_beside: Callable[..., Plugin],
) -> None:
    installed = next(entry for entry in get_registry().plugins if entry.state == "loaded")
    module = get_registry().implementation(installed)
    assert register_beside(module, "again") is installed
    assert [entry.name for entry in get_registry().plugins].count("again") == 0


@pytest.mark.parametrize(
    ("name", "kinds", "message"),
    [
        ("Coin_Hunt", "reward", "'Coin_Hunt' is no name of a plugin"),
        ("9-lives", "reward", "'9-lives' is no name of a plugin"),
        ("a-name-that-is-far-too-long", "reward", "at most 18"),
        ("dqn", "reward", "the name 'dqn' is taken by an installed plugin"),
        ("coin-hunt", "rewrd", "did you mean 'reward'?"),
        ("coin-hunt", "reward,song", "there is no template for 'song'; choose from reward, strategy"),
        ("coin-hunt", ",", "choose from reward, strategy"),
    ],
)
def test_a_wrong_name_or_kind_is_refused_in_one_line(
    name: str, kinds: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["plugins", "new", name, "--kind", kinds, "--dir", str(tmp_path)]) == EXIT_USAGE
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pkmn_coin_hunt").mkdir()
    assert cli.run(["plugins", "new", "coin-hunt", "--kind", "reward", "--dir", str(tmp_path)]) == EXIT_USAGE
    assert "exists already and is not overwritten" in capsys.readouterr().err
    assert not list((tmp_path / "pkmn_coin_hunt").iterdir())


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert cli.run(["plugins", "new", "coin-hunt", "--kind", "reward", "--dir", str(tmp_path / "file")]) == EXIT_USAGE
    assert "can't be made: Not a directory" in capsys.readouterr().err
