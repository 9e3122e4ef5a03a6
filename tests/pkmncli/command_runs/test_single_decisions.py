"""Decisions of a command wait until it is known what came of them, and leave once each, in order, as steps do."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pkmncli.api import DECISION_HORIZON, Facts, open_tables, runs
from pkmncli.training.recording.single_decisions import SingleDecisions


def course(count: int) -> list[tuple[int, dict[str, Any]]]:
    """Decisions of three environments in any order, with episodes that end here and there."""
    random = np.random.default_rng(0)
    return [
        (
            int(random.integers(3)),
            {
                "global_step": step,
                "reward": float(random.integers(10)),
                "terminated": random.random() < 0.05,
                "truncated": random.random() < 0.02,
            },
        )
        for step in range(1, count + 1)
    ]


def expected(decisions: list[tuple[int, dict[str, Any]]], place: int) -> float:
    """Return the near return of a decision, word by word; NaN where it is not known what came."""
    own = [row for environment, row in decisions[place:] if environment == decisions[place][0]][:DECISION_HORIZON]
    total = 0.0
    for row in own:
        total += row["reward"]
        if row["terminated"] or row["truncated"]:
            return total
    return total if len(own) == DECISION_HORIZON else math.nan


def add(collector: SingleDecisions, environment: int, row: dict[str, Any]) -> None:
    collector.add(environment, row)
    if row["terminated"] or row["truncated"]:
        collector.end_episode(environment)


def joined(taken: list[dict[str, list[Any]] | None], name: str) -> list[Any]:
    return [value for columns in taken if columns is not None for value in columns[name]]


@pytest.mark.parametrize("rhythm", [1, 7, 1000])
def test_every_decision_leaves_once_and_with_what_came_of_it(rhythm: int) -> None:
    decisions = course(200)
    collector, taken = SingleDecisions(4096), []
    for place, (environment, row) in enumerate(decisions):
        add(collector, environment, row)
        if place % rhythm == 0:  # through a checkpoint, too
            taken.append(collector.take())
            state = json.loads(json.dumps(collector.state_dict()))
            collector = SingleDecisions(4096)
            collector.load_state_dict(state)
    taken.append(collector.take(all_of_them=True))
    assert collector.take(all_of_them=True) is None
    assert joined(taken, "global_step") == list(range(1, 201))
    returns = [expected(decisions, place) for place in range(200)]
    np.testing.assert_array_equal(joined(taken, "near_return"), returns)
    assert np.isnan(returns).sum() > 3


def test_the_end_of_an_episode_is_known_without_a_mark_on_its_last_decision() -> None:
    collector = SingleDecisions(4096)
    for step, reward in enumerate((1.0, 2.0), 1):
        collector.add(0, {"global_step": step, "reward": reward, "terminated": False, "truncated": False})
    assert collector.take() is None
    assert collector.first_held == 1
    assert collector.end_episode(0) == 0
    collector.add(0, {"global_step": 3, "reward": 4.0, "terminated": False, "truncated": False})
    found = collector.take()
    assert found is not None
    assert (found["near_return"], found["step"]) == ([3.0, 2.0], [1, 2])
    assert collector.first_held == 3


def test_an_environment_that_decides_nothing_more_does_not_hold_all_back() -> None:
    collector = SingleDecisions(10)
    taken = []
    for step in range(1, 101):
        environment = 0 if step > 1 else 1
        collector.add(environment, {"global_step": step, "reward": 1.0, "terminated": False, "truncated": False})
        if collector.full:
            taken.append(collector.take())
    assert joined(taken, "global_step") == list(range(1, 94))
    returns = joined(taken, "near_return")
    assert math.isnan(returns[0])
    assert returns[1:] == [DECISION_HORIZON] * 92


def returns_of(folder: Path) -> list[tuple[int, float | None]]:
    store = open_tables(folder)
    rows = [(row["global_step"], row["near_return"]) for row in store.read("decisions")]
    store.close()
    return rows


def test_a_checkpoint_leaves_no_decision_without_its_return(tmp_path: Path) -> None:
    facts = Facts(map_id=np.int64(3), coarse_hash=2**64 - 1)  # type: ignore[arg-type]  # as programs have them
    with runs.start("toy", save_dir=tmp_path, run_name="it", environments=2) as run:
        for step in range(1, 21):
            run.decision(step, 0, reward=1.0, environment=step % 2, facts=facts)
            if step % 5 == 0:
                run.checkpoint(step, {})
    assert returns_of(run.folder) == [(step, 8.0 if step <= 6 else None) for step in range(1, 21)]
    with runs.resume("it", save_dir=tmp_path) as run:
        for step in range(21, 41):
            run.decision(step, 0, reward=1.0, environment=step % 2, facts=facts)
    assert returns_of(run.folder) == [(step, 8.0 if step <= 26 else None) for step in range(1, 41)]
