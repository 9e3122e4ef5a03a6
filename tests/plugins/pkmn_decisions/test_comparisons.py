"""Differences, loops, changes and confidence, for questions and data that are unbalanced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.planted import LOOP_MAP, LOOP_STEPS, Plan, write_planted
from support.tables import write_steps

from pkmn_decisions.analyzer import DecisionHistoryAnalyzer
from pkmncli.api import Consequence


def test_a_difference_is_told_in_its_size_where_shares_differ_by_stage(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    milestones = np.repeat([[0] * 50 + [1] * 50], 60, axis=0)
    pressed_a = rng.random((60, 100)) < np.where(milestones == 0, 0.9, 0.1)
    # Pressing a brings 1 more at either stage, and the later stage 5 more for any action.
    reward = pressed_a * 1.0 + milestones * 5.0 + rng.normal(0, 0.1, (60, 100))
    source = np.where(pressed_a, 2, 0)
    folder = write_steps(
        tmp_path, 60, 100, action=np.where(pressed_a, 0, 1).ravel(), source=source.ravel(), reward=reward.ravel(),
        milestones=milestones.ravel(),
    )  # fmt: skip
    with DecisionHistoryAnalyzer(folder, horizon=1) as analyzer:
        patterns = {one["action"]: one for one in analyzer.analyze_patterns(5)}
        (place,) = analyzer.findings("sources", 5)["sources"]
    for one, sign in ((patterns[0], 1), (patterns[1], -1)):
        assert one["significant"]
        assert one["return_difference"] == pytest.approx(sign, abs=0.02)
        assert one["mean_return"] - one["other_mean_return"] == pytest.approx(sign, abs=0.02)
    rules = next(one for one in place["sources"] if one["source"] == "rule")
    assert rules["mean_return"] - rules["other_mean_return"] == pytest.approx(1, abs=0.02)


def test_what_was_never_done_at_the_same_stage_as_all_else_is_not_compared(tmp_path: Path) -> None:
    stage = np.tile([0, 1], 600)
    folder = write_steps(tmp_path, 12, 100, action=stage, milestones=stage, reward=stage * 3.0)
    for one in DecisionHistoryAnalyzer(folder, horizon=1).analyze_patterns(5):
        assert one["return_difference"] is None
        assert not one["significant"]


def test_a_condition_makes_no_loops(tmp_path: Path) -> None:
    analyzer = DecisionHistoryAnalyzer(write_planted(tmp_path, Plan(seed=5, loops=3)))
    (whole,) = analyzer.findings("loops")["loops"]
    assert (whole["map"], whole["loops"]) == (LOOP_MAP, 3)
    assert 3 * (LOOP_STEPS - 31) <= whole["wasted_steps"] <= 3 * LOOP_STEPS
    by_source = [analyzer.findings("loops", 3, {"source": who})["loops"] for who in ("rl", "explore", "rule", "llm")]
    assert {place["map"] for places in by_source for place in places} == {LOOP_MAP}
    assert sum(place["wasted_steps"] for places in by_source for place in places) == whole["wasted_steps"]


def test_few_decisions_of_one_who_sees_few_states_are_no_loop(tmp_path: Path) -> None:
    # Every other decision is the model's, always in the same state; the others continue and earn.
    model = np.arange(4000) % 2 == 0
    hashes = np.where(model, 7, np.arange(4000) + 100).astype(np.uint64)
    folder = write_steps(
        tmp_path, 10, 400, source=np.where(model, 3, 0), reward=np.where(model, 0.0, 1.0), fine_hash=hashes
    )  # fmt: skip
    assert DecisionHistoryAnalyzer(folder).findings("loops", 3, {"source": "llm"})["loops"] == []


def test_changes_keep_the_operator_and_all_conditions(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    late = np.arange(80)[:, None] >= 40
    action = np.where(rng.random((80, 100)) < np.where(late, 0.5, 0.1), 0, rng.integers(1, 5, (80, 100)))
    folder = write_steps(tmp_path, 80, 100, action=action.ravel(), reward=np.zeros(8000))
    analyzer = DecisionHistoryAnalyzer(folder, horizon=1)

    def told(**conditions: Any) -> set[int]:
        return {one["action"] for one in analyzer.findings("changes", 5, conditions)["changes"]}

    assert told() == {0, 1, 2, 3, 4}
    assert told(action="!=a") == {1, 2, 3, 4}
    assert told(action=["a", "b"]) == {0, 1}
    assert told(action="<2") == {0, 1}


def test_confidence_out_of_range_counts_as_its_nearest_and_none_at_all_is_left_out(tmp_path: Path) -> None:
    confidence = np.tile(np.array([-0.5, 1.5, 1e9, np.nan], np.float32), 100)
    folder = write_steps(tmp_path, 4, 100, confidence=confidence, reward=np.ones(400))
    (one,) = DecisionHistoryAnalyzer(folder, horizon=1).findings("sources")["calibration"]
    assert (one["judged"], one["confidence"]) == (300, pytest.approx(2 / 3))
    assert [(found["from"], found["judged"], found["confidence"]) for found in one["bins"]] == [
        (0.0, 100, 0.0),
        (0.9, 200, 1.0),
    ]


def test_what_a_press_mostly_leads_to_is_told_and_can_be_asked_for(tmp_path: Path) -> None:
    outcome = np.where(np.arange(400) % 4 == 0, Consequence.NOTHING, Consequence.NEW_TILE)
    folder = write_steps(
        tmp_path, 4, 100, outcome=outcome, value=np.tile([0.5, np.nan], 200), alternative=np.full(400, 4)
    )  # fmt: skip
    analyzer = DecisionHistoryAnalyzer(folder, horizon=1)
    (one,) = analyzer.analyze_patterns()
    assert one["outcomes"] == {"nothing": 100, "new_tile": 300}
    for condition, times in (
        ({"outcome": "new_tile"}, 300),
        ({"outcome": "!=new_tile"}, 100),
        ({"value": ">0"}, 200),
        ({"alternative": "up"}, 400),
    ):
        assert sum(found["frequency"] for found in analyzer.analyze_patterns(1, condition)) == times
