"""Measures of a few noisy scores, and how far chance may have decided them.

All are those of Agarwal et al. 2021, "Deep reinforcement learning at the edge of the statistical precipice", and equal
what the authors' library rliable computes (a test holds them against it). Scores come by task, since seeds are drawn
anew within each task and never across: a list with one array for each task, of one score for each run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Scores = Sequence[NDArray[np.float64]]
"""An array (runs of that task,) for each task."""

DRAWS = 50_000
"""Times that the runs are drawn anew for an interval, as in rliable."""

CONFIDENCE = 0.95
SEED = 0
"""Of the drawing: the same scores give the same interval each time."""

_CELLS_AT_ONCE = 2_000_000
"""Drawn scores held at once, which keeps the memory small however many runs there are."""


def interquartile_mean(values: ArrayLike) -> NDArray[np.float64]:
    """Mean of the middle half along the last axis (..., n), without the floor(n / 4) lowest and highest values.

    Of fewer than four values it is their mean.
    """
    ordered = np.sort(np.asarray(values, np.float64), axis=-1)
    cut = ordered.shape[-1] // 4
    return np.asarray(ordered[..., cut : ordered.shape[-1] - cut].mean(axis=-1))


def mean(values: ArrayLike) -> NDArray[np.float64]:
    """Mean along the last axis."""
    return np.asarray(np.asarray(values, np.float64).mean(axis=-1))


def optimality_gap(values: ArrayLike, target: float) -> NDArray[np.float64]:
    """How much is lacking to ``target`` on average, along the last axis; what is above it makes up for nothing."""
    return np.asarray(target - np.minimum(values, target).mean(axis=-1))


def performance_profile(values: ArrayLike, thresholds: ArrayLike) -> NDArray[np.float64]:
    """Share of the values along the last axis above each of the thresholds (t,): (..., t)."""
    above = np.asarray(values)[..., None, :] > np.asarray(thresholds)[:, None]
    return np.asarray(above.mean(axis=-1))


def bootstrap_interval(
    scores: Scores,
    measure: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    *,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The interval of a measure by the stratified bootstrap: percentiles over runs drawn with repetition in each task.

    Args:
        scores: by task.
        measure: of drawn scores of all tasks together, (draws, runs), along the last axis.
        draws: how often they are drawn.
        confidence: share of the draws within the interval.
        seed: of the drawing.

    Returns:
        The lower and the upper end, each of the shape that the measure has for one draw.
    """
    random = np.random.default_rng(seed)
    found = []
    for count in _portions(draws, sum(map(len, scores))):
        drawn = [task[random.integers(len(task), size=(count, len(task)))] for task in scores]
        found.append(measure(np.concatenate(drawn, axis=1)))
    return _ends(np.concatenate(found), confidence)


def probability_of_improvement(better: Scores, worse: Scores) -> float:
    """Chance that a run of the first kind scores above one of the second; ties count half. The mean over tasks.

    It is the statistic of Mann and Whitney 1947, divided by the number of pairs.
    """
    return float(np.mean([_wins(one, other).mean() for one, other in zip(better, worse, strict=True)]))


def improvement_interval(
    better: Scores,
    worse: Scores,
    *,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> tuple[float, float]:
    """The interval of :func:`probability_of_improvement`, with the runs of both kinds drawn apart from each other."""
    random = np.random.default_rng(seed)
    by_task = []
    for one, other in zip(better, worse, strict=True):
        # How often each run was drawn says all: with w the table of wins, a draw's probability is c w d / pairs.
        drawn = random.multinomial(len(one), [1 / len(one)] * len(one), size=draws)
        drawn_others = random.multinomial(len(other), [1 / len(other)] * len(other), size=draws)
        by_task.append(((drawn @ _wins(one, other)) * drawn_others).sum(axis=1) / (len(one) * len(other)))
    low, high = _ends(np.mean(by_task, axis=0), confidence)
    return float(low), float(high)


def area_under_curve(steps: ArrayLike, values: ArrayLike, start: float, end: float) -> float:
    """Mean height of a learning curve between two steps: the area below its straight lines, over their distance.

    Args:
        steps: (n,) at which it was measured, rising.
        values: (n,) what was measured. Before the first and after the last, the curve is level.
        start: first step that counts.
        end: last step that counts, above ``start``.
    """
    steps, values = np.asarray(steps, np.float64), np.asarray(values, np.float64)
    inside = (steps > start) & (steps < end)
    at = np.concatenate([[start], steps[inside], [end]])
    return float(np.trapezoid(np.interp(at, steps, values), at) / (end - start))


def _wins(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """(runs, other runs): 1 where the one scores above the other, 0.5 where they are even."""
    return np.asarray((one[:, None] > other) + 0.5 * (one[:, None] == other))


def _portions(draws: int, runs: int) -> Iterator[int]:
    """The draws in portions that fit into memory."""
    most = max(1, _CELLS_AT_ONCE // max(runs, 1))
    while draws > 0:
        yield min(draws, most)
        draws -= most


def _ends(found: NDArray[np.float64], confidence: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    outside = 100 * (1 - confidence) / 2
    low, high = np.percentile(found, [outside, 100 - outside], axis=0)
    return low, high
