"""Measures of a few noisy scores, with bootstrap intervals.

All are those of Agarwal et al. 2021, "Deep reinforcement learning at the edge of the statistical precipice", and equal
the results of the authors' library rliable (a test compares them). Scores are grouped by task, since seeds are
resampled within each task and never across tasks: a list with one array per task, of one score per run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Scores = Sequence[NDArray[np.float64]]
"""Scores of a group: an array (runs of the task,) for each task."""

DRAWS = 50_000
"""Number of bootstrap samples for an interval, as in rliable."""

CONFIDENCE = 0.95
SEED = 0
"""Seed of the resampling: the same scores always give the same interval."""

_CELLS_AT_ONCE = 2_000_000
"""Resampled scores in memory at once; bounds memory for any number of runs."""


def interquartile_mean(values: ArrayLike) -> NDArray[np.float64]:
    """Return the mean of the middle half along the last axis (..., n), without the floor(n / 4) values at each end.

    Of fewer than four values it is their mean.
    """
    ordered = np.sort(np.asarray(values, np.float64), axis=-1)
    cut = ordered.shape[-1] // 4
    return np.asarray(ordered[..., cut : ordered.shape[-1] - cut].mean(axis=-1))


def mean(values: ArrayLike) -> NDArray[np.float64]:
    """Return the mean along the last axis."""
    return np.asarray(np.asarray(values, np.float64).mean(axis=-1))


def optimality_gap(values: ArrayLike, target: float) -> NDArray[np.float64]:
    """Return the mean shortfall from ``target`` along the last axis; values above the target do not compensate."""
    return np.asarray(target - np.minimum(values, target).mean(axis=-1))


def performance_profile(values: ArrayLike, thresholds: ArrayLike) -> NDArray[np.float64]:
    """Return the share of the values along the last axis above each of the thresholds (t,): (..., t)."""
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
    """Return a stratified bootstrap interval of a measure: percentiles over runs resampled within each task.

    Args:
        scores: by task.
        measure: of resampled scores of all tasks together, (draws, runs), along the last axis.
        draws: number of bootstrap samples.
        confidence: share of the samples within the interval.
        seed: of the resampling.

    Returns:
        The lower and the upper end, each of the measure's shape for one sample.
    """
    random = np.random.default_rng(seed)
    found = []
    for count in _portions(draws, sum(map(len, scores))):
        drawn = [task[random.integers(len(task), size=(count, len(task)))] for task in scores]
        found.append(measure(np.concatenate(drawn, axis=1)))
    return _ends(np.concatenate(found), confidence)


def probability_of_improvement(better: Scores, worse: Scores) -> float:
    """Return the probability that a run of the first kind scores above one of the second; ties count half.

    The mean over tasks. It is the statistic of Mann and Whitney 1947, divided by the number of pairs.
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
    """Return the interval of :func:`probability_of_improvement`; the runs of both kinds are resampled independently."""
    random = np.random.default_rng(seed)
    by_task = []
    for one, other in zip(better, worse, strict=True):
        # The count of each run in a sample suffices: with w the table of wins, its probability is c w d / pairs.
        drawn = random.multinomial(len(one), [1 / len(one)] * len(one), size=draws)
        drawn_others = random.multinomial(len(other), [1 / len(other)] * len(other), size=draws)
        by_task.append(((drawn @ _wins(one, other)) * drawn_others).sum(axis=1) / (len(one) * len(other)))
    low, high = _ends(np.mean(by_task, axis=0), confidence)
    return float(low), float(high)


def area_under_curve(steps: ArrayLike, values: ArrayLike, start: float, end: float) -> float:
    """Return the mean height of a learning curve between two steps: its area by straight lines, over their distance.

    Args:
        steps: (n,), rising.
        values: (n,), at these steps. Before the first and after the last, the curve is level.
        start: first step that counts.
        end: last step that counts, above ``start``.
    """
    steps, values = np.asarray(steps, np.float64), np.asarray(values, np.float64)
    inside = (steps > start) & (steps < end)
    at = np.concatenate([[start], steps[inside], [end]])
    return float(np.trapezoid(np.interp(at, steps, values), at) / (end - start))


def _wins(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (runs, other runs): 1 where the first scores above the other, 0.5 for a tie."""
    return np.asarray((one[:, None] > other) + 0.5 * (one[:, None] == other))


def _portions(draws: int, runs: int) -> Iterator[int]:
    """Yield the bootstrap samples in numbers that fit into memory."""
    most = max(1, _CELLS_AT_ONCE // max(runs, 1))
    while draws > 0:
        yield min(draws, most)
        draws -= most


def _ends(found: NDArray[np.float64], confidence: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    outside = 100 * (1 - confidence) / 2
    low, high = np.percentile(found, [outside, 100 - outside], axis=0)
    return low, high
