"""Remedies of findings: their commands use settings that the run has, and none speaks against the story."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands import pkmn
from support.tables import decisions, previous_actions, write_steps
from support.variants import long_after

from pkmn_decisions.analyzer import DecisionHistoryAnalyzer
from pkmn_decisions.report.headline import in_digits
from pkmn_decisions.report.remedies import Remedies
from pkmn_decisions.store.store import DuckDBStore
from pkmncli.api import Consequence, RunInfo, Source
from pkmncli.config import resolve_settings
from pkmncli.plugins import get_registry

__all__ = ["pkmn"]
Pkmn = Callable[..., Any]


def walked(folder: Path, *, source: int, milestone: bool = False) -> Path:
    """Write episodes in which action 5 brings less at once than the others."""
    rng = np.random.default_rng(1)
    actions = rng.integers(4, 8, (40, 60))
    reward = np.where(actions == 5, 0.0, rng.random((40, 60)))
    way = actions.ravel() == 5
    outcome = np.where(way & milestone, Consequence.MILESTONE, Consequence.NOTHING)
    return write_steps(
        folder, 40, 60, action=actions.ravel(), **previous_actions(actions), reward=reward.ravel(), map_id=[513] * 2400,
        source=np.where(way, source, Source.EXPLORE), outcome=outcome, near_return=reward.ravel().astype("f4"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("told", "plan"),
    long_after(
        1,
        [
            (True, {"source": Source.RL}),
            (False, {"source": Source.RULE}),
            (False, {"source": Source.RL, "milestone": True}),
        ],
    ),
    ids=["the learner's action", "the way of the rules", "the way to a milestone"],
)
def test_nothing_speaks_against_the_way_to_the_goal(tmp_path: Path, told: bool, plan: dict[str, Any]) -> None:
    lines = DecisionHistoryAnalyzer(walked(tmp_path, **plan)).advice(5)
    less = [one["text"] for one in lines if one["for"] == "prompt" and "brings less" in one["text"]]
    assert less == (["the action down brings less here than other actions, unless the goal needs it"] if told else [])


def test_what_is_worse_at_one_stage_and_better_at_another_is_not_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    late = np.broadcast_to(np.arange(60) >= 45, (40, 60))
    actions = rng.integers(4, 8, (40, 60))
    wanted = np.where(late, 5, 4)
    reward = np.where(actions == wanted, 1.0, rng.random((40, 60)) * 0.2)
    folder = write_steps(
        tmp_path, 40, 60, action=actions.ravel(), **previous_actions(actions), reward=reward.ravel(),
        map_id=[513] * 2400, milestones=late.ravel().astype(int), near_return=reward.ravel().astype("f4"),
    )  # fmt: skip
    told = {one["text"].split(",")[0] for one in DecisionHistoryAnalyzer(folder).advice(5) if one["for"] == "prompt"}
    assert not told & {f"the action {name} brings {how} here than other actions"
                       for name in ("up", "down") for how in ("more", "less")}  # fmt: skip
    assert told, "what is worse at both stages is told"


def test_results_of_sql_have_names(pkmn: Pkmn, tmp_path: Path) -> None:
    with DuckDBStore(tmp_path / "kept" / "run") as store:
        store.append("decisions", decisions(1, 3, source=[0, 1, 2], action=[0, 4, 4], outcome=[0, 7, 0]))
    question = "SELECT source, action, outcome, count(*) AS times FROM decisions GROUP BY ALL ORDER BY source"
    shown = pkmn("analyze-patterns", str(tmp_path / "kept"), "--sql", question)
    assert [line.split() for line in shown.out.splitlines()[2:]] == [
        ["rl", "a", "nothing", "1"], ["explore", "up", "milestone", "1"], ["rule", "up", "nothing", "1"],
    ]  # fmt: skip
    plain = pkmn("analyze-patterns", str(tmp_path / "kept"), "--sql", question, "--format=json")
    assert [one["source"] for one in json.loads(plain.out)] == [0, 1, 2], "programs get what is recorded"


def remedies(interval_share: float = 1.0, /, **options: Any) -> Remedies:
    """Return the remedies of a run with these options and defaults for the rest."""
    settings = resolve_settings(options, registry=get_registry(), environ={}).values()
    return Remedies(RunInfo(Path.cwd() / "runs" / "it", settings), interval_share)


ALL = ("rl", "explore", "rule", "llm")
HAND_OVER = ("hand_over.outcome_doubt=5", "hand_over.idle_steps=75")


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        ({}, {"dqn.exploration_beside_rules=0.005", *HAND_OVER}),
        ({"rl": "ppo"}, {"ppo.ent_coef=0.001", *HAND_OVER}),
        ({"mode": "rl-only"}, {"dqn.exploration_final=0.005"}),
        ({"rl": "none", "llm": "scripted"}, {"--llm-interval 120", "--llm-interval 15", "--llm-interval 60"}),
        ({"rl": "none", "pilot": "none", "llm": "scripted"}, set()),
        ({"rl": "none"}, set()),
        ({"rl": "none", "env": "balatro", "pilot": "greedy"}, {"--pilot planning"}),
        ({"rl": "none", "env": "balatro", "pilot": "planning"}, set()),
        ({"rl": "ppo", "env": "balatro", "pilot": "none", "mode": "rl-only"}, {"ppo.ent_coef=0.001"}),
    ],
)
def test_a_remedy_is_a_setting_that_the_run_uses(options: dict[str, Any], changes: set[str]) -> None:
    of = remedies(**options)
    found = [*map(of.decide_less, ALL), *map(of.decide_more, ALL), *map(of.leave_loops, ALL), of.ask_less()]
    commands = [one.command for one in found if one and "--resume" not in one.command]
    assert {command.partition("config.toml ")[2].removeprefix("--set ") for command in commands} == changes
    for command in commands:
        assert command.startswith("pkmn train --config runs/it/config.toml ")
        name, _, value = command.partition("config.toml ")[2].partition(" ")
        given = {"sets": [value]} if name == "--set" else {}
        cli = {} if given else {"llm_interval": int(value)} if name == "--llm-interval" else {"pilot": value}
        resolve_settings({**options, **cli}, registry=get_registry(), environ={}, **given)


def test_the_interval_is_left_alone_where_events_ask() -> None:
    rarely, often = remedies(0.1, llm="scripted"), remedies(0.3, llm="scripted")
    assert not (rarely.ask_less() or rarely.decide_less("llm") or rarely.decide_more("llm"))
    assert often.ask_less() and often.decide_less("llm") and often.decide_more("llm")


def test_two_changes_of_a_run_are_two_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    of = remedies(run_name="it")
    later, less, more = of.decide_less("rl"), of.decide_less("explore"), of.train_on()
    assert later and less and more
    assert later.command.endswith("config.toml --run-name it-outcome_doubt --set hand_over.outcome_doubt=5")
    assert " --run-name it-exploration_beside_rules " in less.command
    (tmp_path / "runs" / "it-outcome_doubt").mkdir(parents=True)
    again = of.decide_less("rl")
    assert again and " --run-name it-outcome_doubt-2 " in again.command


@pytest.mark.parametrize(
    ("options", "more"),
    [
        ({"steps": 30}, "--steps 60"),
        ({"episodes": 3}, "--episodes 6"),
        ({"steps": 30, "episodes": 3}, "--steps 60 --episodes 6"),
    ],
)
def test_to_train_on_both_budgets_grow(options: dict[str, Any], more: str) -> None:
    found = remedies(**options).train_on()
    assert found and found.command == f"pkmn train --resume runs/it {more}"


def test_small_rewards_keep_their_digits() -> None:
    assert [in_digits(value) for value in (0.0618, -0.002, 0.0, 3.7812)] == ["+0.0618", "-0.002", "+0.00", "+3.78"]


def test_without_a_run_there_is_no_command() -> None:
    nothing = Remedies(None)
    assert not any(ask(who) for ask in (nothing.decide_less, nothing.decide_more, nothing.leave_loops) for who in ALL)
    assert (nothing.ask_less(), nothing.tell_the_model(), nothing.train_on(), nothing.judge_by_outcome()) == (None,) * 4


def test_a_run_of_a_plugin_command_gets_no_command_of_a_training() -> None:
    made = Remedies(RunInfo(Path("runs/it"), {"": {"command": "bandit", "seed": 0}, "bandit": {"arms": 5}}))
    assert not any(ask(who) for ask in (made.decide_less, made.decide_more, made.leave_loops) for who in ALL)
    assert (made.ask_less(), made.tell_the_model(), made.train_on(), made.judge_by_outcome()) == (None,) * 4
