"""The acting network as it leaves the program: its weights, what it takes and gives, and an example that runs it."""

from __future__ import annotations

from typing import Any

from torch import nn

from pkmncli.api import ExportedPolicy
from pkmncli.learners.observations import MASK, SCREEN, VECTOR, ObservationLayout

EXAMPLE = '''"""Acts greedily with the policy in this folder. It needs torch and safetensors, nothing else."""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch.nn import functional as F

HERE = Path(__file__).parent
ABOUT = json.loads((HERE / "policy.json").read_text(encoding="utf-8"))
WEIGHTS = load_file(HERE / "policy.safetensors")


def of(layer):
    return WEIGHTS[f"{layer}.weight"], WEIGHTS[f"{layer}.bias"]


def act(observation):
    """The action for one observation of the environment, a dictionary of arrays."""
    parts = []
    if "screen" in ABOUT["observation"]:
        screen = torch.as_tensor(observation["screen"])
        if screen.shape[-1] == 3:  # in colour, as gymnasium.make gives it
            pixels = screen[::2, ::2, 1] >> 4
        else:  # packed: two pixels a byte
            pixels = torch.stack((screen >> 4, screen & 15), dim=-1).flatten(-2)
        x = pixels.reshape(1, -1, *pixels.shape[-2:]).float() * (1 / 15)
        for layer, stride in zip(("screen.0", "screen.2"), ABOUT["network"]["strides"]):
            x = F.relu(F.conv2d(x, *of(layer), stride=stride))
        parts.append(F.relu(F.linear(x.flatten(1), *of("screen.5"))))
    if "vector" in ABOUT["observation"]:
        keys = ABOUT["observation"]["vector"]["keys"]
        x = torch.cat([torch.as_tensor(observation[key]).float().reshape(1, -1) for key in keys], dim=1)
        x = F.linear(x, *of("vector.0"))
        parts.append(F.relu(F.layer_norm(x, x.shape[1:], *of("vector.1"))))
    x = torch.cat(parts, dim=1)
    values = F.linear(F.relu(F.linear(x, *of("advantage.0"))), *of("advantage.2"))
    if ABOUT["network"]["dueling"]:
        value = F.linear(F.relu(F.linear(x, *of("value.0"))), *of("value.2"))
        values = value + values - values.mean(dim=1, keepdim=True)
    if "action_mask" in ABOUT["observation"]:
        values = values.masked_fill(~torch.as_tensor(observation["action_mask"]).bool(), -torch.inf)
    return int(values.argmax())
'''
"""Written for the reader, as plain as it can be; a test holds it against the learner."""


def exported_policy(network: nn.Module, layout: ObservationLayout) -> ExportedPolicy:
    """A Q-network and the layout of its observations, to be taken elsewhere."""
    weights = {name: tensor.detach().cpu().clone() for name, tensor in network.state_dict().items()}
    observation: dict[str, Any] = {}
    if layout.screen_shape:
        observation[SCREEN] = {
            "shape": list(layout.screen_shape),
            "type": "uint8",
            "meaning": "every second pixel both ways, 16 greys, two pixels a byte, the left one in the high four bits",
        }
    if layout.vector_size:
        observation[VECTOR] = {"keys": list(layout.vector_keys), "size": layout.vector_size, "type": "float32"}
    if layout.has_mask:
        observation[MASK] = {"shape": [layout.num_actions], "type": "int8", "meaning": "1 where an action is allowed"}
    return ExportedPolicy(
        tensors=weights,
        description={
            "observation": observation,
            "num_actions": layout.num_actions,
            "gives": "the estimated discounted return of each action; the greedy action is the best that is allowed",
            "network": {
                "strides": [layer.stride[0] for layer in network.modules() if isinstance(layer, nn.Conv2d)],
                "dueling": "value.0.weight" in weights,
                "layers": {name: list(tensor.shape) for name, tensor in weights.items()},
            },
        },
        example=EXAMPLE,
    )
