"""Labels of steps: the actions that the advised side pressed, or would have pressed.

A *label* is the action that the advised side took in a step or would have taken there. Labels of steps that the learner
pressed itself show what to do where its own presses lead: dataset aggregation (Ross, Gordon and Bagnell 2011, "A
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
    """Return the action that each step demonstrates, (n,); -1 where it demonstrates none.

    Args:
        actions: (n,) what was pressed.
        sources: (n,) who pressed, a :class:`pkmncli.api.Source`.
        advised: (n,) what the advised side would have pressed; -1 where it is not known.
        demonstrations: ``pressed`` for steps alone that the advised side pressed, ``every_step`` for those too where it
            is known what it would have pressed.
    """
    others = advised if demonstrations == "every_step" else np.int64(NO_LABEL)
    return np.where((sources == Source.RULE) | (sources == Source.LLM), actions, others)
