"""Completion in shells: runs, checkpoints, milestones, tags and the names of plugins, without heavy imports."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pkmncli import cli
from pkmncli.atomic_files import write_json
from pkmncli.config.run_file import toml_text
from pkmncli.runs import Run, create_run
from pkmncli.testing.plugin_check import imported_by_loading

Complete = Callable[..., list[str]]


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Complete:
    """Return what a shell offers for the last word of a line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PKMN_SAVE_DIR", raising=False)

    def ask(*words: str, shell: str = "bash") -> list[str]:
        monkeypatch.setenv("_PKMN_COMPLETE", f"complete_{shell}")
        monkeypatch.setenv("COMP_WORDS", " ".join(["pkmn", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        monkeypatch.setenv("_TYPER_COMPLETE_ARGS", " ".join(["pkmn", *words]))
        cli.run([])
        captured = capsys.readouterr()
        assert captured.err == ""
        return captured.out.split() if shell == "bash" else [captured.out]

    return ask


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = create_run(tmp_path / "runs", "quillwood", "dqn", name="first")
    write_json(run.names_file, {"milestones": ["starter", "badge"], "milestone_titles": {"starter": "Take one"}})
    (run.checkpoints.folder / "step-000000080").mkdir(parents=True)
    run.checkpoints.record(80, best_score=1.0, milestones=["starter"])
    return run


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["eval", "f"], {"first"}),
        (["compare", ""], {"first"}),
        (["train", "--resume", "f"], {"first"}),
        (["runs", "rename", "f"], {"first"}),
        (["dashboard", "f"], {"first"}),
        (["eval", "first", "--checkpoint", ""], {"latest", "best", "starter", "step-000000080"}),
        (["train", "--goal", ""], {"first", "last", "starter", "badge"}),
        (["train", "--rl", ""], {"dqn", "ppo", "a2c", "none"}),
        (["train", "--rl", "ppo", "--preset", "s"], {"standard"}),
        (["eval", "--pretrained", "q"], {"quillwood"}),
        (["runs", "tag", "first", "k"], {"keep"}),
        (["plugins", "show", "dq"], {"dqn"}),
    ],
)
def test_values_are_completed(complete: Complete, run: Run, words: list[str], offered: set[str]) -> None:
    assert set(complete(*words)) == offered


def test_environments_are_completed(complete: Complete) -> None:
    assert {"pyboy", "gym"} <= set(complete("train", "--env", ""))


def test_another_folder_of_runs_is_taken_from_the_line(complete: Complete, run: Run, tmp_path: Path) -> None:
    create_run(tmp_path / "other", "quillwood", "dqn", name="second")
    assert complete("eval", "--save-dir", "other", "") == ["second"]
    assert complete("runs", "--save-dir", "other", "size", "") == ["second"]


def write_settings(run: Run, **core: str) -> None:
    values = {"": {"env": "pyboy", "rl": "dqn", **core}, "curriculum": {"patience": 20}}
    run.config_file.write_text(toml_text(values, lambda section, key: "command line"))


def test_goals_are_those_of_the_run_or_the_game_that_the_line_names(
    complete: Complete, run: Run, tmp_path: Path
) -> None:
    write_settings(run, game="quillwood")
    newer = create_run(tmp_path / "runs", "crystal", "dqn", name="second")
    (newer.checkpoints.folder / "step-000000080").mkdir(parents=True)
    write_settings(newer, game="crystal")
    write_json(newer.names_file, {"milestones": ["lighthouse"]})
    always = {"first", "last"}
    for words, offered in (
        (["train"], {"lighthouse"}),
        (["train", "--game", "quillwood"], {"starter", "badge"}),
        (["train", "--env", "pyboy"], {"lighthouse"}),
        (["train", "--env", "gym:CartPole-v1"], set()),
        (["eval", "first"], {"starter", "badge"}),
        (["train", "--resume", "first", "--game", "crystal"], {"starter", "badge"}),
    ):
        assert set(complete(*words, "--goal", "")) == always | offered, words
    assert "starter" in complete("eval", "first", "--checkpoint", "")


def test_a_shell_that_shows_texts_gets_them(complete: Complete, run: Run) -> None:
    (shown,) = complete("train", "--goal", "sta", shell="zsh")
    assert "starter" in shown and "Take one" in shown


def test_damage_completes_nothing(complete: Complete, run: Run) -> None:
    run.checkpoints.index_file.write_text("{")
    assert complete("eval", "first", "--checkpoint", "") == []
    run.names_file.write_text("{")
    assert set(complete("train", "--goal", "")) == {"first", "last"}


@pytest.mark.long
def test_nothing_heavy_is_imported(run: Run, tmp_path: Path) -> None:
    code = (
        "import sys, os; os.environ.update(_PKMN_COMPLETE='complete_bash', COMP_WORDS='pkmn eval f', COMP_CWORD='2')\n"
        "from pkmncli import cli; cli.run([]); print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["first"]
    assert not set(done.stderr.split()) & {"torch", "pyboy", "duckdb"}
    assert imported_by_loading("pkmncli.completion") == []
