"""Pools of workers on the bundled game, stepped and compared."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmncli.api import PILOT_ACTS, Source
from pkmncli.config import resolve_settings
from pkmncli.plugins import Registry, get_registry
from pkmncli.seeds import Purpose
from pkmncli.training.assembly import worker_spec
from pkmncli.training.workers.pool import WorkerPool
from pkmncli.training.workers.spec import WorkerSpec

NUM_ENVS = 2
EPISODE_STEPS = 30
SEED = 5

Observation = Mapping[str, NDArray[Any]]
Course = list[tuple[dict[str, NDArray[Any]], NDArray[Any]]]
"""For each step: what was observed after it, and its records."""
Disturb = Callable[[WorkerPool, int], None]
"""Called with a pool and the number of its next step."""


def make_spec(num_envs: int = NUM_ENVS, **settings: Any) -> WorkerSpec:
    registry: Registry = get_registry()
    given = {"mode": "rl-only", "max_steps_per_episode": EPISODE_STEPS, "seed": SEED, **settings}
    resolved = resolve_settings(given, registry=registry, environ={})
    return worker_spec(resolved, registry, Purpose.TRAINING, num_envs=num_envs)


def with_environment(spec: WorkerSpec, target: str) -> WorkerSpec:
    """The same settings for another class of environment."""
    return replace(spec, environment=replace(spec.environment, target=target))


def take(pool: WorkerPool, actions: NDArray[np.int64]) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
    result = pool.step(actions, np.full(len(actions), Source.EXPLORE, np.uint8), np.zeros(len(actions), np.float32))
    return {name: array.copy() for name, array in pool.observations().items()}, result.records


def play(pool: WorkerPool, disturb: Disturb = lambda pool, step: None, steps: int = 40) -> Course:
    """The pilot and chance take turns, so that what the pilot remembers matters too. 40 steps: more than an episode."""
    random = np.random.default_rng(1)
    course = []
    pool.reset()
    for step in range(steps):
        disturb(pool, step)
        actions = np.where(random.random(pool.num_envs) < 0.7, PILOT_ACTS, random.integers(0, 9, pool.num_envs))
        course.append(take(pool, actions))
    return course


def killing_at(*steps: int) -> Disturb:
    """Return what kills the worker of the first environment before these steps."""

    def kill(pool: WorkerPool, step: int) -> None:
        if step in steps:
            os.kill(pool.process_id(0), signal.SIGKILL)

    return kill


def assert_same_observations(left: Observation, right: Observation) -> None:
    assert left.keys() == right.keys()
    for name in left:
        np.testing.assert_array_equal(left[name], right[name], err_msg=name)


def assert_same_course(one: Course, other: Course) -> None:
    assert len(one) == len(other)
    for (observations, records), (others, other_records) in zip(one, other, strict=True):
        np.testing.assert_array_equal(records, other_records)
        assert_same_observations(observations, others)
