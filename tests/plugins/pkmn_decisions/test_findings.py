"""Planted sequences, loops, sources, calibration, costs, changes and advice are found with their figures."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import numpy as np
import pytest
from support.planted import (
    BAD,
    GOOD,
    LOOP_MAP,
    LOOP_STEPS,
    SEQUENCE,
    SEQUENCE_MAP,
    Plan,
    write_planted,
)
from support.tables import previous_actions, write_steps
from support.variants import long_after

from pkmn_decisions.analyzer import DecisionHistoryAnalyzer
from pkmn_decisions.store.schema import DECISIONS
from pkmn_decisions.store.store import DuckDBStore
from pkmncli.errors import DecisionValidationError


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_planted(tmp_path_factory.mktemp("planted") / "run", Plan(seed=3))


@pytest.mark.long
def test_what_is_written_with_the_decisions_gives_the_same_patterns(tmp_path: Path, planted: Path) -> None:
    stored = write_planted(tmp_path / "stored", Plan(seed=3, near_return=True))
    computed, read = (DecisionHistoryAnalyzer(folder).analyze_patterns() for folder in (planted, stored))
    assert len(computed) == len(read) > 100
    for one, other in zip(computed, read, strict=True):
        assert one.keys() == other.keys()
        for key, value in one.items():
            assert other[key] == (pytest.approx(value, rel=1e-4, abs=1e-4) if isinstance(value, float) else value), key
    # Another horizon differs from the written one, so it is computed.
    short = [DecisionHistoryAnalyzer(folder, horizon=2).analyze_patterns() for folder in (planted, stored)]
    assert [one["successes"] for one in short[0]] == [one["successes"] for one in short[1]]
    assert sum(one["successes"] for one in short[0]) < sum(one["successes"] for one in computed)


def test_a_planted_sequence_is_shown_once_and_whole(planted: Path) -> None:
    found = DecisionHistoryAnalyzer(planted).findings("sequences", 10, {"map": SEQUENCE_MAP}, limit=5)["sequences"]
    best = found[0]
    assert tuple(best["actions"]) == SEQUENCE
    assert best["action_names"] == ["start", "a", "select", "b", "right", "up"]
    assert best["frequency"] > 60
    assert best["mean_return"] > best["usual_mean_return"] + 1.5
    parts = {SEQUENCE[first:last] for first in range(5) for last in range(first + 2, 7)} - {SEQUENCE}
    assert not parts & {tuple(one["actions"]) for one in found}


def test_a_shorter_sequence_is_shown_at_its_length(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    actions = rng.integers(4, 9, (40, 100))
    actions[:, 10::20], actions[:, 11::20], actions[:, 12::20] = 0, 1, 2
    reward = np.zeros(actions.shape)
    reward[:, 12::20] = 1.0
    folder = write_steps(tmp_path, 40, 100, action=actions.ravel(), **previous_actions(actions), reward=reward.ravel())
    best = DecisionHistoryAnalyzer(folder).findings("sequences", 5, limit=1)["sequences"][0]
    assert (best["action_names"], best["frequency"], best["success_rate"]) == (["a", "b", "start"], 200, 1.0)


def test_a_planted_loop_is_found_with_its_place_and_length(planted: Path) -> None:
    (loop,) = DecisionHistoryAnalyzer(planted).findings("loops")["loops"]
    assert (loop["map"], loop["loops"], {*list(loop["actions"])[:2]}) == (LOOP_MAP, 4, {"up", "down"})
    assert 4 * (LOOP_STEPS - 62) <= loop["wasted_steps"] <= 4 * LOOP_STEPS
    assert loop["states"] == 2
    assert set(loop["sources"]) == {"rl", "explore", "rule", "llm"}


def test_what_earns_or_leads_on_is_no_loop(tmp_path: Path) -> None:
    few = np.arange(400) % 3 + 1
    rewarded = write_steps(tmp_path / "rewarded", 1, 400, fine_hash=few, reward=np.arange(400) % 20 == 0)
    wandering = write_steps(tmp_path / "wandering", 1, 400, fine_hash=np.arange(400) + 1)
    short = write_steps(
        tmp_path / "short", 1, 400, fine_hash=np.where(np.arange(400) % 100 < 40, few, np.arange(400) + 9)
    )
    for folder in (rewarded, wandering, short):
        assert DecisionHistoryAnalyzer(folder).findings("loops")["loops"] == []


def test_who_is_right_is_told_with_its_interval(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    source = rng.choice([0, 2], (40, 100))
    reward = np.where(rng.random((40, 100)) < np.where(source == 2, 0.3, 0.02), 1.0, 0.0)
    analyzer = DecisionHistoryAnalyzer(
        write_steps(tmp_path, 40, 100, source=source.ravel(), reward=reward.ravel()), horizon=1
    )
    (place,) = analyzer.findings("sources")["sources"]
    assert place["best"] == "rule"
    first, second = place["sources"]
    assert (first["source"], second["source"]) == ("rule", "rl")
    assert first["significant"] and first["interval"][0] < 0.3 < first["interval"][1]
    advice = [one for one in analyzer.advice() if one["for"] == "strategy"]
    assert {one["text"].split(":")[0] for one in advice} == {
        "let the rules decide more", "let the learner decide less",
    }  # fmt: skip


def test_a_loop_names_the_actions_that_were_taken_in_it(tmp_path: Path) -> None:
    folder = write_steps(tmp_path, 1, 128, action=np.tile([4000, 12], 64), fine_hash=np.tile([77, 78], 64))
    (loop,) = DecisionHistoryAnalyzer(folder).findings("loops")["loops"]
    assert loop["actions"] == {"action_4000": 64, "action_12": 63}


@pytest.mark.parametrize("highest", long_after(1, [500, 1000, 4095, 65_535]))
def test_sequences_are_of_the_actions_that_were_taken_however_many_there_are(tmp_path: Path, highest: int) -> None:
    rng = np.random.default_rng(1)
    actions = rng.integers(0, highest + 1, (40, 100))
    planted = [highest, 0, highest - 1]
    actions[:, 10::20], actions[:, 11::20], actions[:, 12::20] = planted
    reward = np.zeros(actions.shape)
    reward[:, 12::20] = 1.0
    folder = write_steps(tmp_path, 40, 100, action=actions.ravel(), **previous_actions(actions), reward=reward.ravel())
    best = DecisionHistoryAnalyzer(folder).findings("sequences", 5, limit=1)["sequences"][0]
    assert (best["actions"], best["frequency"], best["success_rate"]) == (planted, 200, 1.0)


@pytest.mark.parametrize("told", [True, False])
def test_what_is_done_early_is_not_taken_for_what_pays_early(tmp_path: Path, told: bool) -> None:
    # Before the first goal rewards are high, and A is the usual action; it makes no difference.
    rng = np.random.default_rng(5)
    early = np.arange(100) < rng.integers(30, 60, (60, 1))
    action = np.where(rng.random((60, 100)) < np.where(early, 0.6, 0.1), 0, rng.integers(1, 9, (60, 100)))
    reward = np.where(rng.random((60, 100)) < np.where(early, 0.5, 0.05), 1.0, 0.0)
    milestones = np.where(early, 0, 1) if told else np.zeros_like(action)
    folder = write_steps(tmp_path, 60, 100, action=action.ravel(), reward=reward.ravel(), milestones=milestones.ravel())
    patterns = DecisionHistoryAnalyzer(folder, horizon=1).analyze_patterns(5)
    (pressing_a,) = (one for one in patterns if one["action"] == 0)
    assert pressing_a["significant"] != told
    assert (abs(pressing_a["return_difference"]) < 0.05) == told


def test_calibration_compares_what_is_said_with_what_comes(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    confidence = rng.choice([0.25, 0.75], 20_000)
    honest = rng.random(20_000) < confidence
    source = np.arange(20_000) % 2 * 2
    reward = np.where(source == 0, honest, rng.random(20_000) < 0.5)
    folder = write_steps(tmp_path, 20, 1000, confidence=confidence, source=source, reward=reward)
    learner, rules = DecisionHistoryAnalyzer(folder, horizon=1).findings("sources")["calibration"]
    assert (learner["source"], rules["source"]) == ("rl", "rule")
    assert learner["expected_calibration_error"] < 0.02
    assert rules["expected_calibration_error"] == pytest.approx(0.25, abs=0.02)
    assert [one["from"] for one in learner["bins"]] == [0.2, 0.7]


def test_what_advice_cost_is_told_where_it_was_asked(tmp_path: Path) -> None:
    folder = write_steps(tmp_path / "run", 2, 50, map_id=np.repeat([513, 514], 50))
    rows = 4
    with DuckDBStore(folder) as store:
        store.append(
            "advice",
            {
                "global_step": [1, 12, 61, 71], "asked_at": [0, 10, 60, 70], "environment": [0] * rows,
                "time": [0.0] * rows, "event": ["interval"] * rows, "followed": [True] * rows,
                "reading": ["schema"] * rows, "problem": ["", "", "", "no place"],
                "advice": ["{}", "{}", "", "{}"],
                "model": ["gpt-x"] * rows, "cached": [False, False, False, True], "prompt": [""] * rows,
                "reply": [""] * rows, "prompt_tokens": [100] * rows, "completion_tokens": [10] * rows,
                "latency_s": [0.5, 1.5, 1.0, 0.0],
            },
        )  # fmt: skip
    first, second = DecisionHistoryAnalyzer(folder).findings("sources")["advice_costs"]
    assert (first["context"]["map"], first["calls"], first["tokens"], first["latency_s"]) == (513, 2, 220, 1.0)
    assert (second["context"]["map"], second["calls"], second["cached"], second["useless"]) == (514, 1, 1, 2)


def changing(folder: Path, seed: int, *, changes: bool) -> Path:
    rng = np.random.default_rng(seed)
    late = np.arange(80)[:, None] >= 40
    often = np.where(late & changes, 0.5, 0.1)
    action = np.where(rng.random((80, 100)) < often, 0, rng.integers(1, 9, (80, 100)))
    chance = np.where((action == 3) & late & changes, 0.4, 0.05)
    reward = np.where(rng.random((80, 100)) < chance, 1.0, 0.0)
    return write_steps(folder, 80, 100, action=action.ravel(), reward=reward.ravel())


def test_what_moved_between_the_halves_of_a_run_is_told(tmp_path: Path) -> None:
    analyzer = DecisionHistoryAnalyzer(changing(tmp_path / "changing", 1, changes=True), horizon=1)
    found = analyzer.findings("changes", 5)
    assert found["compared"] == ["the first half", "the second half"]
    moved = {(one["action_name"], one["figure"]): one for one in found["changes"]}
    share, gain = moved["a", "share"], moved["select", "return"]
    assert (round(share["before"], 1), round(share["after"], 1)) == (0.1, 0.5)
    assert gain["before"] < 0.1
    assert gain["after"] > 0.3
    # the share that a gains is lost by the others
    assert {figure for name, figure in moved if name not in ("a", "select")} == {"share"}
    assert analyzer.findings("changes", 5, {"action": "select"})["changes"][0]["action_name"] == "select"


@pytest.mark.long
def test_two_runs_are_compared_and_alike_ones_do_not_differ(tmp_path: Path) -> None:
    first, second, other = (
        changing(tmp_path / name, seed, changes=changes)
        for name, seed, changes in (("first", 2, False), ("second", 3, False), ("other", 6, True))
    )
    assert DecisionHistoryAnalyzer([first, second], horizon=1).findings("changes", 5)["changes"] == []
    found = DecisionHistoryAnalyzer([first, other], horizon=1).findings("changes", 5)
    assert found["compared"] == ["first", "other"]
    assert ("a", "share") in {(one["action_name"], one["figure"]) for one in found["changes"]}
    with pytest.raises(DecisionValidationError, match="one run, or two runs, not 3"):
        DecisionHistoryAnalyzer([first, second, other]).findings("changes")


def test_advice_tells_what_pays_and_what_costs(planted: Path) -> None:
    told = {(one["context"]["map"], one["text"]) for one in DecisionHistoryAnalyzer(planted).advice(5)}
    names = {3: "select", 5: "down"}
    assert (GOOD[0], f"the action {names[GOOD[1]]} brings more here than other actions, if it serves the goal") in told
    assert (BAD[0], f"the action {names[BAD[1]]} brings less here than other actions, unless the goal needs it") in told
    json.dumps(DecisionHistoryAnalyzer(planted).findings("advice"))


def test_an_unknown_section_is_refused(planted: Path) -> None:
    with pytest.raises(DecisionValidationError, match="patterns, sources, loops"):
        DecisionHistoryAnalyzer(planted).findings("beauty")


def test_files_of_before_what_came_of_a_decision_was_written_are_read_too(tmp_path: Path, planted: Path) -> None:
    old = tmp_path / "old" / "decisions"
    old.mkdir(parents=True)
    (first,) = (planted / "decisions").iterdir()
    new = [column.name for column in DECISIONS.columns if column.since > 1]
    duckdb.sql(
        f"COPY (SELECT * EXCLUDE ({', '.join(new)}), 0 AS previous_actions FROM '{first}') TO '{old / first.name}' "
        "(FORMAT parquet, KV_METADATA {pkmn_schema: '1'})"
    )
    computed, read = (
        DecisionHistoryAnalyzer(folder).analyze_patterns(sort="frequency") for folder in (planted, old.parent)
    )
    assert [one["successes"] for one in computed] == [one["successes"] for one in read]
    assert DecisionHistoryAnalyzer(old.parent).findings("loops")["loops"][0]["map"] == LOOP_MAP
