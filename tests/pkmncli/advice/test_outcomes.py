"""Rewards after the steps of each side."""

from __future__ import annotations

import numpy as np
import pytest

from pkmncli.advice.worth import HORIZON, side_outcomes
from pkmncli.api import Source


def test_a_step_is_judged_by_what_followed_on_it() -> None:
    """A reward at the end of a stretch of rules counts for the language model's steps just before it, too."""
    sources = np.array([Source.LLM] * 10 + [Source.RULE] * 10, np.uint8)
    rewards = np.zeros(20)
    rewards[12] = 4.0
    found = side_outcomes(sources, rewards)
    assert found["llm_success_rate"] == 0.5  # steps 5 to 9 have the reward within 8 steps
    assert found["rule_success_rate"] == 0.3
    assert found["llm_efficiency"] == pytest.approx(0.5 * 4 / HORIZON)
    assert found["rule_efficiency"] == pytest.approx(0.3 * 4 / HORIZON)


def test_losses_count_against_a_side_and_are_no_success() -> None:
    found = side_outcomes(np.full(8, Source.RULE, np.uint8), np.full(8, -1.0))
    assert found["rule_efficiency"] < 0
    assert found["rule_success_rate"] == 0


def test_a_side_that_hardly_acted_is_not_judged() -> None:
    sources = np.array([Source.RL] * 50 + [Source.LLM] * 7 + [Source.RULE] * 8, np.uint8)
    found = side_outcomes(sources, np.ones(65))
    assert (found["llm_efficiency"], found["llm_success_rate"]) == (None, None)
    assert found["rule_success_rate"] == 1.0


def test_an_episode_without_steps_has_no_outcomes() -> None:
    assert set(side_outcomes(np.array([], np.uint8), np.array([])).values()) == {None}
