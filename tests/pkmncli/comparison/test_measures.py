"""The measures of a comparison equal those of rliable, the library of the authors who proposed them.

The expected values were computed once with rliable 1.2.0 (arch 7.2.0, scipy 1.17.1, pandas 2.3.3, numpy 2.4.6): it is
too heavy to install for a test. Its intervals come from 50,000 random samples (20,000 for profile and improvement), so
they match as closely as chance allows; everything else matches exactly.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pkmncli.comparison.measures import (
    area_under_curve,
    bootstrap_interval,
    improvement_interval,
    interquartile_mean,
    mean,
    optimality_gap,
    performance_profile,
    probability_of_improvement,
)

# Runs down, tasks across.
A = np.array(
    [
        *([0.31, 1.24, 0.88], [0.42, 0.97, 1.35], [0.18, 1.41, 0.79], [0.55, 1.08, 1.02], [0.27, 0.66, 1.61]),
        *([0.49, 1.19, 0.93], [0.36, 1.52, 0.71], [0.61, 0.84, 1.17], [0.22, 1.33, 1.26], [0.44, 1.02, 0.58]),
    ]
)
B = np.array(
    [
        *([0.29, 0.91, 0.64], [0.33, 0.97, 0.87], [0.41, 0.58, 0.93]),
        *([0.25, 1.11, 0.71], [0.38, 0.73, 0.55], [0.16, 0.88, 1.04]),
    ]
)
THRESHOLDS = [0.25, 0.5, 0.75, 1.0, 1.25]


def tasks(scores: np.ndarray) -> list[np.ndarray]:
    return list(scores.T)


@pytest.mark.parametrize(
    ("scores", "point", "low", "high"),
    [
        (A, 0.843125, 0.741875, 0.96125),
        (B, 0.666, 0.577, 0.759),
        (A[:, :1], 0.3816666667, 0.28, 0.4883333333),
        (B[:5, 1:2], 0.87, 0.63, 1.0633333333),
    ],
)
def test_interquartile_mean(scores: np.ndarray, point: float, low: float, high: float) -> None:
    assert interquartile_mean(scores.ravel()) == pytest.approx(point, abs=1e-9)
    assert bootstrap_interval(tasks(scores), interquartile_mean) == pytest.approx((low, high), abs=0.004)


@pytest.mark.parametrize(
    ("scores", "mean_interval", "gap", "gap_interval"),
    [
        (A, (0.763333, 0.932675), 0.2596666667, (0.215, 0.307333)),
        (B, (0.585, 0.718333), 0.3561111111, (0.296111, 0.418889)),
    ],
)
def test_mean_and_optimality_gap(
    scores: np.ndarray, mean_interval: tuple[float, float], gap: float, gap_interval: tuple[float, float]
) -> None:
    assert optimality_gap(scores.ravel(), 1.0) == pytest.approx(gap, abs=1e-9)
    assert bootstrap_interval(tasks(scores), mean) == pytest.approx(mean_interval, abs=0.003)
    found = bootstrap_interval(tasks(scores), lambda drawn: optimality_gap(drawn, 1.0))
    assert found == pytest.approx(gap_interval, abs=0.003)


@pytest.mark.parametrize(
    ("scores", "shares", "low", "high"),
    [
        (A, (28 / 30, 22 / 30, 17 / 30, 12 / 30, 6 / 30), (25, 20, 14, 8, 2), (30, 25, 20, 16, 10)),
        (B, (16 / 18, 12 / 18, 7 / 18, 2 / 18, 0), (14, 12, 4, 0, 0), (18, 12, 10, 5, 0)),
    ],
)
def test_performance_profile(
    scores: np.ndarray, shares: tuple[float, ...], low: tuple[int, ...], high: tuple[int, ...]
) -> None:
    assert performance_profile(scores.ravel(), THRESHOLDS).tolist() == pytest.approx(shares)
    ends = bootstrap_interval(tasks(scores), lambda drawn: performance_profile(drawn, THRESHOLDS), draws=20_000)
    for found, expected in zip(ends, (low, high), strict=True):
        # Shares move in steps of one run, so an end between two of them may fall to either side.
        assert np.abs(found * scores.size - expected).max() <= 1.0
        assert np.count_nonzero(np.abs(found * scores.size - expected) > 0.5) <= 1


def test_probability_of_improvement() -> None:
    assert probability_of_improvement(tasks(A), tasks(B)) == pytest.approx(0.7361111111)
    assert probability_of_improvement(tasks(B), tasks(A)) == pytest.approx(0.2638888889)
    assert improvement_interval(tasks(A), tasks(B)) == pytest.approx((0.5833333, 0.8666667), abs=0.01)
    assert improvement_interval(tasks(B), tasks(A)) == pytest.approx((0.1333333, 0.4111111), abs=0.01)


def test_even_scores_are_half_an_improvement() -> None:
    same = [np.array([1.0, 2.0, 2.0])]
    assert probability_of_improvement(same, same) == 0.5


def test_the_interval_is_that_of_all_possible_draws() -> None:
    """Four runs have 256 bootstrap samples, so their interval is known."""
    scores = np.array([1.0, 2.0, 4.0, 8.0])
    everything = np.percentile([np.mean(drawn) for drawn in itertools.product(scores, repeat=4)], [2.5, 97.5])
    assert bootstrap_interval([scores], mean) == pytest.approx(everything, abs=0.01)


def test_tasks_are_never_mixed() -> None:
    """With one run in each task all samples are equal, however different the tasks are."""
    assert bootstrap_interval([np.array([1.0]), np.array([9.0])], mean) == (5.0, 5.0)


def test_an_interval_is_the_same_each_time_and_in_any_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = bootstrap_interval(tasks(A), interquartile_mean, draws=3_000)
    assert bootstrap_interval(tasks(A), interquartile_mean, draws=3_000) == whole
    monkeypatch.setattr("pkmncli.comparison.measures._CELLS_AT_ONCE", 9_000)
    assert bootstrap_interval(tasks(A), interquartile_mean, draws=3_000) == pytest.approx(whole, abs=0.02)


def test_area_under_curve() -> None:
    assert area_under_curve([0, 10], [0.0, 4.0], 0, 10) == 2.0
    assert area_under_curve([0, 10, 30], [0.0, 4.0, 4.0], 5, 20) == pytest.approx((5 * 3 + 10 * 4) / 15)
    assert area_under_curve([5, 10], [2.0, 2.0], 0, 100) == 2.0, "level before the first and after the last"
