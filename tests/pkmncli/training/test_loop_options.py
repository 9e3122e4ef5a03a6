"""Intervals: of steps and of episodes, the same however many environments step at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkmncli.training.loop_options import Interval, Progress

INTERVALS = st.integers(1, 50)


@given(INTERVALS, st.lists(st.integers(1, 8), min_size=1, max_size=60))
def test_it_comes_as_often_whatever_is_counted_at_once(interval: int, strides: list[int]) -> None:
    steps, times = 0, 0
    for stride in strides:
        before, steps = steps, steps + stride
        times += Interval(steps=interval).passed(Progress(before, 0), Progress(steps, 0))
    most = steps // interval
    assert times <= most
    if max(strides) <= interval:
        assert times == most


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        (Interval(steps=10), True),
        (Interval(steps=11), False),
        (Interval(episodes=3), True),
        (Interval(steps=11, episodes=3), True),
        (Interval(steps=11, episodes=4), False),
        (Interval(), False),
    ],
)
def test_steps_and_episodes_count_beside_each_other(interval: Interval, expected: bool) -> None:
    assert interval.passed(Progress(9, 2), Progress(10, 3)) is expected


def test_without_either_it_never_comes() -> None:
    assert not Interval().ever
    assert Interval(episodes=1).ever
