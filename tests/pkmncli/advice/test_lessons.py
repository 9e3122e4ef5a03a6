"""Lessons: advice that always failed is held back and reported, successes are reported, and both survive a resume."""

from __future__ import annotations

import json

from pkmncli.advice.lessons import LEAST_TRIES, RETRY_EVERY, Lessons, Situation, deed_of
from pkmncli.api import Advice

HERE, THERE = Situation(0x201, 1, 0), Situation(0x202, 1, 0)


def learned(*rewards: float, deed: str = "press a") -> Lessons:
    lessons = Lessons()
    for reward in rewards:
        lessons.add(HERE, deed, reward)
    return lessons


def test_what_always_failed_is_held_back_where_it_failed_and_tried_now_and_then() -> None:
    lessons = learned(*[0.0] * LEAST_TRIES)
    assert not lessons.holds_back(THERE, "press a")
    assert not lessons.holds_back(HERE, "press b")
    held = [lessons.holds_back(HERE, "press a") for _ in range(3 * RETRY_EVERY)]
    assert held.count(False) == 3
    assert held[0]


def test_too_few_tries_or_one_success_hold_nothing_back() -> None:
    assert not learned(*[0.0] * (LEAST_TRIES - 1)).holds_back(HERE, "press a")
    assert not learned(*[0.0] * 20, 0.5).holds_back(HERE, "press a")


def test_a_success_on_a_retry_ends_the_holding_back() -> None:
    lessons = learned(0.0, 0.0, 0.0)
    assert lessons.holds_back(HERE, "press a")
    lessons.add(HERE, "press a", 1.0)
    assert not any(lessons.holds_back(HERE, "press a") for _ in range(RETRY_EVERY))


def test_lines_tell_of_both_kinds_and_of_nothing_that_is_not_known_yet() -> None:
    lessons = learned(0.0, -1.0, 0.0, deed="fight")
    for reward in (2.0, 0.0, 1.0):
        lessons.add(HERE, "go to Fern Trail", reward)
    lessons.add(HERE, "heal", 9.0)
    assert lessons.lines(HERE) == [
        "fight: brought nothing here in 3 tries",
        "go to Fern Trail: brought something here in 2 of 3 tries",
    ]
    assert lessons.lines(THERE) == []


def test_a_run_that_goes_on_has_the_same_lessons() -> None:
    lessons = learned(0.0, 0.0, 0.0)
    lessons.holds_back(HERE, "press a")
    other = Lessons()
    other.load_state_dict(json.loads(json.dumps(lessons.state_dict())))
    for _ in range(RETRY_EVERY):
        assert other.holds_back(HERE, "press a") == lessons.holds_back(HERE, "press a")
    assert other.lines(HERE) == lessons.lines(HERE)


def test_the_same_advice_is_the_same_deed() -> None:
    press = Advice("out", presses=(4, 4, 0), reason="one")
    assert deed_of(press) == deed_of(Advice("elsewhere", presses=(4, 4, 0))) == "press up, up, a"
    walk = Advice("out", skill="go_to", arguments={"map": "Fern Trail", "x": 3, "y": 5})
    assert deed_of(walk) == "go to Fern Trail (3, 5)"
    assert deed_of(Advice("win", skill="fight")) == "fight"
