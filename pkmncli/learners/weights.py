"""Networks and optimizers as arrays by dotted name, so that checkpoints need no pickle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pkmncli.errors import CheckpointError

ADAM = ("step", "exp_avg", "exp_avg_sq")
"""Adam's state of each weight."""
RMSPROP = ("step", "square_avg")
"""RMSprop's state of each weight."""


def dump_network(prefix: str, network: nn.Module) -> dict[str, Tensor]:
    """Return copies of a network's weights, named ``prefix.<name>``."""
    return {f"{prefix}.{name}": tensor.detach().cpu().clone() for name, tensor in network.state_dict().items()}


def restore_network(prefix: str, network: nn.Module, state: Mapping[str, Any], learner: str) -> None:
    """Put weights into a network. Raise CheckpointError if names or shapes do not match."""
    weights = {name: torch.tensor(np.asarray(tensor)) for name, tensor in under(prefix, state).items()}
    expected = {name: tensor.shape for name, tensor in network.state_dict().items()}
    if {name: tensor.shape for name, tensor in weights.items()} != expected:
        raise CheckpointError(
            f"The checkpoint's {prefix} network has other layers than this one: "
            f"resume with the run's own environment and [{learner}] settings."
        )
    network.load_state_dict(weights)


def dump_optimizer(optimizer: torch.optim.Optimizer, network: nn.Module, parts: Sequence[str]) -> dict[str, Tensor]:
    """Return copies of an optimizer's state of a network's weights, named ``optimizer.<part>.<name>``."""
    kept = optimizer.state_dict()["state"]
    state = {}
    for index, (name, _) in enumerate(network.named_parameters()):
        for part in parts if index in kept else ():
            state[f"optimizer.{part}.{name}"] = kept[index][part].detach().cpu().clone()
    return state


def restore_optimizer(
    optimizer: torch.optim.Optimizer, network: nn.Module, parts: Sequence[str], state: Mapping[str, Any]
) -> None:
    """Restore the state of :func:`dump_optimizer`; ``step`` must be among the parts."""
    kept: dict[int, dict[str, Tensor]] = {}
    for index, (name, parameter) in enumerate(network.named_parameters()):
        if f"optimizer.{parts[0]}.{name}" in state:
            kept[index] = {part: _copied(state[f"optimizer.{part}.{name}"], parameter) for part in parts}
            kept[index]["step"] = kept[index]["step"].reshape(())  # file formats may make it one-dimensional
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": kept, "param_groups": groups})


def named_parts(prefix: str, network: nn.Module, flat: Tensor) -> dict[str, Tensor]:
    """Return copies of ``flat`` (weights,), one number per weight, split by layer and named ``prefix.<name>``."""
    parameters = list(network.named_parameters())
    parts = torch.split(flat, [weights.numel() for _, weights in parameters])
    return {
        f"{prefix}.{name}": part.reshape(weights.shape).clone()
        for (name, weights), part in zip(parameters, parts, strict=True)
    }


def flat_part(prefix: str, network: nn.Module, state: Mapping[str, Any], *, whole: bool = True) -> Tensor:
    """Join what :func:`named_parts` returned: (weights,) float32, or (layers,) of one number each.

    Raises:
        CheckpointError: names or shapes do not match the network.
    """
    parts = []
    for name, weights in network.named_parameters():
        part = torch.tensor(np.asarray(state.get(f"{prefix}.{name}", ())), dtype=torch.float32).reshape(-1)
        if len(part) != (weights.numel() if whole else 1):
            raise CheckpointError(f"The checkpoint's {prefix} of {name} does not fit: it is damaged.")
        parts.append(part)
    return torch.cat(parts)


def under(prefix: str, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries named ``prefix.<name>``, by ``name``."""
    start = prefix + "."
    return {name.removeprefix(start): value for name, value in state.items() if name.startswith(start)}


def _copied(array: Any, like: Tensor) -> Tensor:
    return torch.tensor(np.asarray(array), device=like.device)


def with_networks(state: Mapping[str, Any], weights: Mapping[str, Any], networks: Sequence[str]) -> dict[str, Any]:
    """Return a learner's state with its weights replaced.

    Args:
        state: of the learner.
        weights: of a network, by name.
        networks: names of all networks in the state that get the weights.
    """
    return {**state, **{f"{network}.{name}": value for network in networks for name, value in weights.items()}}
