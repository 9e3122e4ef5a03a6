"""A stand-in for the trainer: feeds a learner from a scripted stream and runs its updates, in place or in a thread."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import gymnasium
import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from pkmncli.api import BitPlanes, Segment, Source, Transitions

NUM_ENVS = 2
NUM_ACTIONS = 4


@pytest.fixture(autouse=True)
def one_torch_thread() -> Iterator[None]:
    """Use one thread: fastest for small networks, and sums are the same on every machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class LearnerStream:
    """The trainer's loop on a stream of random screens, which depends on the step and the action alone.

    Args:
        learner: of any algorithm, for these spaces and ``NUM_ENVS`` environments.
        by_rules: share of the steps in which the rules act.
        advised: give the rules' action for most steps.
    """

    observation_space = gymnasium.spaces.Dict(
        screen=gymnasium.spaces.Box(0, 255, (24, 12), np.uint8),
        local_map=BitPlanes((5, 5), [f"bit {bit}" for bit in range(10)]),
        state_variables=gymnasium.spaces.Box(0, 1, (5,), np.float32),
        action_mask=gymnasium.spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
    )
    action_space = gymnasium.spaces.Discrete(NUM_ACTIONS)

    def __init__(self, learner: Any, by_rules: float = 0.0, advised: bool = False) -> None:
        self.learner = learner
        self.by_rules = by_rules
        self.advised = advised
        self.step = 0
        self.metrics: list[dict[str, float]] = []
        self.acted: list[tuple[Any, ...]] = []

    def observations(self, step: int, kind: int = 0) -> dict[str, np.ndarray]:
        rng = np.random.default_rng((step, kind))
        mask = rng.integers(0, 2, (NUM_ENVS, NUM_ACTIONS)).astype(np.int8)
        mask[:, rng.integers(NUM_ACTIONS)] = 1
        return {
            "screen": rng.integers(0, 256, (NUM_ENVS, 24, 12), np.uint8),
            "local_map": rng.integers(0, 2**10, (NUM_ENVS, 5, 5), np.uint16),
            "state_variables": rng.random((NUM_ENVS, 5), np.float32),
            "action_mask": mask,
        }

    def _advised(self, mask: np.ndarray) -> np.ndarray:
        unknown = np.random.default_rng((self.step, 4)).random(NUM_ENVS) < 0.2
        return np.where(unknown, -1, mask.argmax(axis=1))

    def run(self, steps: int, executor: ThreadPoolExecutor | None = None) -> Self:
        """Take steps as the trainer does; updates run in the executor's thread if there is one."""
        learner, running = self.learner, None
        for _ in range(steps):
            before = self.observations(self.step)
            actions, confidences, exploring = learner.act(before, explore=True)
            self.acted.append((actions.tolist(), confidences.tolist(), exploring.tolist()))
            rng = np.random.default_rng((self.step, 2))
            ended = rng.random(NUM_ENVS) < 0.1
            by_rules = np.random.default_rng((self.step, 3)).random(NUM_ENVS) < self.by_rules
            after = self.observations(self.step + 1)
            final = self.observations(self.step, kind=1)
            for environment in np.flatnonzero(ended):
                for name in after:
                    after[name][environment] = final[name][environment]
            learner.observe(
                Transitions(
                    observations=before,
                    actions=np.where(by_rules, before["action_mask"].argmax(axis=1), actions),
                    rewards=(actions == before["state_variables"][:, :NUM_ACTIONS].argmax(axis=1)).astype(np.float32),
                    terminated=ended & (rng.random(NUM_ENVS) < 0.5),
                    truncated=ended,
                    next_observations=after,
                    sources=np.where(by_rules, Source.RULE, np.where(exploring, Source.EXPLORE, Source.RL)).astype(
                        np.uint8
                    ),
                    advised=self._advised(before["action_mask"]) if self.advised else None,
                )
            )
            self.step += 1
            if self.step * NUM_ENVS % learner.update_interval == 0:
                if running is not None:
                    self.metrics.append(running.result() if executor else running)
                learner.publish()
                sampled = learner.sample()
                running = None
                if sampled is not None:
                    running = executor.submit(learner.learn, sampled) if executor else learner.learn(sampled)
        if running is not None:
            self.metrics.append(running.result() if executor else running)
        return self


def assert_equal_states(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert first.keys() == second.keys()
    for name, value in first.items():
        if isinstance(value, torch.Tensor | np.ndarray):
            np.testing.assert_array_equal(np.asarray(value), np.asarray(second[name]), err_msg=name)
        else:
            assert value == second[name], name


def through_files(folder: Path, state: dict[str, Any], segments: list[Segment]) -> tuple[dict[str, Any], list[Segment]]:
    """Write a state and segments and read them back, in formats with arrays and plain values only."""
    arrays = {name: np.asarray(value) for name, value in state.items() if isinstance(value, torch.Tensor | np.ndarray)}
    plain = {name: value for name, value in state.items() if name not in arrays}
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, folder / "learner.safetensors")
    (folder / "learner.json").write_text(json.dumps(plain))
    read: dict[str, Any] = dict(load_file(folder / "learner.safetensors"))
    read |= json.loads((folder / "learner.json").read_text())
    kept = []
    for segment in segments:
        path = folder / f"{segment.name}.safetensors"
        save_file({name: np.ascontiguousarray(array) for name, array in segment.arrays.items()}, path)
        kept.append(Segment(segment.name, segment.sealed, load_file(path)))
    return read, kept
