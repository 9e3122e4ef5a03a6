"""The action gap: how far the best action is above the next best."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def gaps_of(values: NDArray[np.floating[Any]], alone: float) -> NDArray[Any]:
    """Return the gap between the best and the second best action, (n,).

    Args:
        values: (n, num_actions), of which each row has at least one that is finite.
        alone: the gap where there is only one action.
    """
    if values.shape[1] == 1:
        return np.full(len(values), alone, values.dtype)
    top = np.partition(values, -2, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])
