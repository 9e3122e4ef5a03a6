"""Environments that share a worker process do what they do in one each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.worker_pools import assert_same_course, killing_at, make_spec, play

from pkmncli.training.workers.pool import WorkerPool

ENVS = 3


@pytest.mark.long
def test_two_in_a_worker_go_the_same_way_also_after_it_was_killed() -> None:
    apart = make_spec(ENVS, mode="adaptive")
    with WorkerPool(apart) as pool:
        expected, expected_states = play(pool), pool.save()
    with WorkerPool(replace(apart, envs_per_worker=2)) as pool:
        assert pool.process_id(0) == pool.process_id(1) != pool.process_id(2)
        course, states = play(pool, killing_at(0, 12, 33)), pool.save()
        assert pool.losses == 3
        assert [pool.status(index) for index in range(ENVS)] == pool.call_all("status")
    assert_same_course(course, expected)
    assert states == expected_states


@pytest.mark.long
def test_a_training_writes_the_same_tables_and_checkpoints(
    pkmn: Callable[..., Any],
    shared_run: Callable[..., Path],
    small_training: list[str],
    assert_same_course: Callable[[Path, Path], None],
    tmp_path: Path,
) -> None:
    options = ["--mode=adaptive", "--envs=2", "--envs-per-worker=2", "--run-name=it"]
    result = pkmn("train", *small_training, *options)
    assert result.code == 0, result.err
    assert_same_course(tmp_path / "runs" / "it", shared_run("adaptive", 2))


def test_more_in_a_worker_than_there_are_is_refused(pkmn: Callable[..., Any], tmp_path: Path) -> None:
    result = pkmn("train", "--envs=2", "--envs-per-worker=3")
    assert result.code == 2
    assert result.err.splitlines()[-1] == "envs_per_worker = 3 is more than envs = 2"
    assert not (tmp_path / "runs").exists()
