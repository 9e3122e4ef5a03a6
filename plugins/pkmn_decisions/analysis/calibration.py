"""Agreement of confidence with outcomes, for each source of decisions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pkmn_decisions.analysis.conditions import Condition, where
from pkmn_decisions.store.names import SOURCE_NAMES
from pkmn_decisions.store.view import RunViews

BINS = 10
"""Number of equal parts of the confidences from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Decisions of similar confidence."""

    judged: int
    confidence: float
    """Mean confidence of its decisions."""
    success_rate: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Calibration of one source of decisions."""

    source: str
    judged: int
    confidence: float
    """Mean confidence."""
    success_rate: float
    bins: tuple[Bin | None, ...]
    """Bins, one for each tenth of the confidences, None if it has no decisions."""

    @property
    def error(self) -> float:
        """Expected calibration error: the mean distance of confidence and success rate, bin by bin.

        Naeini, Cooper and Hauskrecht, "Obtaining well calibrated probabilities using Bayesian binning", 2015.
        """
        found = [one for one in self.bins if one]
        return sum(one.judged * abs(one.confidence - one.success_rate) for one in found) / self.judged

    def as_dict(self) -> dict[str, Any]:
        """Return plain values; ``from`` and ``to`` are the confidences of a bin."""
        return {
            "source": self.source,
            "judged": self.judged,
            "confidence": self.confidence,
            "success_rate": self.success_rate,
            "expected_calibration_error": self.error,
            "bins": [
                {
                    "from": number / BINS,
                    "to": (number + 1) / BINS,
                    "judged": one.judged,
                    "confidence": one.confidence,
                    "success_rate": one.success_rate,
                }
                for number, one in enumerate(self.bins)
                if one
            ],
        }


def calibrate(views: RunViews, conditions: Sequence[Condition]) -> list[Calibration]:
    """Return the calibration of each source, in the order of :class:`pkmncli.api.Source`."""
    condition, parameters = where(conditions)
    # A table by hand or from elsewhere may have values above 1, or not a number. The functions least and greatest would
    # take three times as long as everything else.
    sure = "CASE WHEN confidence > 1 THEN 1 WHEN confidence > 0 THEN confidence ELSE 0 END"
    _, rows = views.query(
        f"""
        SELECT source, floor(({sure}) * {BINS})::UTINYINT AS bin, count(near_return), sum({sure}),
            count(*) FILTER (success)
        FROM judged_decisions WHERE ({condition}) AND near_return IS NOT NULL AND isfinite(confidence) GROUP BY ALL
        """,
        parameters,
    )
    by_source: dict[int, dict[int, tuple[int, float, int]]] = defaultdict(dict)
    for source, number, judged, confidence, successes in rows:
        # Full confidence belongs to the last part.
        last = min(number, BINS - 1)
        before = by_source[source].get(last, (0, 0.0, 0))
        by_source[source][last] = (before[0] + judged, before[1] + confidence, before[2] + successes)
    return [_calibration(source, by_source[source]) for source in sorted(by_source)]


def _calibration(source: int, sums: dict[int, tuple[int, float, int]]) -> Calibration:
    judged = sum(count for count, _, _ in sums.values())
    bins = [
        Bin(sums[number][0], sums[number][1] / sums[number][0], sums[number][2] / sums[number][0])
        if number in sums
        else None
        for number in range(BINS)
    ]
    return Calibration(
        SOURCE_NAMES.get(source, str(source)),
        judged,
        sum(confidence for _, confidence, _ in sums.values()) / judged,
        sum(successes for _, _, successes in sums.values()) / judged,
        tuple(bins),
    )
