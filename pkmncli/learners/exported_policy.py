"""The export of an acting network: weights, a description of inputs and outputs, and an example that runs it.

The example is built from simple parts, for readers: the common beginning, the reading of observations, and the
learner's own ``scores``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pydantic import BaseModel
from torch import nn

from pkmncli.api import ExportedPolicy
from pkmncli.errors import ConfigurationError
from pkmncli.learners.encoders import EncoderFactory
from pkmncli.learners.networks import ObservationNetwork
from pkmncli.learners.observations import MASK, PLANES, SCREEN, VECTOR, ObservationLayout

_BEGINNING = '''"""Greedy actions of the policy in this folder. It needs {needs}."""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch.nn import functional as F
{imports}
HERE = Path(__file__).parent
ABOUT = json.loads((HERE / "policy.json").read_text(encoding="utf-8"))
WEIGHTS = load_file(HERE / "policy.safetensors")


def of(layer):
    return WEIGHTS[f"{{layer}}.weight"], WEIGHTS[f"{{layer}}.bias"]


'''

_READING = '''def numbers(observation, key):
    x = torch.as_tensor(observation[key]).float().reshape(1, -1)
    counted = ABOUT["observation"]["vector"].get("counted", {}).get(key)
    return x if counted is None else (x - torch.tensor(counted["starts"])) / torch.tensor(counted["largest"])


def features(observation):
    """Return the features of one observation of the environment."""
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
    if "planes" in ABOUT["observation"]:
        planes = ABOUT["observation"]["planes"]
        x = torch.tensor(observation[planes["key"]].astype("int64")).reshape(1, 1, *planes["shape"])
        x = ((x >> torch.arange(len(planes["bits"])).reshape(1, -1, 1, 1)) & 1).float()
        for layer, stride in zip(("map.0", "map.2"), ABOUT["network"]["map_strides"]):
            x = F.relu(F.conv2d(x, *of(layer), stride=stride))
        parts.append(F.relu(F.linear(x.flatten(1), *of("map.5"))))
    if "vector" in ABOUT["observation"]:
        x = torch.cat([numbers(observation, key) for key in ABOUT["observation"]["vector"]["keys"]], dim=1)
        x = F.linear(x, *of("vector.0"))
        parts.append(F.relu(F.layer_norm(x, x.shape[1:], *of("vector.1"))))
    return torch.cat(parts, dim=1)
'''

_READING_ELSEWHERE = '''features = load_encoder(ABOUT, WEIGHTS)
"""Function from one observation of the environment to its features."""
'''

_ACTING = '''

def act(observation):
    """Return the action for one observation of the environment, a dictionary of arrays."""
    with torch.no_grad():
        found = scores(features(observation))
    if "action_mask" in ABOUT["observation"]:
        found = found.masked_fill(~torch.as_tensor(observation["action_mask"]).bool(), -torch.inf)
    return int(found.argmax())
'''


def exported_policy(
    network: ObservationNetwork,
    layout: ObservationLayout,
    settings: BaseModel,
    encoder: EncoderFactory | None,
    *,
    scores: str,
    gives: str,
    about_network: Mapping[str, Any],
) -> ExportedPolicy:
    """Return a network that acts, for use outside this program.

    Args:
        network: the network with its output streams.
        layout: of the observations that it reads.
        settings: the learner's.
        encoder: factory of its encoder; None for the default one.
        scores: Python source of the example's ``scores(x)``: from the features (1, features) to one number per action
            (1, num_actions); the allowed action with the highest number is the greedy one. It may use
            ``F``, ``of(layer)`` (weight and bias of a layer) and ``ABOUT["network"]``.
        gives: the meaning of these numbers, in words.
        about_network: further description of the network, besides its layers.

    Raises:
        ConfigurationError: the encoder cannot be built elsewhere.
    """
    weights = {name: tensor.detach().cpu().clone() for name, tensor in network.state_dict().items()}
    described = {
        **({} if encoder else {"strides": _strides(network.screen), "map_strides": _strides(network.map)}),
        **about_network,
        "layers": {name: list(tensor.shape) for name, tensor in weights.items()},
    }
    if encoder is None:
        needs, imports, reading = "torch and safetensors, nothing else", "", _READING
    else:
        origin = _origin(encoder, settings)
        described |= {"encoder": origin, "layout": asdict(layout)}
        package = (
            "" if origin["distribution"] == "pkmncli" else f", {origin['distribution']} {origin['version']}".rstrip()
        )
        needs = f"torch, safetensors, pkmncli{package}: the last for the encoder {origin['name']!r}"
        imports, reading = "\nfrom pkmncli.learners.exported_encoder import load_encoder\n", _READING_ELSEWHERE
    return ExportedPolicy(
        tensors=weights,
        description={
            "observation": _observation(layout),
            "num_actions": layout.num_actions,
            "gives": gives,
            "network": described,
        },
        example=_BEGINNING.format(needs=needs, imports=imports) + reading + "\n\n" + scores.strip() + "\n" + _ACTING,
    )


def _strides(branch: nn.Module | None) -> list[int]:
    """Return the strides of the convolutions of a part of the network, in order."""
    return [] if branch is None else [one.stride[0] for one in branch.modules() if isinstance(one, nn.Conv2d)]


def _origin(encoder: EncoderFactory, settings: BaseModel) -> dict[str, Any]:
    origin = encoder.origin
    if origin is None or "<locals>" in str(origin["target"]) or str(origin["target"]).startswith("__main__"):
        raise ConfigurationError(
            f"the policy cannot be exported: its encoder {encoder.name!r} cannot be imported from any module"
        )
    values = origin["settings"] if origin["config"] is not None else settings.model_dump(mode="json")
    return {**origin, "settings": values}


def _observation(layout: ObservationLayout) -> dict[str, Any]:
    observation: dict[str, Any] = {}
    if layout.screen_shape:
        observation[SCREEN] = {
            "shape": list(layout.screen_shape),
            "type": "uint8",
            "meaning": "every second pixel both ways, 16 greys, two pixels a byte, the left one in the high four bits",
        }
    if layout.planes:
        observation[PLANES] = {
            "key": layout.planes_key,
            "shape": list(layout.planes_shape),
            "type": layout.planes_type,
            "bits": list(layout.planes),
            "meaning": "each bit of a tile is one property, from the lowest bit on",
        }
    if layout.vector_size:
        observation[VECTOR] = {"keys": list(layout.vector_keys), "size": layout.vector_size, "type": "float32"}
        if layout.counted:
            counted = {key: asdict(one) for key, one in layout.counted.items()}
            observation[VECTOR] |= {"counted": counted, "meaning": "counted: whole numbers, less starts, over largest"}
    if layout.has_mask:
        observation[MASK] = {"shape": [layout.num_actions], "type": "int8", "meaning": "1 where an action is allowed"}
    return observation
