"""Comparison of an option with all others in its situation: rates, means, and a test of the means.

An option is an action, or a source of decisions. The test and its variance are those of
:mod:`pkmn_decisions.analysis.significance`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pkmn_decisions.analysis.significance import (
    FEWEST_CLUSTERS,
    NORMAL_95,
    adjusted,
    half_interval,
    is_significant,
    p_value,
)
from pkmn_decisions.store.names import OUTCOME_NAMES, SOURCE_NAMES
from pkmn_decisions.store.view import RunViews

_TESTED = (2, 4, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19)
"""Columns of the query, counted from the option, that :func:`_test` takes, in its order."""

_WHOLE, _COMPARABLE, _BY_SOURCE = 20, 21, 22
"""Columns of the sum of returns, the weight of the comparison, and the first count of a source."""


@dataclass(frozen=True, slots=True)
class Option:
    """Option in one situation. Rates and means are of the ``judged`` decisions, whose outcome is known."""

    situation: tuple[int, ...]
    number: int
    """Number of the action, or of the source."""
    frequency: int
    judged: int
    successes: int
    mean_reward: float
    """Mean reward of the steps themselves."""
    mean_return: float | None
    sources: dict[str, int]
    """Source -> number of decisions."""
    others_judged: int
    others_successes: int
    difference: float | None
    """Mean return minus that of the others, at the same stage of the game if that is known.

    None if there are no others, or none at any stage of this option.
    """
    clusters: float
    """Effective number of clusters of the smaller side."""
    adjusted_p: float | None
    """Adjusted p value; None if nothing could be tested."""
    outcomes: dict[str, int] = field(default_factory=dict)
    """Outcome -> number of decisions."""
    statistic: float | None = None
    """Difference over its standard error; None if nothing could be tested."""

    @property
    def success_rate(self) -> float | None:
        """Share of the judged decisions that succeeded."""
        return self.successes / self.judged if self.judged else None

    @property
    def others_rate(self) -> float | None:
        """Success rate of all other options in the situation."""
        return self.others_successes / self.others_judged if self.others_judged else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson score interval of the success rate, 95%."""
        return wilson(self.successes, self.judged)

    @property
    def lift(self) -> float | None:
        """Success rate over that of the others; None if there are none, or none succeeded."""
        rate, others = self.success_rate, self.others_rate
        return rate / others if rate is not None and others else None

    @property
    def others_return(self) -> float | None:
        """Mean return of the others, with which :attr:`mean_return` is compared."""
        if self.mean_return is None or self.difference is None:
            return None
        return self.mean_return - self.difference

    @property
    def difference_interval(self) -> tuple[float, float] | None:
        """95% interval of :attr:`difference`; None if nothing could be tested."""
        if self.difference is None or not self.statistic:
            return None
        half = half_interval(self.clusters) * abs(self.difference / self.statistic)
        return self.difference - half, self.difference + half

    @property
    def significant(self) -> bool:
        """True if the difference is more than chance, corrected for all comparisons of the question."""
        return is_significant(self.adjusted_p)

    @property
    def stake(self) -> float:
        """Total of the difference over all decisions of this option."""
        return abs(self.difference or 0.0) * self.judged


def wilson(successes: int, tries: int) -> tuple[float, float] | None:
    """Return the score interval of a rate, 95% (Wilson, 1927, JASA 22:209-212); None without tries."""
    if not tries:
        return None
    rate = successes / tries
    scale = 1 + NORMAL_95**2 / tries
    center = (rate + NORMAL_95**2 / (2 * tries)) / scale
    half = NORMAL_95 * math.sqrt(rate * (1 - rate) / tries + NORMAL_95**2 / (4 * tries * tries)) / scale
    return max(center - half, 0.0), min(center + half, 1.0)


