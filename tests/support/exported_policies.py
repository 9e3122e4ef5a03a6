"""Common parts of tests of exported policies: kinds of observations, and a comparison of program and learner."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch

from pkmncli.api import BitPlanes, ExportedPolicy, ScaledBox
from pkmncli.api.spaces import array_at

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
    "nested": {
        "view": gymnasium.spaces.Dict(front=box((24, 26, 3), np.uint8, 255), far=gymnasium.spaces.MultiBinary(3)),
        "number": box((), np.int64, 9),
        "action_mask": MASK,
    },
}


def loaded(policy: ExportedPolicy) -> Any:
    """Return the program of an exported policy."""
    return torch.export.load(io.BytesIO(policy.content)).module()


def weights_of(policy: ExportedPolicy) -> dict[str, torch.Tensor]:
    """Return the weights of an exported network, by the names that they have in a learner's state."""
    found = torch.export.load(io.BytesIO(policy.content)).state_dict
    return {name.removeprefix("network."): weights.detach() for name, weights in found.items()}


def assert_acts_alike(learner: Any, space: gymnasium.spaces.Dict) -> None:
    """Assert that a learner's exported policy chooses as the learner does, on observations sampled from the space."""
    exported = learner.export_policy()
    policy = loaded(exported)
    space.seed(0)
    chosen = []
    for _ in range(OBSERVATIONS):
        observation = allowed(space.sample())
        flat = {name: np.asarray(array_at(observation, name)) for name in exported.description["observation"]}
        chosen.append(int(learner.act({name: array[None] for name, array in flat.items()}, explore=False)[0][0]))
        found = policy({name: torch.as_tensor(array) for name, array in flat.items()})
        assert int(found["action"]) == chosen[-1]
    assert len(set(chosen)) > 1, "or anything would agree"


def allowed(observation: dict[str, Any]) -> dict[str, Any]:
    """Return an observation whose mask allows an action."""
    if "action_mask" in observation and not observation["action_mask"].any():
        observation["action_mask"][0] = 1
    return observation


ELSEWHERE = """
import json, sys
import numpy as np
import torch

for name in ("pkmncli", "pkmn_dqn", "pkmn_ppo", "pkmn_encoders"):
    sys.modules[name] = None  # whoever imports it gets an ImportError
policy = torch.export.load("policy.pt2").module()
names = json.load(open("policy.json"))["observation"]
seen = dict(np.load("observations.npz"))
rows = range(len(next(iter(seen.values()))))
found = [policy({name: torch.as_tensor(seen[name][row]) for name in names}) for row in rows]
np.savez("found.npz", **{name: np.stack([one[name].detach().numpy() for one in found]) for name in found[0]})
"""


def run_elsewhere(policy: ExportedPolicy, observations: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Return the outputs of a policy for observations, in a process that cannot import pkmncli."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "policy.pt2").write_bytes(policy.content)
        (folder / "policy.json").write_text(json.dumps(policy.description))
        np.savez(
            folder / "observations.npz", **{key: np.stack([o[key] for o in observations]) for key in observations[0]}
        )
        subprocess.run([sys.executable, "-c", ELSEWHERE], cwd=folder, check=True, capture_output=True)
        with np.load(folder / "found.npz") as found:
            return dict(found)
