"""Values that a learner gives of its actions are held against the contract once, and the learner is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pkmncli.errors import TrainingError
from pkmncli.training.action_values import ActionValues


class Valuing:
    """Of a learner only what is asked here."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)

    def action_values(self) -> Any:
        return self._answers.pop(0)


def values_of(learner: Any) -> ActionValues:
    return ActionValues(learner, 2, 9)


def test_values_are_passed_on_and_none_before_there_are_any() -> None:
    good = np.zeros((2, 9), np.float32)
    values = values_of(Valuing(None, good, good))
    assert values.latest() is None
    assert values.latest() is good
    assert values.latest() is good
    assert values_of(object()).latest() is None


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        (np.zeros((9, 2), np.float32), r"float32 of shape \(9, 2\)"),
        (np.zeros(9, np.float32), r"of shape \(9,\)"),
        (np.zeros((2, 9), np.int64), "int64"),
        ([[0.0] * 9] * 2, "a list"),
    ],
)
def test_values_of_another_shape_are_refused_with_the_learners_name(wrong: Any, found: str) -> None:
    with pytest.raises(TrainingError, match=f"Valuing breaks its contract.*{found}"):
        values_of(Valuing(None, wrong)).latest() or values_of(Valuing(wrong)).latest()
