"""Steps that are taken at once, where pilots alone decide: nothing that is recorded differs."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.worker_pools import assert_same_observations

from pkmncli import HybridLLMRLTrainer
from pkmncli.api import PILOT_ACTS, Source
from pkmncli.config import resolve_settings
from pkmncli.hybrid.arbiter import AgentMode
from pkmncli.plugins import get_registry
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import open_store, worker_spec
from pkmncli.training.loop_options import Interval, Progress, TrainerOptions
from pkmncli.training.workers import pool as pool_module
from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.spec import WorkerSpec
from pkmncli.training.workers.step_result import StepResult

RANDOM_PLAY = {"env": "balatro", "pilot": "random", "rl": "none", "mode": "llm-only", "seed": 4}
ENVS = 3
STEPS = 60

Pkmn = Callable[..., Any]


@pytest.fixture
def spec() -> WorkerSpec:
    settings = resolve_settings(
        {**RANDOM_PLAY, "envs": ENVS, "envs_per_worker": 2}, registry=get_registry(), environ={}
    )
    return worker_spec(settings, get_registry(), Purpose.TRAINING)


def one_by_one(pool: WorkerPool, count: int) -> list[StepResult]:
    chosen = np.full(ENVS, PILOT_ACTS, np.int64), np.full(ENVS, Source.RULE, np.uint8), np.zeros(ENVS, np.float32)
    return [pool.step(*chosen) for _ in range(count)]


def ends(results: list[StepResult]) -> list[tuple[int, int, Any]]:
    found, before = [], 0
    for result in results:
        found += [(before + step, index, news.end) for step, index, news in result.news]
        before += len(result.rows)
    return found


def assert_same(pool: WorkerPool, results: list[StepResult], other: WorkerPool, singly: list[StepResult]) -> None:
    np.testing.assert_array_equal(*(np.concatenate([one.rows for one in each]) for each in (results, singly)))
    assert ends(results) == ends(singly)
    assert len(ends(results)) > ENVS, "episodes end in a block, and begin there"
    np.testing.assert_array_equal(pool.records(), other.records())
    assert pool.save() == other.save()
    assert [log.state_dict() for log in pool.logs()] == [log.state_dict() for log in other.logs()]
    assert_same_observations(pool.observations(), other.observations())


def test_steps_that_are_taken_at_once_are_those_taken_one_by_one(spec: WorkerSpec) -> None:
    with WorkerPool(spec) as pool, WorkerPool(spec) as other:
        for each in (pool, other):
            each.reset()
        results = [*pool.play(STEPS), *one_by_one(pool, 2), *pool.play(5)]
        assert sum(len(one.rows) for one in results) == STEPS + 7
        assert max(len(one.rows) for one in results) > 1
        assert_same(pool, results, other, one_by_one(other, STEPS + 7))


def test_a_worker_that_is_killed_meanwhile_is_led_back(spec: WorkerSpec) -> None:
    with WorkerPool(spec) as pool, WorkerPool(spec) as other:
        for each in (pool, other):
            each.reset()
        results = []
        for number, result in enumerate(pool.play(STEPS)):
            results.append(result)
            if number in (1, 4):
                os.kill(pool.process_id(2 if number == 1 else 0), signal.SIGKILL)
        assert pool.losses == 2
        assert_same(pool, results, other, one_by_one(other, STEPS))


def test_no_further_steps_begin_once_it_is_enough(spec: WorkerSpec) -> None:
    with WorkerPool(spec) as pool, WorkerPool(spec) as other:
        for each in (pool, other):
            each.reset()
        results = [*pool.play(STEPS, lambda: True), *one_by_one(pool, STEPS)]
        assert len(results) == STEPS + 1
        assert_same(pool, results, other, one_by_one(other, STEPS + len(results[0].rows)))


@given(
    st.integers(1, 20),
    st.integers(0, 200),
    st.integers(0, 200),
    st.lists(st.none() | st.integers(1, 60), min_size=6, max_size=6),
    st.integers(1, 60),
)
def test_no_budget_and_no_interval_can_end_before_the_last_of_the_steps(
    num_envs: int, steps: int, episodes: int, every: list[int | None], interval: int
) -> None:
    total_steps, total_episodes, *others = every
    options = TrainerOptions(
        AgentMode.LLM_ONLY,
        0,
        total_steps=None if total_steps is None else steps + total_steps,
        total_episodes=None if total_episodes is None else episodes + total_episodes,
        save_interval=Interval(*others[:2]),
        schedule_steps=1,
        eval_interval=Interval(*others[2:]),
    )
    begin = Progress(steps, episodes)
    count = options.steps_ahead(begin, num_envs, interval)
    assert count >= 1

    def due(taken: int, ended: int) -> bool:
        now = Progress(steps + taken * num_envs, episodes + ended)
        passed = [
            each.passed(begin, now) for each in (Interval(interval), options.save_interval, options.eval_interval)
        ]
        return any(passed) or options.fraction_used(now) >= 1

    assert not due(count - 1, (count - 1) * num_envs), "even if every step ends an episode"
    assert due(count, count * num_envs)


@pytest.mark.long
@pytest.mark.parametrize("budget", ["--steps=900", "--episodes=40"])
def test_a_training_is_the_same_whatever_is_taken_at_once(
    budget: str,
    pkmn: Pkmn,
    tmp_path: Path,
    assert_same_course: Callable[[Path, Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = [f"--{name}={value}" for name, value in RANDOM_PLAY.items()]
    options += [budget, "--envs=3", "--save-interval=400", "--final-episodes=0", "--no-film"]
    assert pkmn("train", *options, "--run-name=ahead").code == 0
    (tmp_path / "often.toml").write_text("save_interval_minutes = 1e-9\n")
    assert pkmn("train", "--config=often.toml", *options, "--run-name=saved").code == 0
    assert_same_course(tmp_path / "runs" / "ahead", tmp_path / "runs" / "saved")
    monkeypatch.setattr(pool_module, "_BLOCK_SECONDS", 0.0)
    assert pkmn("train", *options, "--run-name=singly").code == 0
    assert_same_course(tmp_path / "runs" / "ahead", tmp_path / "runs" / "singly")


def test_a_function_of_a_script_can_end_the_training_after_any_step(tmp_path: Path) -> None:
    of_run = {**RANDOM_PLAY, "envs": 2, "quiet": True, "final_episodes": 0}
    trainer = HybridLLMRLTrainer(save_dir=tmp_path, settings=of_run)

    def stop(it: HybridLLMRLTrainer, episodes: int, metrics: Any) -> None:
        if episodes == 5:
            it.stop()

    trainer.register_callback("episode_end", stop)
    summary = trainer.train(None, total_steps=5000)
    assert trainer.run is not None
    store = open_store(get_registry(), trainer.run.folder)
    last = sorted(row["last_step"] for row in store.read("episodes"))
    store.close()
    assert summary["total_steps"] == last[4] == last[-1]
