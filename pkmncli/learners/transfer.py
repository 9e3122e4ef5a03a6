"""Arrays as tensors on the device that learns; metrics as plain numbers back from it.

Each look at a graphics card's numbers waits for all that it was given to do, and so does a copy from ordinary memory.
So numbers are read together, and arrays go by way of pinned memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor


def on_device(array: NDArray[Any], device: torch.device) -> Tensor:
    """A copy of an array: nothing that happens to the array later changes it, on whatever device it is."""
    if device.type == "cuda" and array.flags.writeable:  # torch warns of arrays that can't be written
        return torch.from_numpy(array).pin_memory().to(device, non_blocking=True)
    return torch.tensor(array, device=device)


@torch.no_grad()
def numbers_of(metrics: Mapping[str, Tensor]) -> dict[str, float]:
    """Float32 tensors of one number each, all on one device, as numbers by the same names."""
    return dict(zip(metrics, torch.stack(list(metrics.values())).tolist(), strict=True))
