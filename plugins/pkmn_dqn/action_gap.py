"""The action gap: how clearly one action is best, for the learner's confidence.

A gap is the value of the best allowed action less that of the second best. It is scaled to 1 - exp(-gap / usual gap).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_GAP_MEMORY = 1_000  # decisions


class ActionGap:
    """Scale for action gaps: a running mean of the usual gap."""

    def __init__(self) -> None:
        self._usual_gap = 0.0
        self._gaps_seen = 0

    def of(self, gaps: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return gaps (n,) scaled to 0..1."""
        if self._usual_gap == 0:
            return np.zeros(len(gaps), np.float32)
        return np.asarray(-np.expm1(-gaps / self._usual_gap), np.float32)

    def note(self, gaps: NDArray[np.float32]) -> None:
        """Add the gaps (n,) of a step to the running mean; infinite ones are ignored."""
        real = gaps[np.isfinite(gaps)]
        if len(real):
            self._gaps_seen += 1
            weight = max(1 / _GAP_MEMORY, 1 / self._gaps_seen)
            self._usual_gap += weight * (float(real.mean()) - self._usual_gap)

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {"usual_gap": self._usual_gap, "gaps_seen": self._gaps_seen}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        self._usual_gap = float(state["usual_gap"])
        self._gaps_seen = int(state["gaps_seen"])
