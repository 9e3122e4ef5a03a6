"""Episodes of a few steps: each is in the tables; log and trackers get what anybody can follow."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.tracked import stored, tracked
from support.worker_pools import assert_same_observations

from pkmncli.api import PILOT_ACTS, Source
from pkmncli.config import resolve_settings
from pkmncli.plugins import get_registry
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import open_store, worker_spec
from pkmncli.training.recording.rate_limit import AT_ONCE, PER_SECOND, RateLimit
from pkmncli.training.workers.pool import WorkerPool

RANDOM_PLAY = {"env": "balatro", "pilot": "random", "rl": "none", "mode": "llm-only", "envs": 2, "envs_per_worker": 2}


@pytest.fixture(scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("short")


@pytest.fixture
def run(pkmn: Callable[..., Any], _folder: Path) -> Path:
    """A training with some hundred episodes, made once."""
    made = _folder / "it"
    if not made.exists():
        options = [f"--{name.replace('_', '-')}={value}" for name, value in RANDOM_PLAY.items()]
        result = pkmn(
            "train",
            *options,
            "--steps=2600",
            "--final-episodes=0",
            "--no-film",
            "--seed=3",
            f"--save-dir={_folder}",
            "--run-name=it",
        )
        assert result.code == 0, result.err
    return made


def test_a_quiet_time_makes_room_for_many_at_once_and_a_long_one_for_no_more() -> None:
    now = 0.0
    limit = RateLimit(lambda: now)
    assert sum(limit.passes() for _ in range(1000)) == AT_ONCE
    passed = 0
    for _ in range(3000):
        now += 0.001
        passed += limit.passes()
    assert abs(passed - 3 * PER_SECOND) <= 1
    now += 1e6
    assert sum(limit.passes() for _ in range(1000)) == AT_ONCE


@pytest.mark.long
def test_the_table_has_each_episode_and_the_log_counts_those_without_a_line(run: Path) -> None:
    store = open_store(get_registry(), run)
    episodes, decisions = store.read("episodes"), store.read("decisions", "done")
    store.close()
    assert len(episodes) > 2 * AT_ONCE
    assert {(row["environment"], row["episode"]) for row in episodes} == {
        (row["environment"], row["episode"]) for row in decisions
    }
    log = (run / "log.txt").read_text()
    lines = log.count("reached ")
    without = sum(int(count) for count in re.findall(r"(\d+) episodes? without a line", log))
    assert lines >= AT_ONCE and lines + without == len(episodes)


def test_a_tracker_gets_the_latest_value_of_each_metric(run: Path) -> None:
    shown, kept = tracked(run), stored(run)
    assert shown.keys() == kept.keys()
    for name, points in shown.items():
        assert points[-1][1] == kept[name][-1][1]
        assert {value for _, value in points} <= {value for _, value in kept[name]}
        steps = [step for step, _ in points]
        assert steps == sorted(steps)


def test_observations_that_no_step_wrote_are_there_when_asked_for() -> None:
    settings = resolve_settings({**RANDOM_PLAY, "seed": 4}, registry=get_registry(), environ={})
    spec = worker_spec(settings, get_registry(), Purpose.TRAINING, num_envs=2)
    chosen = np.full(2, PILOT_ACTS, np.int64), np.full(2, Source.RULE, np.uint8), np.zeros(2, np.float32)
    ended = 0
    with WorkerPool(spec) as observed, WorkerPool(spec) as unobserved:
        for pool in (observed, unobserved):
            pool.reset()
        for step in range(40):
            expected = observed.step(*chosen)
            result = unobserved.step(*chosen, observed=False)
            np.testing.assert_array_equal(result.records, expected.records)
            ended += len(result.ended)
            if step % 3 == 0:
                assert_same_observations(unobserved.observations(), observed.observations())
    assert ended, "the first observation of the next episode is among them"
