"""The action gap is larger for a clear choice than for a close one, relative to usual gaps."""

from __future__ import annotations

import numpy as np

from pkmn_dqn.action_gap import ActionGap
from pkmncli.learners.action_gap import gaps_of


def test_without_a_usual_gap_nothing_is_decided() -> None:
    assert ActionGap().of(np.array([1.0, np.inf], np.float32)).tolist() == [0, 0]


def test_a_clear_choice_is_more_decided_than_a_close_one() -> None:
    action_gap = ActionGap()
    for _ in range(100):
        action_gap.note(np.array([1.0, 3.0, np.inf], np.float32))
    close, usual, clear, only = action_gap.of(np.array([0.01, 2.0, 20.0, np.inf], np.float32))
    assert 0 <= close < usual < clear <= only == 1


def test_gaps_are_those_between_the_best_and_the_second_best_of_what_is_allowed() -> None:
    ranked = np.array([[1, 5, 2], [-np.inf, 4, -np.inf], [7, -np.inf, 7]], np.float32)
    assert gaps_of(ranked, np.inf).tolist() == [3, np.inf, 0]
    assert gaps_of(ranked[:, :1], np.inf).tolist() == [np.inf] * 3
