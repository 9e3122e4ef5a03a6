"""Metrics as plain numbers, read from the device at once: each look at a graphics card's numbers waits for it."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor


@torch.no_grad()
def numbers_of(metrics: Mapping[str, Tensor]) -> dict[str, float]:
    """Float32 tensors of one number each, all on one device, as numbers by the same names."""
    return dict(zip(metrics, torch.stack(list(metrics.values())).tolist(), strict=True))
