"""Priority of the page's server: below that of the training."""

from __future__ import annotations

import contextlib
import os
import sys

LEAST_URGENT = 15
"""Niceness of the server: with too few cores, the training comes first."""


def give_way() -> None:
    """Give this process a low priority, if the system allows it."""
    if sys.platform == "win32":
        import psutil  # noqa: PLC0415 - only needed there

        with contextlib.suppress(psutil.Error, OSError):
            psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
    else:
        with contextlib.suppress(OSError):
            os.nice(LEAST_URGENT)
