"""A game may come with a policy: made by one command, evaluated, watched and trained on from without any run."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from pkmncli import hookimpl
from pkmncli.config import ResolvedSettings
from pkmncli.plugins import get_registry
from pkmncli.runs import Run
from pkmncli.training.assembly import environment_spec
from pkmncli.training.beginnings.pretrained import find_pretrained
from pkmncli.training.checkpoints.files import read_checkpoint

Pkmn = Callable[..., Any]

STARTS = 4
"""Held-out starts that the shipped policy is tried on."""


@pytest.fixture
def run(shared_run: Callable[..., Path], tmp_path: Path) -> Run:
    return Run(shutil.copytree(shared_run(), tmp_path / "runs" / "it"))


def exported(pkmn: Pkmn, folder: Path) -> Any:
    result = pkmn("export", "it", f"--pretrained={folder}", "--episodes=2")
    assert result.code == 0, result.err
    return result


class Games:
    """A plugin with a game of its own: Quillwood's profile, with another policy."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @hookimpl
    def pkmn_register_games(self, register: Any) -> None:
        register("thornwood", self.folder)


@pytest.mark.long
def test_the_policy_that_ships_still_does_what_its_score_says(pkmn: Pkmn, tmp_path: Path) -> None:
    result = pkmn("eval", "--pretrained=quillwood", f"--episodes={STARTS}", "--json", "--no-baselines")
    assert result.code == 0, result.err
    assert result.err == "", "it was measured with this image and these lengths of presses"
    found, score = json.loads(result.out), find_pretrained("quillwood", get_registry()).score()
    expected = score["learner_alone"]["goal_share"]
    assert found["goal_share"] >= expected - 0.3
    assert found["avg_reward"] >= 0.7 * score["learner_alone"]["avg_reward"]
    assert not (tmp_path / "runs").exists()


def test_the_policy_that_ships_was_measured_with_the_image_that_ships() -> None:
    registry = get_registry()
    pretrained = find_pretrained("quillwood", registry)
    environment = environment_spec(pretrained.settings(registry), registry).build()
    try:
        assert pretrained.score()["identity"] == environment.identity
    finally:
        environment.close()
    score = pretrained.score()
    assert score["learner_alone"]["episodes"] == score["pilot"]["episodes"] == score["random"]["episodes"] >= 10
    assert score["verdict"].startswith("The learner alone")


@pytest.mark.long
def test_the_policy_that_ships_can_be_watched(pkmn: Pkmn, tmp_path: Path) -> None:
    result = pkmn("replay", "--pretrained=quillwood", "--episode=0")
    assert result.code == 0, result.err
    assert result.out.startswith("Loading the policy that comes with quillwood.\n")
    assert "The replay agrees" in result.out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_a_run_becomes_the_policy_of_a_game(pkmn: Pkmn, run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "game" / "pretrained"
    result = exported(pkmn, folder)
    assert "The learner alone" in result.out
    assert sorted(path.name for path in folder.iterdir()) == ["config.toml", "score.json", "weights.safetensors"]
    learner = read_checkpoint(run.checkpoints.resolve()).learner
    weights = load_file(folder / "weights.safetensors")
    assert weights
    for name, value in weights.items():
        np.testing.assert_array_equal(value, learner[name], err_msg=name)
    kept, own = (ResolvedSettings.from_run(one, get_registry()).values() for one in (folder, run.folder))
    assert kept["dqn"] == own["dqn"]
    assert kept["pyboy"] == own["pyboy"]
    assert str(tmp_path) not in (folder / "config.toml").read_text() + (folder / "score.json").read_text()


@pytest.mark.long
def test_a_game_of_ones_own_brings_its_policy(pkmn: Pkmn, run: Run, tmp_path: Path) -> None:
    registry = get_registry()
    game = tmp_path / "thornwood"
    shutil.copytree(registry.get("games", "quillwood").load(), game, ignore=shutil.ignore_patterns("pretrained"))
    exported(pkmn, game / "pretrained")
    registry.register_plugin(Games(game), "games-of-a-test")
    try:
        result = pkmn("eval", "--pretrained=thornwood", "--episodes=1", "--json", "--no-baselines", "--seed=3")
        assert result.code == 0, result.err
        again = pkmn("eval", "it", "--episodes=1", "--json", "--no-baselines", "--seed=3")
        own, theirs = json.loads(result.out), json.loads(again.out)
        assert (own["avg_reward"], own["avg_length"]) == (theirs["avg_reward"], theirs["avg_length"])
        missing = pkmn("eval", "--pretrained=crystal")
        assert "there is one for quillwood, thornwood" in missing.err
    finally:
        registry.unregister_plugin("games-of-a-test")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["eval", "--pretrained=crystal"], "the game crystal comes without a pretrained policy"),
        (["eval", "it", "--pretrained=quillwood"], "leave out it"),
        (["replay", "--pretrained=nowhere"], "nowhere"),
        (["export", "it", "--pretrained=x", "--policy", "--format=parquet"], "leave out --format, --policy"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_line(arguments: list[str], said: str, pkmn: Pkmn, run: Run) -> None:
    result = pkmn(*arguments)
    assert result.code == 2
    assert said in result.err
    assert len(result.err.strip().splitlines()) == 1


def test_a_damaged_policy_is_told_in_a_line(pkmn: Pkmn, run: Run, tmp_path: Path) -> None:
    registry = get_registry()
    game = tmp_path / "thornwood"
    shutil.copytree(registry.get("games", "quillwood").load(), game)
    os.truncate(game / "pretrained" / "weights.safetensors", 100)
    registry.register_plugin(Games(game), "games-of-a-test")
    try:
        result = pkmn("eval", "--pretrained=thornwood")
    finally:
        registry.unregister_plugin("games-of-a-test")
    assert result.code == 5
    assert "weights.safetensors cannot be read" in result.err
    assert len(result.err.strip().splitlines()) == 1


@pytest.mark.parametrize("score", ["{}", "[1, 2]", '{"identity": [], "steps": 1}', "{"])
def test_a_damaged_score_is_told_with_its_file(score: str, pkmn: Pkmn, tmp_path: Path) -> None:
    game = shutil.copytree(get_registry().get("games", "quillwood").load(), tmp_path / "mine")
    (game / "pretrained" / "score.json").write_text(score)
    result = pkmn("eval", f"--pretrained={game}", "--episodes=1")
    assert result.code == 5
    assert str(game / "pretrained" / "score.json") in result.err and "install its package anew" in result.err
