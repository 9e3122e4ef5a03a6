"""What followed on the steps of each side in an episode: the worth of advice against that of the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pkmncli.api import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

HORIZON = 8
"""Steps whose rewards a step is judged by, its own included; the same as in the analysis of decisions."""

LEAST_STEPS = 8
"""Fewer steps of a side say nothing about it."""

_SIDES = {"llm": Source.LLM, "rule": Source.RULE}


def side_outcomes(sources: NDArray[np.uint8], rewards: NDArray[np.float64]) -> dict[str, Any]:
    """Efficiency and success of the language model's steps and the rules'.

    Args:
        sources: (steps,), who decided each step of the episode.
        rewards: (steps,), what each earned.

    Returns:
        ``llm_efficiency`` and ``rule_efficiency``, the mean reward that followed, by step; ``llm_success_rate`` and
        ``rule_success_rate``, the share of steps on which more followed than nothing. None for a side that hardly
        acted.
    """
    sums = np.concatenate(([0.0], np.cumsum(rewards, dtype=np.float64)))
    begins = np.arange(len(rewards))
    with np.errstate(invalid="ignore"):  # a reward that is infinite is told elsewhere
        followed = sums[np.minimum(begins + HORIZON, len(rewards))] - sums[begins]
    found: dict[str, Any] = {}
    for side, source in _SIDES.items():
        own = followed[sources == source]
        enough = len(own) >= LEAST_STEPS
        found[f"{side}_efficiency"] = float(own.mean()) / HORIZON if enough else None
        # Differences of sums are not exactly 0 where nothing followed.
        found[f"{side}_success_rate"] = float((own > 1e-9).mean()) if enough else None
    return found
