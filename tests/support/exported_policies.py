"""Common parts of tests of exported policies: kinds of observations, and a comparison of example and learner."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from safetensors.torch import save_file

from pkmncli.api import BitPlanes, ExportedPolicy, ExportingAlgorithm, ScaledBox

NUM_ACTIONS = 6
OBSERVATIONS = 40


def box(shape: tuple[int, ...], kind: type = np.float32, high: int = 1) -> gymnasium.spaces.Box:
    return gymnasium.spaces.Box(0, high, shape, kind)


MASK = box((NUM_ACTIONS,), np.int8)
VECTOR = box((5,))
SPACES = {
    "packed": {"screen": box((24, 12), np.uint8, 255), "state_variables": VECTOR, "action_mask": MASK},
    "colour": {"screen": box((48, 48, 3), np.uint8, 255), "state_variables": VECTOR, "action_mask": MASK},
    "stacked": {"screen": box((3, 24, 12), np.uint8, 255), "action_mask": MASK},
    "map": {"goal": VECTOR, "local_map": BitPlanes((13, 13), [f"bit {bit}" for bit in range(12)]), "action_mask": MASK},
    "vectors": {"a": box((2, 3)), "b": box((4,), np.float64)},
    "counted": {
        "room": gymnasium.spaces.Discrete(7, start=3),
        "pair": gymnasium.spaces.MultiDiscrete([4, 9]),
        "state_variables": ScaledBox(5, {0: 32}),
        "action_mask": MASK,
    },
}


def written(policy: ExportedPolicy, folder: Path) -> Callable[[dict[str, Any]], int]:
    """Return the ``act`` of the example, after writing all files as `pkmn export` does."""
    save_file(dict(policy.tensors), folder / "policy.safetensors")
    (folder / "policy.json").write_text(json.dumps(policy.description))
    (folder / "policy.py").write_text(policy.example)
    act: Callable[[dict[str, Any]], int] = runpy.run_path(str(folder / "policy.py"))["act"]
    return act


def assert_acts_alike(learner: ExportingAlgorithm, space: gymnasium.spaces.Dict, folder: Path) -> None:
    """Assert that a learner's exported example chooses as the learner does, on observations sampled from the space."""
    act = written(learner.export_policy(), folder)
    space.seed(0)
    chosen = []
    for _ in range(OBSERVATIONS):
        observation = space.sample()
        if "action_mask" in observation and not observation["action_mask"].any():
            observation["action_mask"][0] = 1
        batch = {name: np.asarray(value)[None] for name, value in observation.items()}
        chosen.append(int(learner.act(batch, explore=False)[0][0]))
        assert act(observation) == chosen[-1]
    assert len(set(chosen)) > 1, "or anything would agree"
