"""Transfers between ordinary memory and the device that learns.

Reading a number from a GPU waits for all work queued on it, and so does a copy from ordinary memory. So numbers are
read together, and arrays are copied through pinned memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor


def on_device(array: NDArray[Any], device: torch.device) -> Tensor:
    """Return a copy of an array on a device; later changes of the array do not affect it."""
    if device.type == "cuda" and array.flags.writeable:  # torch warns about read-only arrays
        return torch.from_numpy(array).pin_memory().to(device, non_blocking=True)
    return torch.tensor(array, device=device)


@torch.no_grad()
def numbers_of(metrics: Mapping[str, Tensor]) -> dict[str, float]:
    """Return float32 tensors of one number each, all on one device, as numbers by the same names."""
    return dict(zip(metrics, torch.stack(list(metrics.values())).tolist(), strict=True))
