"""Threads of the arithmetic: a small model is faster with one, and does not depend on what else the machine does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

_SMALL = 5_000_000
"""Weights up to which one thread is enough."""


@contextmanager
def fitting_threads(weights: int, device: str = "cpu") -> Iterator[None]:
    """Use one thread meanwhile for a small model on the processor.

    Args:
        weights: number of the model's weights.
        device: its place.
    """
    before = torch.get_num_threads()
    if device == "cpu" and weights <= _SMALL:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
