"""A table of decisions in an SQLite file is read, in both shapes of record, and never changed."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pkmn_decisions.analyzer import DecisionHistoryAnalyzer
from pkmncli.cli import run as pkmn
from pkmncli.errors import DecisionValidationError, RunError

WITH_REWARDS = """
    CREATE TABLE decisions (id TEXT PRIMARY KEY, timestamp TEXT, state_hash INTEGER, action INTEGER, reasoning TEXT,
        confidence REAL, outcome_reward REAL, episode_id TEXT, step_number INTEGER)
"""
WITH_OUTCOMES = """
    CREATE TABLE decision_history (state_hash INTEGER, action INTEGER, context TEXT, outcome TEXT,
        step_in_episode INTEGER, total_episode_reward REAL)
"""


def database(path: Path, table: str, rows: list[tuple[object, ...]]) -> Path:
    name = table.split()[2]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(table)
        connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        connection.commit()
    return path


@pytest.fixture
def rewards(tmp_path: Path) -> Path:
    rows: list[tuple[object, ...]] = [
        (f"d{step}", f"2025-03-01T12:00:{step:02}", -5 - step, step % 2, "try", 0.5, 1.0 - step % 2, "one", step + 1)
        for step in range(10)
    ]
    rows.append(("last", "2025-03-01T13:00:00", 7, 8, "wait", 1.0, -2.0, "two", 1))
    return database(tmp_path / "old.db", WITH_REWARDS, rows)


@pytest.fixture
def outcomes(tmp_path: Path) -> Path:
    context = json.dumps({"map": 6148, "x": 999, "phase": 2, "in_battle": True, "source": "llm", "confidence": 0.25})
    rows: list[tuple[object, ...]] = [
        (2**62 + step, 4, context, "success" if step % 3 else "failure", step % 5 + 1, 12.5) for step in range(10)
    ]
    return database(tmp_path / "outcomes.db", WITH_OUTCOMES, rows)


def test_records_with_rewards_come_out_as_they_were(rewards: Path) -> None:
    before = rewards.read_bytes()
    with DecisionHistoryAnalyzer(str(rewards)) as analyzer:
        newest, *others = analyzer.get_recent_decisions(11)
        patterns = analyzer.analyze_patterns(min_frequency=3)
        with pytest.raises(DecisionValidationError, match="only read"):
            analyzer.record_decision({}, 0, "why", 0.5, 0.0)
    assert newest["timestamp"] == datetime(2025, 3, 1, 13, tzinfo=UTC)
    assert (newest["reasoning"], newest["outcome_reward"], newest["confidence"]) == ("wait", -2.0, 1.0)
    assert (newest["step_number"], newest["state_hash"], newest["outcome"]) == (1, 7, "failure")
    assert newest["episode_id"] != others[0]["episode_id"] == others[9]["episode_id"]
    assert (others[9]["state_hash"], others[9]["outcome"]) == (2**64 - 5, "success")
    assert others[0]["total_episode_reward"] == 5.0
    assert others[0]["context"]["previous_actions"] == [1, 0, 1, 0, 1, 0]
    assert [(one["action"], one["frequency"], one["success_rate"]) for one in patterns] == [(0, 5, 1.0), (1, 5, 0.0)]
    assert rewards.read_bytes() == before


def test_records_with_outcomes_come_out_as_they_were(outcomes: Path) -> None:
    analyzer = DecisionHistoryAnalyzer(outcomes)
    (pattern,) = analyzer.analyze_patterns()
    assert (pattern["action_name"], pattern["frequency"], pattern["successes"]) == ("up", 10, 6)
    assert pattern["context"] == {
        "map": 6148, "map_name": "24.4", "phase": 2, "phase_name": "2", "battle": 1, "battle_name": "wild",
    }  # fmt: skip
    assert pattern["sources"] == {"llm": 10}
    newest = analyzer.get_recent_decisions(1)[0]
    assert (newest["outcome"], newest["step_in_episode"], newest["total_episode_reward"]) == ("failure", 5, 12.5)
    assert (newest["state_hash"], newest["context"]["x"], newest["confidence"]) == (2**62 + 9, 999, 0.25)
    assert newest["episode_id"] == "0-1"


def test_the_command_reads_it(outcomes: Path, rewards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert pkmn(["analyze-patterns", str(outcomes), "--run", str(rewards), "--show", "patterns"]) == 0
    out = capsys.readouterr().out
    assert "Run outcomes.db, old.db: 21 decisions" in out
    assert "24.4" in out


def test_a_confidence_out_of_range_is_taken_as_the_nearest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[tuple[object, ...]] = [
        (f"d{step}", None, step, 0, "", confidence, 1.0, "one", step + 1)
        for step, confidence in enumerate((-1.0, 80.0, "much", float("inf"), 0.5))
    ]
    path = database(tmp_path / "odd.db", WITH_REWARDS, rows)
    with DecisionHistoryAnalyzer(path) as analyzer:
        assert [one["confidence"] for one in analyzer.get_recent_decisions(5)] == [0.5, 0.0, 0.0, 1.0, 0.0]
    assert pkmn(["analyze-patterns", str(path)]) == 0
    assert "Confidence" in capsys.readouterr().out


def test_a_file_that_holds_no_decisions_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = database(tmp_path / "other.db", "CREATE TABLE scores (name TEXT, points INTEGER)", [("a", 1)])
    with pytest.raises(RunError, match="its tables are scores"):
        DecisionHistoryAnalyzer(other)
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(b"SQLite format 3\x00" + b"nonsense" * 200)
    assert pkmn(["analyze-patterns", str(damaged)]) == 5
    err = capsys.readouterr().err
    assert "cannot be read as SQLite" in err
    assert err.count("\n") == 1