def compare_options(
    views: RunViews,
    table: str,
    parts: int,
    option: str,
    min_frequency: int,
    shown: tuple[str, Sequence[Any]] = ("true", ()),
    *,
    rests: bool = True,
) -> list[Option]:
    """Compare the options of each situation.

    Args:
        views: views that have the table.
        table: sums with the columns of :data:`pkmn_decisions.analysis.tallies.TABLE`.
        parts: number of columns ``s0``, ``s1``, ... that distinguish situations.
        option: the column that holds the option.
        min_frequency: minimum number of times; rarer ones are not tested either, but count among the others.
        shown: a condition on the options to return, as SQL and its parameters.
        rests: True to compare what remains beyond the mean of a stage of the game, as in the table. A table
            without rests has neither stages nor outcomes.

    The difference of an option from the others is its remainder beyond the means of its stages, over the sum of ``n m /
    (n + m)`` of all stages, with ``n`` decisions for it and ``m`` for others: the mean of the stages' differences,
    weighted by the information of each stage.
    """
    situation = ", ".join(f"s{index}" for index in range(parts))
    by_source = ", ".join(f"sum(frequency) FILTER (source = {number}) AS by_{number}" for number in SOURCE_NAMES)
    compared, compared_squares = ("rest", "rest_squares") if rests else ("total", "squares")
    stage = f"{situation}, milestones" if rests else situation
    led_to = "".join(f", sum(outcome_{number}) AS outcome_{number}" for number in OUTCOME_NAMES) if rests else ""
    outcomes = "".join(f", outcome_{number}" for number in OUTCOME_NAMES) if rests else ""
    _, rows = views.query(
        f"""
        WITH cells AS (
            SELECT {situation}, {option} AS option, cluster, sum(judged)::DOUBLE AS judged,
                sum({compared}) AS total
            FROM {table} GROUP BY ALL
        ), clusters AS (
            SELECT {situation}, cluster, sum(judged) AS judged, sum(total) AS total FROM cells GROUP BY ALL
        ), means AS (
            SELECT {situation}, coalesce(sum(total) / nullif(sum(judged), 0), 0) AS mean, sum(judged) AS judged,
                sum(judged * judged) AS judged_squares
            FROM clusters GROUP BY ALL
        ), residuals AS (
            SELECT {situation}, cluster, c.judged, c.total - mean * c.judged AS rest
            FROM clusters c JOIN means USING ({situation})
        ), spread AS (
            SELECT {situation}, sum(rest * rest) AS rest_squares, sum(rest * judged) AS rest_judged
            FROM residuals GROUP BY ALL
        ), own AS (
            SELECT {situation}, option, sum(c.judged * c.judged) AS own_squares, sum(c.judged * r.judged) AS products,
                sum(own * own) AS own_rests, sum(own * rest) AS shared_rests, sum(own * c.judged) AS own_own,
                sum(own * r.judged) AS own_all, sum(rest * c.judged) AS rest_own
            FROM (SELECT c.*, c.total - mean * c.judged AS own FROM cells c JOIN means USING ({situation})) c
            JOIN residuals r USING ({situation}, cluster) GROUP BY ALL
        ), options AS (
            SELECT {situation}, {option} AS option, sum(frequency) AS frequency, sum(judged) AS judged,
                sum(successes) AS successes, sum({compared}) AS total, sum({compared_squares}) AS squares,
                sum(reward) AS reward, sum(total) AS whole,
                {by_source}{led_to}
            FROM {table} GROUP BY ALL
        ), stages AS (
            SELECT {stage}, {option} AS option, sum(judged)::DOUBLE AS judged FROM {table} GROUP BY ALL
        ), comparable AS (
            SELECT {situation}, option, sum(judged * (all_judged - judged) / nullif(all_judged, 0)) AS comparable
            FROM (SELECT *, sum(judged) OVER (PARTITION BY {stage}) AS all_judged FROM stages) GROUP BY ALL
        ), all_options AS (
            SELECT *, sum(judged) OVER alike AS all_judged, sum(successes) OVER alike AS all_successes,
                sum(total) OVER alike AS all_total, sum(squares) OVER alike AS all_squares
            FROM options WINDOW alike AS (PARTITION BY {situation})
        )
        SELECT {situation}, option, frequency, judged, successes, total, reward, all_judged, all_successes, all_total,
            all_squares, own_squares, products, judged_squares, own_rests, shared_rests, rest_squares, own_own,
            own_all, rest_own, rest_judged,
            whole, comparable, {", ".join(f"coalesce(by_{number}, 0)" for number in SOURCE_NAMES)}{outcomes}
        FROM all_options JOIN own USING ({situation}, option) JOIN comparable USING ({situation}, option)
        JOIN spread USING ({situation})
        JOIN (SELECT {situation}, judged_squares FROM means) USING ({situation})
        WHERE frequency >= ? AND {shown[0]} ORDER BY {situation}, option
        """,
        [min_frequency, *shown[1]],
    )
    # A sum is NULL if no decision of the situation is judged yet, as at the end of a run.
    tests = [_test(*(float(row[parts + index] or 0) for index in _TESTED)) for row in rows]
    levels = adjusted([p for p, _, _ in tests])
    return [
        _option(row[:parts], row[parts:], clusters, level, statistic)
        for row, (_, clusters, statistic), level in zip(rows, tests, levels, strict=True)
    ]


