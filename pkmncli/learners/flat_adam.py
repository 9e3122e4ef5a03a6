"""Adam on all weights of a network in one block of memory.

The time of a small network's update is the overhead of its operations, a few microseconds for each of several hundred.
With weights and gradients in one block each, clipping takes three operations whatever the number of layers, and a copy
of all weights takes one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from pkmncli.learners.weights import ADAM, flat_part, named_parts

_PIECE_ON_CARD = 4096
"""Weights per tensor on a GPU: a GPU block works on one tensor, however small, and many blocks work at once."""


class FlatAdam:
    """Adam (Kingma and Ba 2015) on the weights of a network, whose gradients are scaled down to a norm.

    Args:
        network: its weights are laid out in one block; see :attr:`weights`.
        learning_rate: step size.
        epsilon: term that keeps the division stable.
        max_norm: Euclidean norm that gradients are scaled down to.
    """

    def __init__(self, network: nn.Module, learning_rate: float, epsilon: float, max_norm: float) -> None:
        self.weights = lay_out(network)
        """(weights,) float32, the network's own memory."""
        self._network = network
        self._parameters = list(network.parameters())
        self._max_norm = max_norm
        self._gradients = torch.zeros_like(self.weights)
        on_card = self.weights.device.type == "cuda"
        size = _PIECE_ON_CARD if on_card else max(1, len(self.weights))
        self._pieces = [nn.Parameter(piece) for piece in torch.split(self.weights, size)]
        for piece, gradients in zip(self._pieces, torch.split(self._gradients, size), strict=True):
            piece.grad = gradients
        self._adam = torch.optim.Adam(self._pieces, learning_rate, eps=epsilon, fused=True, capturable=on_card)

    def find_gradients(self, loss: Tensor) -> Tensor:
        """Compute the gradients of a loss and scale them down. Return their norm before scaling."""
        found = torch.autograd.grad(loss, self._parameters, allow_unused=True, materialize_grads=True)
        with torch.no_grad():
            torch.cat([gradient.reshape(-1) for gradient in found], out=self._gradients)
            norm: Tensor = torch.linalg.vector_norm(self._gradients)
            self._gradients.mul_((self._max_norm / (norm + 1e-6)).clamp_(max=1.0))
        return norm

    def step(self) -> None:
        """Change the weights by the gradients found last."""
        self._adam.step()

    @contextlib.contextmanager
    def tried(self) -> Iterator[None]:
        """Restore at the end, in the same memory, what steps inside the context have changed."""
        # This is only for a few steps without capture; torch would warn about them.
        self._adam._warned_capturable_if_run_uncaptured = True
        kept, state = self.weights.clone(), self._adam.state
        before = {piece: {name: part.clone() for name, part in state[piece].items()} for piece in list(state)}
        yield
        self.weights.copy_(kept)
        for piece, parts in state.items():
            for name, part in parts.items():
                if piece in before:
                    part.copy_(before[piece][name])
                else:
                    part.zero_()

    def state_dict(self) -> dict[str, Tensor]:
        """Return copies of Adam's state of each weight, named ``optimizer.<part>.<name>``; none before a step."""
        state = [self._adam.state.get(piece) or {} for piece in self._pieces]
        if not all(state):
            return {}
        found: dict[str, Tensor] = {}
        for part in ADAM:
            if part == "step":
                steps = state[0][part].detach().cpu()
                found |= {f"optimizer.{part}.{name}": steps.clone() for name, _ in self._network.named_parameters()}
            else:
                flat = torch.cat([kept[part] for kept in state]).detach().cpu()
                found |= named_parts(f"optimizer.{part}", self._network, flat)
        return found

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`. Raise CheckpointError if it is of another network."""
        groups = self._adam.state_dict()["param_groups"]
        kept: dict[int, dict[str, Tensor]] = {}
        if any(name.startswith("optimizer.") for name in state):
            device = self.weights.device
            step = flat_part("optimizer.step", self._network, state, whole=False)[0]
            for part in ADAM[1:]:
                flat = flat_part(f"optimizer.{part}", self._network, state).to(device)
                for index, piece in enumerate(torch.split(flat, len(self._pieces[0]))):
                    kept.setdefault(index, {"step": step.clone().to(device)})[part] = piece.clone()
        self._adam.load_state_dict({"state": kept, "param_groups": groups})


def lay_out(network: nn.Module, memory: Tensor | None = None) -> Tensor:
    """Move a network's weights into one block of memory, one after the other; return it: (weights,) float32.

    Args:
        network: its weights become views of the memory.
        memory: (weights,) to use; None allocates it on the network's device.
    """
    parameters = list(network.parameters())
    flat = torch.cat([weights.detach().reshape(-1) for weights in parameters])
    if memory is not None:
        flat = memory.copy_(flat)
    for mine, its in zip(parameters, torch.split(flat, [one.numel() for one in parameters]), strict=True):
        mine.data = its.view_as(mine)
    return flat
