"""The export of an acting network as one program of ``torch.export``, which runs with torch alone.

The program holds the layers and the weights, also those of an encoder of a third party. It reads one observation as
the environment gives it.
"""

from __future__ import annotations

import copy
import io
from collections.abc import Mapping
from typing import Any, Protocol, cast

import numpy as np
import torch
from torch import Tensor, nn

from pkmncli.api import ExportedPolicy
from pkmncli.diagnostics import one_line
from pkmncli.errors import ConfigurationError
from pkmncli.learners.observations import MASK, PLANES, SCREEN, VECTOR, ObservationLayout


class JudgingNetwork(Protocol):
    """Network whose policy can be exported; also an :class:`torch.nn.Module`."""

    def judge(self, observations: Mapping[str, Tensor]) -> tuple[Tensor, Tensor | None]:
        """Return scores (n, num_actions), the more the better, and values (n,) of the situations.

        Without values, the value of a situation is its best score.

        Args:
            observations: all columns of the layout.
        """


class RememberingNetwork(JudgingNetwork, Protocol):
    """The same for a network with a memory of earlier steps."""

    def judge_from(self, observations: Mapping[str, Tensor], memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return scores, values, and the memories (n, size) after the step, from those before it."""


def exported_policy(
    network: JudgingNetwork, layout: ObservationLayout, gives: str, memory_size: int = 0
) -> ExportedPolicy:
    """Return a network that acts, for use outside this program.

    Args:
        network: the acting network. The export does not change with it later.
        layout: of the observations that it reads.
        gives: the meaning of its scores, in words.
        memory_size: numbers that it remembers from step to step, if it is a :class:`RememberingNetwork`; else 0.

    Raises:
        ConfigurationError: torch cannot export the network, because of its encoder.
    """
    program = _Policy(network, layout)
    observation = {key: torch.from_numpy(np.zeros(one.shape, one.dtype)) for key, one in layout.members.items()}
    memory = (torch.zeros(memory_size),) if memory_size else ()
    content = io.BytesIO()
    try:
        torch.export.save(torch.export.export(program, (observation, *memory)), content)
    except Exception as error:  # whatever torch, or an encoder of a third party, raises
        raise ConfigurationError(
            f"the policy cannot be exported: torch.export cannot trace its network ({one_line(error)})"
        ) from error
    description: dict[str, Any] = {
        "observation": {key: {"shape": list(one.shape), "type": one.dtype} for key, one in layout.members.items()},
        "num_actions": layout.num_actions,
        "gives": {
            "action": "the greedy action",
            "scores": f"{gives}; minus infinity for an action that the mask forbids",
            "value": "the value of the situation, in units of what was learned from",
        },
    }
    if layout.dimensions:
        description |= {"num_actions": None, "controls": {"low": list(layout.low), "high": list(layout.high)}}
        description["gives"] |= {"action": "the greedy action: its controls, clipped to the bounds", "scores": gives}
    if memory_size:
        description["memory"] = {"shape": [memory_size], "type": "float32"}
        description["gives"]["memory"] = "the second input of the next step; zeros at the start of an episode"
    return ExportedPolicy(content.getvalue(), description)


class _Policy(nn.Module):
    """Network with the reading of one observation before it, and the greedy choice behind it."""

    def __init__(self, network: JudgingNetwork, layout: ObservationLayout) -> None:
        super().__init__()
        self.network = copy.deepcopy(network)
        assert isinstance(self.network, nn.Module)
        for weights in self.network.parameters():  # without views of one block, which the file would keep whole
            weights.data = weights.detach().clone()
        self.network.cpu().eval()
        self._layout = layout

    def forward(self, observation: Mapping[str, Tensor], memory: Tensor | None = None) -> dict[str, Tensor]:
        columns = _columns(self._layout, {key: tensor.unsqueeze(0) for key, tensor in observation.items()})
        remembered: dict[str, Tensor] = {}
        values: Tensor | None
        if memory is None:
            scores, values = self.network.judge(columns)
        else:
            network = cast(RememberingNetwork, self.network)
            scores, values, memories = network.judge_from(columns, memory.unsqueeze(0))
            remembered["memory"] = memories[0]
        if self._layout.dimensions:
            low, high = torch.tensor(self._layout.low), torch.tensor(self._layout.high)
            action = (scores[0] * ((high - low) / 2) + (high + low) / 2).clamp(low, high)
            value = {} if values is None else {"value": values[0]}
            return {"action": action, "scores": scores[0], **value, **remembered}
        scores = scores.masked_fill(columns[MASK] == 0, -torch.inf)
        values = scores.amax(dim=1) if values is None else values
        return {"action": scores.argmax(dim=1)[0], "scores": scores[0], "value": values[0], **remembered}


def _columns(layout: ObservationLayout, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Do the same as :meth:`ObservationLayout.encode` with tensors."""
    columns: dict[str, Tensor] = {}
    if layout.screen_shape:
        screen = batch[SCREEN]
        if layout.screen_is_rgb:
            screen = (screen[..., ::2, ::4, 1] & 0xF0) | (screen[..., ::2, 2::4, 1] >> 4)
        columns[SCREEN] = screen
    if layout.planes:
        columns[PLANES] = batch[layout.planes_key]
    for key, image in layout.images.items():
        columns[image.column] = batch[key].permute(0, *image.axes).reshape(-1, *image.shape)
    if layout.vector_size:
        columns[VECTOR] = torch.cat([_numbers(layout, key, batch[key]) for key in layout.vector_keys], dim=1)
    size = len(next(iter(batch.values())))
    columns[MASK] = batch[MASK] if layout.has_mask else torch.ones(size, layout.num_actions, dtype=torch.uint8)
    return columns


def _numbers(layout: ObservationLayout, key: str, batch: Tensor) -> Tensor:
    numbers = batch.reshape(len(batch), -1)
    if key in layout.counted:
        counted = layout.counted[key]
        numbers = (numbers - torch.tensor(counted.starts)) / torch.tensor(counted.largest)
    return numbers.to(torch.float32)
