"""Actions drawn by their probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def pick(probabilities: NDArray[np.float64], dice: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return actions (n,) drawn by ``dice`` (n,) in 0..1; one of probability 0 never is.

    Args:
        probabilities: (n, num_actions), above 0 for one action at least; of any sum.
        dice: a number for each row.
    """
    heights = probabilities.cumsum(axis=1)
    # Below the last height whatever rounding does, so that there always is an action above.
    thresholds = np.minimum(dice * heights[:, -1], np.nextafter(heights[:, -1], 0))
    return np.asarray((heights > thresholds[:, None]).argmax(axis=1), np.int64)
