"""Decisions of a real training: what they hold, and what a kill leaves of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.courses import without_times
from support.killed_training import train_until

from pkmncli.api import DECISION_HORIZON, Consequence, Source, Store
from pkmncli.plugins import get_registry
from pkmncli.runs import Run
from pkmncli.training.assembly import open_store

Rows = list[dict[str, Any]]


def decisions(folder: Path) -> Rows:
    store: Store = open_store(get_registry(), folder)
    rows = store.read("decisions")
    store.close()
    return rows


@pytest.fixture(scope="module")
def recorded(shared_run: Callable[..., Path]) -> Rows:
    return decisions(shared_run("adaptive", 2))


def test_what_came_of_a_decision_is_the_sum_of_what_followed(recorded: Rows) -> None:
    episodes: dict[tuple[int, int], Rows] = {}
    for row in recorded:
        episodes.setdefault((row["environment"], row["episode"]), []).append(row)
    for rows in episodes.values():
        rewards = [row["reward"] for row in rows]
        sums = [np.float32(sum(rewards[step : step + DECISION_HORIZON])) for step in range(len(rows))]
        ended = rows[-1]["terminated"] or rows[-1]["truncated"]
        known = len(rows) if ended else max(len(rows) - DECISION_HORIZON + 1, 0)
        assert [row["near_return"] for row in rows[:known]] == pytest.approx(sums[:known], rel=1e-6)
        assert [row["near_return"] for row in rows[known:]] == [None] * (len(rows) - known)
    assert {Consequence.NEW_TILE, Consequence.MILESTONE} <= {row["outcome"] for row in recorded}


def test_the_parts_of_a_reward_add_up_to_it(recorded: Rows) -> None:
    assert [sum(row["reward_parts"].values()) for row in recorded] == pytest.approx(
        [row["reward"] for row in recorded], abs=1e-5
    )
    names = {name for row in recorded for name in row["reward_parts"]}
    assert {"exploration.new_tile", "progress.milestone"} <= names


@pytest.mark.long
def test_the_learner_says_what_it_would_have_done(recorded: Rows, shared_run: Callable[..., Path]) -> None:
    greedy = [row for row in decisions(shared_run("rl-only", 1)) if row["source"] == Source.RL]
    assert len(greedy) > 100
    for row in greedy:
        if row["alternative"] == -1:
            continue  # nothing else was allowed
        assert row["value"] >= row["alternative_value"]
    for row in recorded:
        assert row["alternative"] != row["action"]
        assert (row["alternative"] == -1) == (row["alternative_value"] is None)
    overruled = [row for row in recorded if row["source"] == Source.RULE and row["alternative"] >= 0]
    assert any(row["alternative_value"] > row["value"] for row in overruled)


@pytest.mark.long
def test_what_is_not_known_at_the_end_is_not_judged_until_the_run_goes_on(
    pkmn: Callable[..., Any], tmp_path: Path
) -> None:
    options = ["--rl=none", "--mode=llm-only", "--steps=20", "--run-name=it", "--max-steps-per-episode=30"]
    assert pkmn("train", *options).code == 0
    known = [row["near_return"] is not None for row in decisions(tmp_path / "runs" / "it")]
    assert known == [True] * 13 + [False] * 7
    assert pkmn("train", "--resume", "it", "--steps=40").code == 0
    rows = decisions(tmp_path / "runs" / "it")
    assert [row["global_step"] for row in rows] == list(range(1, 41))
    assert [row["near_return"] is not None for row in rows] == [True] * 33 + [False] * 7


def test_without_a_learner_nothing_is_known_of_it(pkmn: Callable[..., Any], tmp_path: Path) -> None:
    options = ["--rl=none", "--mode=llm-only", "--steps=20", "--run-name=it", "--max-steps-per-episode=30"]
    assert pkmn("train", *options).code == 0
    rows = decisions(tmp_path / "runs" / "it")
    assert len(rows) == 20
    assert {(row["alternative"], row["value"], row["alternative_value"]) for row in rows} == {(-1, None, None)}


def test_a_decision_says_how_long_its_advice_had_taken(pkmn: Callable[..., Any], tmp_path: Path) -> None:
    advice = {"goal": "walk", "skill": "press", "presses": ["right", "up"], "map": None, "x": None, "y": None}
    (tmp_path / "script.toml").write_text(
        f"[[reply]]\ntext = '{json.dumps(advice | {'confidence': 0.8, 'reason': 'a test'})}'\n"
    )
    options = ["--rl=none", "--mode=llm-only", "--llm=scripted", "--set=scripted.file=script.toml", "--llm-wait"]
    options += ["--llm-interval=10", "--set=llm_allowance=1", "--steps=60", "--run-name=it"]
    assert pkmn("train", *options).code == 0
    store = open_store(get_registry(), tmp_path / "runs" / "it")
    answers = {row["latency_s"] for row in store.read("advice") if row["followed"]}
    store.close()
    advised = [row["latency_s"] for row in decisions(tmp_path / "runs" / "it") if row["source"] == Source.LLM]
    assert advised
    assert set(advised) <= answers
    others = [row["latency_s"] for row in decisions(tmp_path / "runs" / "it") if row["source"] != Source.LLM]
    assert set(others) == {0.0}


@pytest.mark.long
def test_a_kill_takes_no_row_back_and_leaves_none_undecided(
    pkmn: Callable[..., Any],
    shared_run: Callable[..., Path],
    small_training: list[str],
    tmp_path: Path,
) -> None:
    """SIGKILL just before a flush; the rows before are the unbroken run's, and stay after the run has gone on."""
    train_until(("os.rename", "decisions", 9), tmp_path, *small_training, "--mode=adaptive", "--run-name=it")
    run = Run(tmp_path / "runs" / "it")
    unbroken = [without_times(row) for row in decisions(shared_run("adaptive", 1))]
    left = decisions(run.folder)
    assert 90 < len(left) < 240
    assert [without_times(row) for row in left] == unbroken[: len(left)], "held back until known"
    before = {row["global_step"]: row["time"] for row in left}
    newest = int(run.checkpoints.names()[-1][5:])
    assert pkmn("train", "--resume", "it").code == 0
    rows = decisions(run.folder)
    assert [without_times(row) for row in rows] == unbroken
    kept = [row for row in rows if row["global_step"] <= newest - DECISION_HORIZON]
    assert [row["time"] for row in kept] == [before[row["global_step"]] for row in kept]
