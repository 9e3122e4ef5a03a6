"""Random choice of actions by their probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def pick(probabilities: NDArray[np.float64], dice: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return actions (n,) sampled with ``dice`` (n,) in 0..1; an action of probability 0 is never chosen.

    Args:
        probabilities: (n, num_actions), at least one of each row above 0; rows need not sum to 1.
        dice: one random number per row.
    """
    heights = probabilities.cumsum(axis=1)
    # Strictly below the last height, despite rounding: so that argmax always finds an action.
    thresholds = np.minimum(dice * heights[:, -1], np.nextafter(heights[:, -1], 0))
    return np.asarray((heights > thresholds[:, None]).argmax(axis=1), np.int64)
