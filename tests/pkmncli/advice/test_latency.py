"""Whether a model answers in time: said once, when it is clear, with an interval that would fit."""

from __future__ import annotations

import pytest

from pkmncli.advice.latency import AnswerLatency


def judged(answers: int, outdated: int, lag_steps: float = 83.0) -> AnswerLatency:
    latency = AnswerLatency(outdated=outdated)
    for _ in range(answers):
        latency.add(lag_steps)
    return latency


@pytest.mark.parametrize(
    ("answers", "outdated", "says"),
    [(2, 2, False), (3, 3, True), (3, 2, False), (9, 8, False), (10, 6, True), (10, 5, False), (40, 39, True)],
)
def test_it_is_said_when_most_come_too_late_or_the_first_few_all_do(answers: int, outdated: int, says: bool) -> None:
    assert bool(judged(answers, outdated).complaint()) is says


def test_it_is_said_once_with_an_interval_that_fits() -> None:
    latency = judged(10, 9)
    assert "(9 of 10): an environment takes about 83 steps while one answer is computed" in (
        told := latency.complaint()
    )
    assert "--llm-interval 90" in told
    assert latency.complaint() == ""


def test_prompts_say_one_of_few_lags() -> None:
    assert [judged(1, 0, lag).rounded_lag for lag in (0, 7, 8, 80, 95)] == [0, 0, 8, 64, 128]
