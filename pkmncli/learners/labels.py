"""Labels of steps: the actions that the advised side took, or would have taken.

A *label* is the action that the advised side took in a step or would have taken there. Labels of the learner's own
steps show what to do in the situations that its actions lead to: dataset aggregation (Ross, Gordon and Bagnell 2011, "A
reduction of imitation learning and structured prediction to no-regret online learning").
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pkmncli.api import Source

NO_LABEL = -1


def labels_of(
    actions: NDArray[np.int64],
    sources: NDArray[np.uint8],
    advised: NDArray[np.int64],
    demonstrations: Literal["every_step", "pressed"],
) -> NDArray[np.int64]:
    """Return the action that each step demonstrates, (n,); -1 for no demonstration.

    Args:
        actions: (n,) actions taken.
        sources: (n,) who chose them, as :class:`pkmncli.api.Source`.
        advised: (n,) actions that the advised side would have taken; -1 if unknown.
        demonstrations: ``pressed``: only steps whose action the advised side chose; ``every_step``: also steps for
            which the advised side's action is known.
    """
    others = advised if demonstrations == "every_step" else np.int64(NO_LABEL)
    return np.where((sources == Source.RULE) | (sources == Source.LLM), actions, others)
