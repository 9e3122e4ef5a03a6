"""Planted patterns are found, rare ones are not, and decisions recorded by hand have the documented keys."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.tables import decisions, episodes

from pkmn_decisions.analyzer import DecisionHistoryAnalyzer
from pkmn_decisions.store.store import DuckDBStore
from pkmn_decisions.store.view import RunViews
from pkmncli.errors import DecisionValidationError, RunError

RECORD_KEYS = {
    "id", "timestamp", "state_hash", "action", "reasoning", "confidence", "outcome_reward", "episode_id",
    "step_number", "context", "outcome", "step_in_episode", "total_episode_reward",
}  # fmt: skip


def write_run(folder: Path, **given: Any) -> Path:
    """Write a run with as many decisions as the longest given column, every episode of length 10 and ended."""
    count = max(len(values) for values in given.values())
    steps = np.arange(count)
    columns = decisions(1, count, episode=steps // 10, step=steps % 10 + 1, truncated=steps % 10 == 9, **given)
    del columns["done"]
    with DuckDBStore(folder) as store:
        store.append("decisions", columns)
    return folder


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """Write 100 episodes. On map 24.4, pressing A is followed by a reward 7 steps later; pressing B by none."""
    count = 1000
    steps = np.arange(count)
    first = steps % 10 == 0
    presses_a = (steps // 10) % 4 != 0  # three episodes of four begin with A, the others with B
    return write_run(
        tmp_path / "run",
        map_id=np.where(first, 24 * 256 + 4, 24 * 256 + 3),
        action=np.where(first, np.where(presses_a, 0, 1), 4),
        reward=np.where((steps % 10 == 7) & presses_a, 2.0, 0.0),
        source=np.where(first, 3, 2),
    )


def test_a_planted_pattern_is_found_with_its_figures(planted: Path) -> None:
    found = DecisionHistoryAnalyzer(planted).analyze_patterns(3, {"map": "24.4"})
    best, other = found
    assert (best["action"], best["action_name"], best["frequency"], best["success_rate"]) == (0, "a", 75, 1.0)
    assert best["context"] == {
        "map": 6148, "map_name": "24.4", "phase": 0, "phase_name": "0", "battle": 0, "battle_name": "none",
    }  # fmt: skip
    assert best["mean_return"] == 2.0
    assert best["mean_reward"] == 0.0
    assert best["sources"] == {"llm": 75}
    assert (best["other_success_rate"], best["lift"]) == (0.0, None)
    assert (other["action_name"], other["frequency"], other["success_rate"], other["lift"]) == ("b", 25, 0.0, 0.0)


def test_the_interval_is_wilson_s(tmp_path: Path) -> None:
    # 8 successes of 10: the published interval is 0.490 to 0.943.
    rewards = np.where(np.arange(100) < 80, 1.0, 0.0) * (np.arange(100) % 10 == 9)
    actions = np.where(np.arange(100) % 10 == 9, 3, 8)
    folder = write_run(tmp_path / "run", reward=rewards, action=actions)
    (pattern,) = DecisionHistoryAnalyzer(folder).analyze_patterns(1, {"action": "select"})
    assert (pattern["successes"], pattern["judged"]) == (8, 10)
    assert pattern["interval"] == pytest.approx([0.4902, 0.9433], abs=1e-4)


def test_patterns_below_the_threshold_are_left_out(planted: Path) -> None:
    analyzer = DecisionHistoryAnalyzer(planted)
    assert [p["frequency"] for p in analyzer.analyze_patterns(25, {"map": 6148})] == [75, 25]
    assert [p["frequency"] for p in analyzer.analyze_patterns(26, {"map": 6148})] == [75]
    assert analyzer.analyze_patterns(1001) == []
    with pytest.raises(DecisionValidationError, match="at least 1"):
        analyzer.analyze_patterns(0)


def test_success_needs_rewards_above_zero_within_eight_decisions_of_the_episode(tmp_path: Path) -> None:
    rewards = np.zeros(20)
    rewards[[8, 10]] = 1.0  # too late for the first step of episode 0; the second belongs to episode 1
    folder = write_run(tmp_path / "run", reward=rewards)
    recent = DecisionHistoryAnalyzer(folder).get_recent_decisions()
    outcomes = [record["outcome"] for record in reversed(recent)]
    assert outcomes == ["failure"] + ["success"] * 8 + ["failure"] + ["success"] + ["failure"] * 9


def test_the_last_decisions_of_a_running_episode_are_not_judged_yet(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path) as store:
        store.append("decisions", decisions(1, 10, reward=[1.0] * 10))
    analyzer = DecisionHistoryAnalyzer(tmp_path)
    (pattern,) = analyzer.analyze_patterns()
    assert (pattern["frequency"], pattern["judged"], pattern["successes"]) == (10, 3, 3)
    assert [record["outcome"] for record in analyzer.get_recent_decisions()] == [None] * 7 + ["success"] * 3


def test_a_situation_of_which_no_decision_is_judged_yet_is_counted(tmp_path: Path) -> None:
    with DuckDBStore(tmp_path) as store:
        # The running episode has reached another map for its last five decisions.
        store.append("decisions", decisions(1, 20, map_id=np.where(np.arange(20) < 15, 1, 2)))
    analyzer = DecisionHistoryAnalyzer(tmp_path)
    found = [(one["frequency"], one["judged"]) for one in analyzer.analyze_patterns(3)]
    assert sorted(found) == [(5, 0), (15, 13)]
    analyzer.close()


def test_episodes_of_different_environments_are_kept_apart(tmp_path: Path) -> None:
    # Two environments in lockstep; only the second one is ever rewarded.
    count = 40
    columns = decisions(
        1, count, environment=np.arange(count) % 2, step=np.arange(count) // 2 + 1, reward=np.arange(count) % 2,
        action=np.arange(count) % 2,
    )  # fmt: skip
    with DuckDBStore(tmp_path) as store:
        store.append("decisions", columns)
    rates = {p["action"]: p["success_rate"] for p in DecisionHistoryAnalyzer(tmp_path).analyze_patterns()}
    assert rates == {0: 0.0, 1: 1.0}


def test_two_runs_are_read_together_and_kept_apart(planted: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", map_id=[6148] * 10, action=[0] * 10, reward=[-1.0] * 10)
    both = DecisionHistoryAnalyzer([planted, other])
    (best,) = both.analyze_patterns(1, {"map": 6148, "action": "a"})
    assert (best["frequency"], best["successes"]) == (85, 75)
    (only,) = both.analyze_patterns(1, {"map": 6148, "run": "other"})
    assert only["frequency"] == 10
    assert {record["id"].split("/")[0] for record in both.get_recent_decisions(5)} <= {"run", "other"}


@pytest.mark.parametrize(
    ("condition", "frequency"),
    [
        ({"map": "24.4"}, 100),
        ({"map": "!=24.4"}, 900),
        ({"map": [6148, 6147]}, 1000),
        ({"action": ["a", "b"]}, 100),
        ({"action": "UP"}, 900),
        ({"source": "llm"}, 100),
        ({"battle": True}, 0),
        ({"battle": "no"}, 1000),
        ({"step": "<=2"}, 200),
        ({"reason": "~REASON 1000"}, 1),
        ({"reason": "reason 7"}, 1),
        ({"health": "<0.5", "global_step": ">990"}, 10),
    ],
)
def test_conditions_choose_decisions(planted: Path, condition: dict[str, Any], frequency: int) -> None:
    found = DecisionHistoryAnalyzer(planted).analyze_patterns(1, condition)
    assert sum(pattern["frequency"] for pattern in found) == frequency


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ({"mapp": 1}, "did you mean map"),
        ({"map": "Pallet Town"}, "has no names"),
        ({"action": "jump"}, "Known are a, b, start"),
        ({"health": "~1"}, "is a number"),
    ],
)
def test_a_wrong_condition_says_what_would_be_right(planted: Path, condition: dict[str, Any], message: str) -> None:
    with pytest.raises(DecisionValidationError, match=message):
        DecisionHistoryAnalyzer(planted).analyze_patterns(1, condition)


def test_situations_can_be_told_apart_by_tile_and_previous_action(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", x=[1, 2] * 20, y=[7] * 40, previous_1=[-1, 4] * 20)
    found = DecisionHistoryAnalyzer(folder).analyze_patterns(1, by=("tile", "previous"))
    contexts = sorted((p["context"]["x"], p["context"]["previous_name"]) for p in found)
    assert contexts == [(1, "nothing yet"), (2, "up")]
    assert all(p["context"]["map"] == 0 for p in found)


def test_names_come_from_the_run_s_folder(planted: Path) -> None:
    names = {"maps": {"6148": "New Bark Town", "6147": "Route 29"}, "phases": ["walking", "talking"]}
    (planted / "names.json").write_text(json.dumps(names))
    analyzer = DecisionHistoryAnalyzer(planted)
    found = analyzer.analyze_patterns(1, {"map": "new bark town", "phase": "walking"})
    assert {(p["context"]["map_name"], p["context"]["phase_name"]) for p in found} == {("New Bark Town", "walking")}
    with pytest.raises(DecisionValidationError, match="did you mean 'New Bark Town'"):
        analyzer.analyze_patterns(1, {"map": "new berk town"})


def test_actions_and_battles_have_the_names_of_the_run(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", action=[0, 4000] * 20, battle=[0, 3] * 20, previous_1=[-1, 4000] * 20)
    (folder / "names.json").write_text(json.dumps({"actions": ["wait", "jump"], "battles": {"3": "duel"}}))
    with DecisionHistoryAnalyzer(folder) as analyzer:
        found = analyzer.analyze_patterns(1, {"action": "wait"}, by=("battle", "previous"))
        assert [(p["action_name"], p["context"]["previous_name"]) for p in found] == [("wait", "nothing yet")]
        (other,) = analyzer.analyze_patterns(1, {"previous": 4000, "battle": "duel"})
        assert (other["action"], other["action_name"], other["context"]["battle_name"]) == (4000, "action_4000", "duel")
    views = RunViews([folder])
    _, rows = views.query("SELECT DISTINCT action, action_name FROM decisions ORDER BY action")
    views.close()
    assert rows == [(0, "wait"), (4000, "action_4000")]


def test_actions_have_a_game_boys_names_where_a_run_names_none(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", action=[4, 12] * 20, battle=[2] * 40)
    found = DecisionHistoryAnalyzer(folder).analyze_patterns(1)
    assert {p["action_name"] for p in found} == {"up", "action_12"}
    assert {p["context"]["battle_name"] for p in found} == {"trainer"}


@pytest.mark.parametrize("content", ["", "[1, 2]", '{"maps": 3}', '{"maps": {"lab": "Lab"}}', '{"phases": "walking"}'])
def test_damaged_names_leave_numbers(planted: Path, content: str) -> None:
    (planted / "names.json").write_text(content)
    found = DecisionHistoryAnalyzer(planted).analyze_patterns(75, {"map": 6148})
    assert [pattern["context"]["map_name"] for pattern in found] == ["24.4"]


def test_runs_of_different_games_share_no_names_they_differ_about(planted: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", map_id=[6148] * 5 + [6147] * 5)
    (planted / "names.json").write_text(json.dumps({"maps": {"6148": "New Bark Town", "6147": "Route 29"}}))
    (other / "names.json").write_text(json.dumps({"maps": {"6148": "Quillwood", "6147": "Route 29"}}))
    found = DecisionHistoryAnalyzer([planted, other]).analyze_patterns(1)
    assert {pattern["context"]["map_name"] for pattern in found} == {"24.4", "Route 29"}


def test_recent_decisions_come_newest_first_with_the_promised_keys(planted: Path) -> None:
    with DuckDBStore(planted) as store:
        store.append(
            "decisions", decisions(1001, 1001, episode=[100], previous_1=[6], previous_2=[0], time=[1e9], health=[0.5])
        )
    records = DecisionHistoryAnalyzer(planted).get_recent_decisions(3)
    assert [record["id"] for record in records] == ["run/1001", "run/1000", "run/999"]
    newest = records[0]
    assert set(newest) == RECORD_KEYS
    assert newest["timestamp"] == datetime.fromtimestamp(1e9, UTC)
    assert newest["context"]["previous_actions"] == [0, 6]
    assert (newest["episode_id"], newest["reasoning"]) == ("0-100", "reason 1001")
    assert records[1]["total_episode_reward"] == 2.0
    with pytest.raises(DecisionValidationError, match="at least 1"):
        DecisionHistoryAnalyzer(planted).get_recent_decisions(0)


def test_an_open_analyzer_sees_what_is_written_after_it(tmp_path: Path) -> None:
    analyzer = DecisionHistoryAnalyzer(tmp_path / "run")
    assert analyzer.analyze_patterns() == []
    assert analyzer.get_recent_decisions() == []
    assert not (tmp_path / "run").exists()
    with DuckDBStore(tmp_path / "run") as store:
        store.append("decisions", decisions(1, 10))
        store.flush()
        assert analyzer.analyze_patterns()[0]["frequency"] == 10
        store.append("episodes", episodes(10))
        store.append("decisions", decisions(11, 20))
        store.flush()
        assert analyzer.analyze_patterns()[0]["frequency"] == 20


class GameState:
    def __init__(self, **variables: Any) -> None:
        self.state_variables = variables


def test_decisions_recorded_by_hand_are_kept_and_learned_from(tmp_path: Path) -> None:
    path = tmp_path / "decisions.db"
    with DecisionHistoryAnalyzer(str(path)) as analyzer:
        for turn in range(6):
            state = GameState(map_group=24, map_number=4, x=3, y=3, in_battle=True)
            analyzer.record_decision(state, turn % 2, "try it", 0.75, 1.0 if turn % 2 else -1.0)
        found = analyzer.analyze_patterns(min_frequency=3)
    assert [(p["action"], p["frequency"], p["success_rate"]) for p in found] == [(1, 3, 1.0), (0, 3, 0.0)]
    assert found[0]["context"]["map"] == 6148
    assert found[0]["context"]["battle"] == 1

    with DecisionHistoryAnalyzer(path) as again:
        again.record_decision({"map": 1}, 8, "wait", 1.0, 0.0)
        records = again.get_recent_decisions(limit=3)
    assert set(records[0]) == RECORD_KEYS
    assert [(r["action"], r["episode_id"], r["step_number"]) for r in records] == [
        (8, "0-1", 1),
        (1, "0-0", 6),
        (0, "0-0", 5),
    ]
    assert (records[1]["outcome"], records[2]["outcome"]) == ("success", "failure")
    assert records[1]["state_hash"] == records[2]["state_hash"] != records[0]["state_hash"]
    assert records[1]["total_episode_reward"] == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({}, 0, "why", 1.5, 0.0), "between 0 and 1"),
        (({}, 0, "why", 0.5, float("nan")), "finite number"),
        (("a state", 0, "why", 0.5, 0.0), "must be a dictionary"),
        (({"x": 2**31}, 0, "why", 0.5, 0.0), "x holds -2147483648 to 2147483647"),
        (({}, -1, "why", 0.5, 0.0), "whole number between 0 and 65535"),
        (({}, 65_536, "why", 0.5, 0.0), "whole number between 0 and 65535"),
        (({}, 0, 7, 0.5, 0.0), "reason holds"),
    ],
)
def test_invalid_decisions_are_refused(tmp_path: Path, arguments: tuple[Any, ...], message: str) -> None:
    with DecisionHistoryAnalyzer(tmp_path / "own") as analyzer:
        with pytest.raises(DecisionValidationError, match=message):
            analyzer.record_decision(*arguments)
        analyzer.record_decision({}, 0, "why", 0.5, 0.0)
        assert len(analyzer.get_recent_decisions()) == 1


def test_a_run_s_decisions_are_not_recorded_by_hand_and_a_file_is_no_store(planted: Path, tmp_path: Path) -> None:
    with pytest.raises(DecisionValidationError, match="another path"):
        DecisionHistoryAnalyzer(planted).record_decision({}, 0, "why", 0.5, 0.0)
    (tmp_path / "old.db").write_bytes(b"SQLite format 3")
    with pytest.raises(RunError, match="is a file"):
        DecisionHistoryAnalyzer(tmp_path / "old.db")


def test_one_process_records_at_a_time(tmp_path: Path) -> None:
    with DecisionHistoryAnalyzer(tmp_path) as analyzer:
        analyzer.record_decision({}, 0, "why", 0.5, 0.0)
        with pytest.raises(RunError, match="in use by another process"):
            DecisionHistoryAnalyzer(tmp_path).record_decision({}, 0, "why", 0.5, 0.0)


@pytest.mark.long
def test_a_script_that_forgets_to_close_loses_nothing(tmp_path: Path) -> None:
    script = (
        "from pkmn_decisions.analyzer import DecisionHistoryAnalyzer as A\n"
        "a = A('decisions.db')\n"
        "for turn in range(3): a.record_decision({'x': turn}, 0, 'why', 0.5, 1.0)\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    assert len(DecisionHistoryAnalyzer(tmp_path / "decisions.db").get_recent_decisions()) == 3
