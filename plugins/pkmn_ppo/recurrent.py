"""Recurrent layer of a policy: its memory of earlier steps of an episode."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class RecurrentLayer(nn.Module):
    """Gated recurrent unit (Cho et al. 2014, "Learning phrase representations using RNN encoder-decoder").

    Args:
        features: numbers that describe an observation.
        size: numbers that are remembered from step to step.
    """

    def __init__(self, features: int, size: int) -> None:
        super().__init__()
        self.cell = nn.GRUCell(features, size)

    def forward(self, features: Tensor, memory: Tensor | None = None, starts: Tensor | None = None) -> Tensor:
        """Return the memory after each row, (rows, size), which describes what was seen so far.

        Args:
            features: (rows, features), consecutive steps of n sequences: the first step of all, then the second of all.
            memory: (n, size) before the first steps; None if each row begins an episode.
            starts: (rows,), 1 if an episode begins with the row, so that earlier steps are forgotten; None for none.
        """
        if memory is None:
            memory = features.new_zeros(len(features), self.cell.hidden_size)
        memories = []
        for step, rows in enumerate(torch.split(features, len(memory))):
            if starts is not None:
                memory = memory * (1 - starts[step * len(memory) : (step + 1) * len(memory), None])
            memory = self.cell(rows, memory)
            memories.append(memory)
        return torch.cat(memories)
