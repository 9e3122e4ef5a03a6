"""Trainings of the environment from the command line: exact resume, replay, evaluation, analysis, advice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.killed_training import train_until

Pkmn = Callable[..., Any]
GAME = ["--env=balatro", "--envs=2", "--envs-per-worker=2", "--seed=2", "--no-film"]
LEARNER = ["--rl=dqn", "--set=dqn.learning_starts=40", "--set=dqn.encoder=balatro", "--set=balatro.encoder_features=16"]
LENGTH = ["--steps=240", "--save-interval=80", "--final-episodes=2"]

ADVICE = """
[[reply]]
when = 'Allowed now: select_blind'
text = '{"goal": "begin", "actions": ["select_blind"], "confidence": 0.9, "reason": "it is time"}'

[[reply]]
when = 'Possible now: play_'
text = '{"goal": "score", "actions": ["play_1_2_3_4_5"], "confidence": 0.9, "reason": "five cards"}'
"""


@pytest.mark.long
def test_a_killed_training_resumes_exactly_and_its_episodes_are_replayed(
    pkmn: Pkmn, assert_same_course: Callable[..., None], tmp_path: Path
) -> None:
    result = pkmn("train", *GAME, *LEARNER, *LENGTH, "--run-name=whole")
    assert result.code == 0, result.err
    train_until(("os.rename", ".step-000000160.tmp", 1), tmp_path, *GAME, *LEARNER, *LENGTH, "--run-name=killed")
    result = pkmn("train", "--resume", "killed")
    assert result.code == 0, result.err
    assert_same_course(tmp_path / "runs" / "killed", tmp_path / "runs" / "whole")
    summary = json.loads((tmp_path / "runs" / "whole" / "summary.json").read_text())
    assert summary["success_rate"] == 0.0, "a lost run is no success"
    assert set(summary["metrics"]) == {"ante", "round", "score", "money", "jokers"}
    for command in (
        ("replay", "whole", "--verify"),
        ("eval", "whole", "--episodes=2"),
        ("compare", "whole", "killed", "--metric=environment/score"),
        ("analyze-patterns", "whole"),
    ):
        result = pkmn(*command)
        assert result.code == 0, result.err


@pytest.mark.long
def test_a_language_model_plays_by_names_of_actions(pkmn: Pkmn, tmp_path: Path) -> None:
    (tmp_path / "advice.toml").write_text(ADVICE)
    advised = [
        "--rl=none",
        "--pilot=none",
        "--llm=scripted",
        "--set=scripted.file=advice.toml",
        "--steps=12",
        "--run-name=advised",
    ]
    result = pkmn("train", "--env=balatro", *advised)
    assert result.code == 0, result.err
    summary = json.loads((tmp_path / "runs" / "advised" / "summary.json").read_text())
    assert summary["source_shares"]["llm"] > 0.9
    assert summary["metrics"]["score"] > 0


@pytest.mark.long
def test_a_run_is_replayed_in_the_terminal_as_text(pkmn: Pkmn) -> None:
    rules = ["--rl=none", "--pilot=greedy", "--steps=12", "--max-steps-per-episode=8", "--run-name=ruled", "--no-film"]
    result = pkmn("train", "--env=balatro", *rules)
    assert result.code == 0, result.err
    result = pkmn("replay", "ruled", "--episode=last", "--terminal", "--speed=100")
    assert result.code == 0, result.err
    assert "Small blind" in result.out and "╭───╮" in result.out
    assert "quit" not in result.out.replace("Ctrl-C: quit", ""), "what a player could write is left out"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("balatro.deck=chekered", "there is no deck 'chekered'; did you mean 'checkered'?"),
        ("balatro.win_ante=0", "must be at least 1"),
        ("balatro.jokrs=[]", "did you mean 'balatro.jokers'?"),
    ],
)
def test_a_wrong_setting_is_one_line(pkmn: Pkmn, setting: str, message: str) -> None:
    result = pkmn("train", "--env=balatro", "--rl=ppo", "--steps=10", f"--set={setting}")
    assert result.code == 2
    assert message in result.err
    assert len(result.err.strip().splitlines()) == 1
