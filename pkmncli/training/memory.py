"""How much memory the training's own process has used."""

from __future__ import annotations

import sys


def peak_memory_bytes() -> int:
    """The most so far, workers left aside; 0 where the system doesn't tell."""
    if sys.platform == "win32":
        return 0
    import resource  # noqa: PLC0415 - not there on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # kilobytes everywhere else
