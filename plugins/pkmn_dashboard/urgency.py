"""How much of the processor the page's server claims: what a training beside it leaves over."""

from __future__ import annotations

import contextlib
import os

LEAST_URGENT = 15
"""Niceness: where there are too few cores, the training goes first."""


def give_way() -> None:
    """Lets every other process of this machine go first, where the system has that."""
    if hasattr(os, "nice"):
        with contextlib.suppress(OSError):
            os.nice(LEAST_URGENT)
