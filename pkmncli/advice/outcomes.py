"""Rewards after the steps of each side in an episode: the worth of advice against that of the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

HORIZON = 8
"""Steps whose rewards a step is judged by, its own included; the same as in the analysis of decisions."""

LEAST_STEPS = 8
"""Minimum number of a side's steps to judge it."""

_SIDES = {"llm": Source.LLM, "rule": Source.RULE}


def side_outcomes(sources: NDArray[np.uint8], rewards: NDArray[np.float64]) -> dict[str, Any]:
    """Return efficiency and success of the language model's steps and of the rules' steps.

    Args:
        sources: (steps,), the source of each step of the episode.
        rewards: (steps,), their rewards.

    Returns:
        ``llm_efficiency`` and ``rule_efficiency``, the mean reward that followed, per step; ``llm_success_rate`` and
        ``rule_success_rate``, the share of steps followed by a reward above 0. None for a side with too few steps.
    """
    sums = np.concatenate(([0.0], np.cumsum(rewards, dtype=np.float64)))
    begins = np.arange(len(rewards))
    with np.errstate(invalid="ignore"):  # infinite rewards are reported elsewhere
        followed = sums[np.minimum(begins + HORIZON, len(rewards))] - sums[begins]
    found: dict[str, Any] = {}
    for side, source in _SIDES.items():
        own = followed[sources == source]
        enough = len(own) >= LEAST_STEPS
        found[f"{side}_efficiency"] = float(own.mean()) / HORIZON if enough else None
        # Differences of sums are not exactly 0 if no reward followed.
        found[f"{side}_success_rate"] = float((own > 1e-9).mean()) if enough else None
    return found