def _test(
    judged: float,
    total: float,
    all_judged: float,
    all_total: float,
    all_squares: float,
    own_squares: float,
    products: float,
    judged_squares: float,
    own_rests: float,
    shared_rests: float,
    rest_squares: float,
    own_own: float,
    own_all: float,
    rest_own: float,
    rest_judged: float,
) -> tuple[float | None, float, float | None]:
    """Return p value, effective clusters of the smaller side, and statistic; None for what cannot be tested.

    The sums over clusters are of products of two of: decisions with the option, all decisions of the situation, and the
    returns of either minus the common mean (its rest).
    """
    others = all_judged - judged
    if not judged or not others:
        return None, 0.0, None
    shared = products - own_squares
    clusters = min(judged**2 / own_squares, others**2 / (judged_squares - products - shared))
    if clusters < FEWEST_CLUSTERS:
        return None, clusters, None
    mean, own_mean, others_mean = all_total / all_judged, total / judged, (all_total - total) / others
    # Cluster by cluster, with the residual of each side's mean: own / judged - others / others_judged.
    terms = (1 / judged + 1 / others, -1 / others)
    counts = (-(own_mean - mean) / judged - (others_mean - mean) / others, (others_mean - mean) / others)
    observed = (
        terms[0] ** 2 * own_rests
        + terms[1] ** 2 * rest_squares
        + counts[0] ** 2 * own_squares
        + counts[1] ** 2 * judged_squares
        + 2 * terms[0] * (terms[1] * shared_rests + counts[0] * own_own + counts[1] * own_all)
        + 2 * terms[1] * (counts[0] * rest_own + counts[1] * rest_judged)
        + 2 * counts[0] * counts[1] * products
    )
    # An option that never failed, or never worked, has no variance: then that of the situation counts, with the
    # correlation of its decisions within clusters.
    spread = all_squares / all_judged - mean**2
    if spread <= 1e-12 * all_squares / all_judged:
        return 1.0, clusters, None
    correlation = (rest_squares / spread - all_judged) / max(judged_squares - all_judged, 1.0)
    correlation = min(max(correlation, 0.0), 1.0)
    own = (1 + (own_squares / judged - 1) * correlation) / judged
    rest = (1 + ((judged_squares - products - shared) / others - 1) * correlation) / others
    expected = spread * (own + rest - 2 * correlation * shared / (judged * others))
    variance = max(observed * clusters / (clusters - 1), expected)
    statistic = (own_mean - others_mean) / math.sqrt(variance)
    return p_value(statistic, clusters), clusters, statistic


def _option(
    situation: tuple[Any, ...], row: tuple[Any, ...], clusters: float, level: float | None, statistic: float | None
) -> Option:
    number, frequency, judged, successes, total, reward, all_judged, all_successes, all_total = row[:9]
    by_outcome = row[_BY_SOURCE + len(SOURCE_NAMES) :]
    by_source, whole, comparable = row[_BY_SOURCE : _BY_SOURCE + len(SOURCE_NAMES)], row[_WHOLE], row[_COMPARABLE]
    others = all_judged - judged
    return Option(
        situation=tuple(map(int, situation)),
        number=int(number),
        frequency=int(frequency),
        judged=int(judged),
        successes=int(successes),
        mean_reward=reward / frequency,
        mean_return=whole / judged if judged else None,
        sources={name: int(count) for name, count in zip(SOURCE_NAMES.values(), by_source, strict=True) if count},
        others_judged=int(others),
        others_successes=int(all_successes - successes),
        difference=(total - judged * all_total / all_judged) / comparable if comparable else None,
        clusters=clusters,
        adjusted_p=level,
        outcomes={name: int(count) for name, count in zip(OUTCOME_NAMES.values(), by_outcome, strict=False) if count},
        statistic=statistic,
    )
