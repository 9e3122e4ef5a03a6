"""Shares come with intervals, and the report names every milestone."""

from __future__ import annotations

import pytest

from pkmncli.api import EpisodeSummary
from pkmncli.training.evaluation.evaluation import report, wilson_interval


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        # values of the published formula, worked out by hand
        (0, 10, 0.0, 0.2775),
        (5, 10, 0.2366, 0.7634),
        (9, 10, 0.5958, 0.9821),
        (10, 10, 0.7225, 1.0),
    ],
)
def test_wilson_interval(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson_interval(successes, trials) == pytest.approx((low, high), abs=1e-4)


def test_nothing_tried_means_nothing_known() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_report_counts_milestones_and_outcomes() -> None:
    def played(reward: float, terminated: bool, **milestones: int) -> EpisodeSummary:
        return EpisodeSummary(0, 0, 1, 20, reward, terminated, "goal", 0.0, milestones, 0, success=terminated)

    result = report([played(1.0, False, out=4), played(3.0, True, out=8, lab=15)], ["out", "lab", "end"], "lab")
    assert (result["avg_reward"], result["std_reward"], result["goal_share"]) == (2.0, 1.0, 0.5)
    assert (result["goal"], result["reached"], result["goal_steps"]) == ("lab", 1, 20)
    assert (result["goal_low"], result["goal_high"]) == wilson_interval(1, 2)
    assert result["milestones"]["out"]["share"] == 1.0
    assert result["milestones"]["lab"]["median_step"] == 15
    assert result["milestones"]["end"]["episodes"] == 0
    assert result["milestones"]["end"]["median_step"] is None
