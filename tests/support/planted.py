"""Runs with planted patterns: seeded decisions whose findings are known."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkmn_decisions.store.store import DuckDBStore
from pkmncli.api import Source
from support.tables import decisions, previous_actions

ACTIONS = 9
NULL_MAPS = range(1, 9)
"""Maps on which no action makes a difference."""

GOOD, BAD, RARE_GOOD = (101, 3), (102, 5), (103, 7)
"""Map and action: a good one, a bad one, and a good one that is rare."""

SEQUENCE_MAP, SEQUENCE = 104, (2, 0, 3, 1, 7, 4)
"""Six consecutive actions that recur, with a reward at their end."""

LOOP_MAP = 105
LOOP_STEPS = 128


@dataclass
class Plan:
    """Parameters of a run."""

    episodes: int = 60
    steps: int = 400
    memory: float = 0.0
    """Share of the luck of the previous step: 0 for independent rewards."""
    episode_luck: float = 0.0
    """Spread of the luck of whole episodes."""
    chance: float = 0.15
    planted: bool = True
    loops: int = 4
    """Episodes with one loop."""
    rare: int = 2
    """Number of times that the rare pattern occurs."""
    seed: int = 0
    near_return: bool = False
    """True to write the near return of a decision with it."""
    maps: tuple[int, ...] = field(default_factory=lambda: (*NULL_MAPS, GOOD[0], BAD[0], RARE_GOOD[0], SEQUENCE_MAP))


def write_planted(folder: Path, plan: Plan) -> Path:
    """Write a run of one environment by a plan. All random numbers come from the plan's seed."""
    rng = np.random.default_rng(plan.seed)
    shape = (plan.episodes, plan.steps)
    # About twenty decisions on one map, then on another.
    blocks = rng.choice(plan.maps, (plan.episodes, plan.steps // 20 + 1))
    maps = np.repeat(blocks, 20, axis=1)[:, : plan.steps]
    actions = rng.integers(0, ACTIONS, shape)
    luck = np.zeros(shape)
    for step in range(plan.steps):
        before = luck[:, step - 1] if step else 0.0
        luck[:, step] = plan.memory * before + np.sqrt(1 - plan.memory**2) * rng.normal(size=plan.episodes)
    luck += plan.episode_luck * rng.normal(size=(plan.episodes, 1))
    threshold = np.quantile(luck, 1 - plan.chance)
    rewards = (luck > threshold).astype(float)
    hashes = rng.integers(1, 2**63, shape).astype(np.uint64)
    if plan.planted:
        _plant(plan, rng, maps, actions, rewards, hashes)
    count = plan.episodes * plan.steps
    number = np.arange(count)
    source = rng.integers(0, 4, count)
    source[(maps.ravel() == BAD[0]) & (actions.ravel() == BAD[1]) & (source == Source.RULE)] = Source.RL
    columns = decisions(
        1, count, episode=number // plan.steps, step=number % plan.steps + 1,
        truncated=number % plan.steps == plan.steps - 1, map_id=maps.ravel(), action=actions.ravel(),
        reward=rewards.ravel(), **previous_actions(actions), fine_hash=hashes.ravel(),
        source=source, confidence=rng.random(count), reason=["planted"] * count,
    )  # fmt: skip
    del columns["done"]
    if plan.near_return:
        sums = np.concatenate([np.zeros((plan.episodes, 1)), np.cumsum(rewards, axis=1)], axis=1)
        ends = np.minimum(np.arange(plan.steps) + 8, plan.steps)
        columns["near_return"] = (sums[:, ends] - sums[:, :-1]).astype(np.float32).ravel()
    with DuckDBStore(folder) as store:
        store.append("decisions", columns)
    return folder


def _plant(
    plan: Plan,
    rng: np.random.Generator,
    maps: NDArray[Any],
    actions: NDArray[Any],
    rewards: NDArray[Any],
    hashes: NDArray[Any],
) -> None:
    rare = (maps == RARE_GOOD[0]) & (actions == RARE_GOOD[1])
    actions[rare] = 8
    places = np.argwhere(maps == RARE_GOOD[0])
    for episode, step in places[rng.permutation(len(places))[: plan.rare]]:
        actions[episode, step] = RARE_GOOD[1]
        rewards[episode, step] = 5.0
    _later(rewards, (maps == GOOD[0]) & (actions == GOOD[1]), rng, 2.0)
    _later(rewards, (maps == BAD[0]) & (actions == BAD[1]), rng, -2.0)
    for episode in range(plan.episodes):
        starts = np.flatnonzero((maps[episode, :-20] == SEQUENCE_MAP) & (np.arange(plan.steps - 20) % 20 == 6))
        for start in starts[:3]:
            actions[episode, start : start + len(SEQUENCE)] = SEQUENCE
            rewards[episode, start + len(SEQUENCE) - 1] += 3.0
    for episode in range(plan.loops):
        stretch = slice(100, 100 + LOOP_STEPS)
        maps[episode, stretch] = LOOP_MAP
        rewards[episode, stretch] = 0.0
        actions[episode, stretch] = np.arange(LOOP_STEPS) % 2 + 4
        hashes[episode, stretch] = np.arange(LOOP_STEPS) % 2 + 77


def _later(rewards: NDArray[Any], pressed: NDArray[Any], rng: np.random.Generator, amount: float) -> None:
    """Add a reward about three steps after most of these decisions."""
    episodes, steps = np.nonzero(pressed)
    chosen = rng.random(len(steps)) < 0.7
    later = np.minimum(steps + rng.integers(0, 4, len(steps)), rewards.shape[1] - 1)
    np.add.at(rewards, (episodes[chosen], later[chosen]), amount)
