"""Command `pkmn analyze-patterns`: its output, its formats, and its error messages."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.tables import decisions, episodes
from support.variants import long_after

from pkmn_decisions.analyzer import DecisionHistoryAnalyzer
from pkmn_decisions.store.store import DuckDBStore
from pkmncli.cli import run as pkmn
from pkmncli.runs import create_run

SETTINGS = 'rl = "dqn"\n[curriculum]\n'
"""Minimal settings of a run."""

NAMES = {"maps": {"6148": "New Bark Town"}, "phases": ["walking"], "species": {"161": "Sentret"}}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the latest run of the current folder: 60 decisions, A in New Bark Town pays, B does not."""
    monkeypatch.chdir(tmp_path)
    folder = create_run(tmp_path / "runs", "quillwood", "dqn", name="first").folder
    (folder / "config.toml").write_text(SETTINGS)
    (folder / "names.json").write_text(json.dumps(NAMES))
    turns = np.arange(60)
    with DuckDBStore(folder) as store:
        store.append(
            "decisions",
            decisions(
                1, 60, episode=turns, step=np.ones(60, int), truncated=turns >= 0, done=turns >= 0, time=1e9 + turns,
                map_id=np.full(60, 6148), action=turns % 2, reward=np.where(turns % 2, -0.5, 1.0),
                source=np.where(turns < 30, 2, 0),
            ),
        )  # fmt: skip
        store.append("episodes", episodes(*range(1, 61), total_reward=np.ones(60)))
    return folder


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = pkmn(["analyze-patterns", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_report_names_the_run_and_what_paid_off(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = ask(capsys)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("Run first: 60 decisions, 60 finished episodes, 60 steps, recorded from 2001-09-")
    best = next(line for line in lines if line.startswith("New Bark Town"))
    for part in ("walking", "none", " a ", "30", "100%", "89-100%", "+1.000", "rl"):
        assert part in best


@pytest.mark.long
def test_json_csv_and_markdown_hold_the_same_patterns(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content: dict[str, Any] = json.loads(ask(capsys, "--format", "json")[1])
    assert (content["runs"], content["decisions"], content["steps"]) == (["first"], 60, 60)
    assert [(p["action_name"], p["frequency"], p["success_rate"]) for p in content["patterns"]] == [
        ("a", 30, 1.0),
        ("b", 30, 0.0),
    ]
    rows = list(csv.DictReader(ask(capsys, "--format", "csv")[1].splitlines()))
    assert [(row["map_name"], row["action"], row["by_rule"], row["by_llm"]) for row in rows] == [
        ("New Bark Town", "0", "15", "0"),
        ("New Bark Town", "1", "15", "0"),
    ]
    markdown = ask(capsys, "--format", "markdown")[1]
    assert "| New Bark Town | walking | none | a | 30 |" in markdown


def test_the_report_begins_with_what_to_act_on_and_then_goes_section_by_section(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ask(capsys)[1]
    places = [out.index(f"\n{title}\n") for title in (
        "What no setting of yours changes", "Single patterns", "Who is right", "Confidence", "Loops", "Sequences",
    )]  # fmt: skip
    assert places == sorted(places)
    first = next(line for line in out.splitlines() if line.startswith("- "))
    assert "New Bark Town, walking: the action a brings +1.00 on average in 30 tries, the others there -0.50" in first
    assert first.endswith("Now decided by the learner 50%, the rules 50%.")
    (run / "config.toml").write_text(f'llm = "ollama"\nllm_interval = 30\n{SETTINGS}')
    lines = ask(capsys)[1].splitlines()
    place = lines.index("What you could act on")
    assert lines[place + 4 : place + 6] == [
        "   To change that, tell the language model:",
        "     pkmn analyze-patterns runs/first --show advice --format json > lessons.json && "
        "pkmn train --config runs/first/config.toml --lessons-file lessons.json",
    ]


@pytest.mark.long
def test_one_section_can_be_asked_for(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ask(capsys, "--show", "loops")[1]
    assert "No episode was in a loop" in out
    assert "Single patterns" not in out and "act on" not in out
    both = ask(capsys, "--show", "changes", "--show", "sources")[1]
    assert both.index("What changed") < both.index("Who is right")
    advice = json.loads(ask(capsys, "--show", "advice", "--format", "json")[1])
    assert advice["version"] == 1
    assert {"prompt"} == {one["for"] for one in advice["advice"]}
    rows = list(csv.DictReader(ask(capsys, "--show", "sources", "--format", "csv")[1].splitlines()))
    assert [(row["map"], row["source"], row["frequency"]) for row in rows] == [
        ("6148", "rl", "30"),
        ("6148", "rule", "30"),
    ]
    content = json.loads(ask(capsys, "--format", "json")[1])
    assert {"act_on", "patterns", "sources", "calibration", "advice_costs", "loops", "sequences"} <= set(content)


def test_several_runs_and_their_changes(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    second = create_run(run.parent, "quillwood", "dqn", name="second").folder
    (second / "config.toml").write_text(SETTINGS)
    with DuckDBStore(second) as store:
        store.append("decisions", decisions(1, 40, map_id=np.full(40, 6148), done=np.arange(40) == 39))
    out = ask(capsys, "first", "--run", "second", "--show", "changes")[1]
    assert "Run first, second: 100 decisions, 60 finished episodes, 100 steps" in out
    assert "between first and second" in out or "Between first and second" in out
    assert ask(capsys, "first", "--run", "first")[0] == 2


def test_each_run_pays_its_own_prices(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    second = create_run(run.parent, "quillwood", "dqn", name="second").folder
    for folder, price in ((run, "1/1"), (second, "10/10")):
        (folder / "config.toml").write_text(f'llm_prices = ["gpt={price}"]\n{SETTINGS}')
    question: dict[str, Any] = {
        "global_step": [2], "asked_at": [1], "environment": [0], "time": [0.0], "event": ["interval"],
        "followed": [True], "reading": ["schema"], "problem": [""], "advice": ["{}"], "model": ["gpt-x"],
        "cached": [False], "prompt": [""], "reply": [""], "prompt_tokens": [1_000_000], "completion_tokens": [0],
        "latency_s": [0.5],
    }  # fmt: skip
    with DuckDBStore(second) as store:
        store.append("decisions", decisions(1, 40, map_id=np.full(40, 6148)))
        store.append("advice", question)
    with DuckDBStore(run) as store:
        store.append("advice", question)
    content = json.loads(ask(capsys, "first", "second", "--show", "sources", "--format", "json")[1])
    assert [(one["calls"], one["dollars"]) for one in content["advice_costs"]] == [(2, 11.0)]


@pytest.mark.long
def test_what_a_press_leads_to_has_a_column(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def headings(name: str) -> str:
        lines = ask(capsys, name, "--show", "patterns")[1].splitlines()
        return next(line for line in lines if line.startswith("map"))

    told = create_run(run.parent, "quillwood", "dqn", name="told").folder
    (told / "config.toml").write_text(SETTINGS)
    with DuckDBStore(told) as store:
        store.append("decisions", decisions(1, 40, outcome=np.where(np.arange(40) % 4, 1, 0)))
    assert "leads to" not in headings("first")
    assert "leads to" in headings("told")
    assert "new tile 75%" in ask(capsys, "told")[1]
    content = json.loads(ask(capsys, "told", "--format", "json", "--context", "outcome=new_tile")[1])
    assert content["patterns"][0]["outcomes"] == {"new_tile": 30}


def test_the_page_stands_alone_and_escapes_what_it_shows(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "names.json").write_text(json.dumps({**NAMES, "maps": {"6148": "<New> & Town"}}))
    page = ask(capsys, "--format", "html")[1]
    assert page.startswith("<!doctype html>")
    assert "&lt;New&gt; &amp; Town" in page and "<New>" not in page
    for part in ("prefers-color-scheme: dark", 'name="viewport"', "overflow-x: auto", "Who is right", "<p class"):
        assert part in page
    assert "http" not in page and "<script" not in page
    assert "<td" in ask(capsys, "--sql", "SELECT 1 AS one", "--format", "html")[1]


@pytest.mark.long
@pytest.mark.parametrize("name", ["report.png", "report.svg"])
def test_the_findings_are_drawn(run: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    pytest.importorskip("matplotlib")
    code, _, err = ask(capsys, "--plot", name)
    assert code == 0
    assert f"The plot is in {name}" in err
    assert Path(name).read_bytes()[:4] in (b"\x89PNG", b"<?xm")
    assert sorted(path.name for path in Path().iterdir()) == [name, "runs"]


@pytest.mark.long
def test_options_choose_sort_and_cut(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def actions(*options: str) -> list[tuple[str, int]]:
        found = json.loads(ask(capsys, "--format", "json", *options)[1])["patterns"]
        return [(pattern["action_name"], pattern["frequency"]) for pattern in found]

    assert actions("--context", "action=b") == [("b", 30)]
    assert actions("--context", "map=new bark town", "--context", "reward>0", "--source", "rule") == [("a", 15)]
    assert actions("--source", "rule", "--source", "rl", "--limit", "1") == [("a", 30)]
    assert actions("--sort", "reward", "--by", "source") == [("a", 15), ("a", 15), ("b", 15), ("b", 15)]
    assert actions("first", "--save-dir", str(run.parent)) == [("a", 30), ("b", 30)]
    assert actions(str(run)) == [("a", 30), ("b", 30)]


@pytest.mark.long
def test_an_empty_result_says_why(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ask(capsys, "--min-frequency", "31")
    assert code == 0
    assert "No action was taken 31 times or more in one situation." in out
    assert "--min-frequency 30 shows it" in out
    assert "Confidence" in out, "what is rare as a pattern may be much together"
    assert "leave one out" in ask(capsys, "--context", "map=1.1")[1]
    assert "Confidence" not in ask(capsys, "--context", "map=1.1")[1]
    assert ask(capsys, "--min-frequency", "31", "--format", "csv")[1].strip() == ""


def test_a_run_without_decisions_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begun = create_run(tmp_path, "quillwood", "dqn")
    begun.config_file.write_text(SETTINGS)
    begun.write_summary({})
    code, out, _ = ask(capsys, "--save-dir", str(tmp_path))
    assert (code, "has no decisions on disk yet" in out) == (0, True)
    assert ask(capsys, "--save-dir", str(tmp_path), "--sql", "SELECT count(*) AS n FROM decisions")[1].split() == [
        "n", "─", "0",
    ]  # fmt: skip


def test_decisions_kept_elsewhere_are_found(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = tmp_path / "pokemon_decisions.db"
    run.joinpath("decisions").rename(elsewhere.parent / "moved")
    elsewhere.mkdir()
    (elsewhere.parent / "moved").rename(elsewhere / "decisions")
    (run / "config.toml").write_text(f'decision_db_path = "{elsewhere}"\n{SETTINGS}')
    assert json.loads(ask(capsys, "--format", "json")[1])["decisions"] == 60


def test_decisions_recorded_by_hand_can_be_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with DecisionHistoryAnalyzer(tmp_path / "own.db") as analyzer:
        for _ in range(3):
            analyzer.record_decision({"map": 6148}, 0, "try", 0.5, 1.0)
    code, out, _ = ask(capsys, str(tmp_path / "own.db"))
    assert code == 0
    assert "success: its reward is more than 0" in out
    assert "100%" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--context", "nonsense"], "not of the form key=value"),
        (["--context", "maap=1"], "did you mean map?"),
        (["--context", "map=New Berk Town"], "did you mean 'New Bark Town'?"),
        (["--min-frequency", "0"], "--min-frequency"),
        (["--sort", "beauty"], "--sort"),
        (["--show", "beauty"], "--show"),
        (["--length", "1-3"], "from 2 to 6"),
        (["--length", "5-2"], "from 2 to 6"),
        (["--length", "many"], "from 2 to 6"),
        (["--plot", "report.pdf"], ".svg or .png"),
        (["--plot", "nowhere/report.png"], "no folder"),
        (["--format", "csv", "--show", "loops", "--show", "sources"], "one section"),
        (["first", "first"], "named twice"),
        (["--show", "advice", "--context", "milestones=3"], "with --by milestones"),
        (["--show", "advice", "--context", "health<0.5", "--format", "json"], "cannot be limited by health"),
        (["--sql", "SELECT nothing FROM decisions"], "nothing"),
        (["--sql", "SELEC 1"], "not valid SQL"),
    ],
)
def test_wrong_use_ends_with_2_and_one_clear_line(
    run: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    code, out, err = ask(capsys, *options)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_without_a_run_it_ends_with_5(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = ask(capsys)
    assert (code, out) == (5, "")
    assert "pkmn train" in err
    assert ask(capsys, "nowhere")[0] == 5


def test_sql_is_answered_from_the_views(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = (
        "SELECT action_name, source_name, count(*) AS n, count(*) FILTER (success) AS good, "
        "avg(episode_return) AS episode_return, any_value(episode_outcome) AS outcome, any_value(run) AS run, "
        "any_value(name) AS map FROM decisions JOIN names ON kind = 'map' AND number = map_id GROUP BY ALL ORDER BY ALL"
    )
    code, out, _ = ask(capsys, "--sql", query, "--format", "json")
    assert code == 0
    assert json.loads(out)[0] == {
        "action_name": "a", "source_name": "rl", "n": 15, "good": 15, "episode_return": 1.0, "outcome": "finished",
        "run": "first", "map": "New Bark Town",
    }  # fmt: skip
    assert ask(capsys, "--sql", "SELECT count(*) AS n FROM episodes", "--format", "csv")[1] == "n\n60\n"


@pytest.mark.parametrize(
    "query",
    long_after(
        1,
        [
            "COPY (SELECT 1) TO 'stolen.csv'",
            "WITH x AS (COPY (SELECT 1) TO '{file}' (FORMAT csv, USE_TMP_FILE false)) SELECT * FROM x",
            "SELECT * FROM query('WITH x AS (COPY (SELECT 1) TO ''{file}'' (FORMAT csv)) FROM x')",
            "EXPLAIN ANALYZE COPY (SELECT 1) TO '{file}'",
            "DROP VIEW decisions",
            "SELECT 1; DROP VIEW decisions",
            "SET enable_external_access = true",
            "ATTACH 'new.db'",
            "EXPORT DATABASE 'copy'",
            "CREATE TABLE mine AS SELECT 1",
            "SELECT * FROM read_text('/etc/hostname')",
        ],
    ),
)
def test_sql_cannot_write_or_read_anything_else(run: Path, capsys: pytest.CaptureFixture[str], query: str) -> None:
    files = {path: path.read_bytes() for path in run.parent.parent.rglob("*") if path.is_file()}
    file = next((run / "decisions").iterdir())
    code, out, err = ask(capsys, "--sql", query.replace("{file}", str(file)))
    assert (code in (2, 5), out) == (True, "")
    assert err.count("\n") == 1
    assert {path: path.read_bytes() for path in run.parent.parent.rglob("*") if path.is_file()} == files
