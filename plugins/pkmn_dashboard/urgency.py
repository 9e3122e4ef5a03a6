"""Priority of the page's server: below that of the training."""

from __future__ import annotations

import contextlib
import os

LEAST_URGENT = 15
"""Niceness of the server: with too few cores, the training comes first."""


def give_way() -> None:
    """Give this process a low priority, if the system supports it."""
    if hasattr(os, "nice"):
        with contextlib.suppress(OSError):
            os.nice(LEAST_URGENT)
