"""Actions of any discrete space as one number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from pkmncli.api import MOST_ACTIONS, FlatActions
from pkmncli.errors import EnvironmentSetupError

SPACES = [
    spaces.Discrete(5),
    spaces.Discrete(5, start=-2),
    spaces.MultiDiscrete([3, 2, 4]),
    spaces.MultiDiscrete([[3, 2], [1, 2]]),
    spaces.MultiDiscrete([3, 2], start=[1, 10]),
    spaces.MultiBinary(4),
    spaces.MultiBinary((2, 2)),
    spaces.MultiDiscrete([256, 256]),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_each_number_is_one_action_of_the_space(space: spaces.Space[Any]) -> None:
    flat = FlatActions.of(space)
    numbers = range(flat.count) if flat.count < 100 else (0, 1, 255, 256, 65_535)
    for number in numbers:
        action = flat.action(number)
        assert space.contains(action), action
        assert flat.number(action) == number
    assert len({str(flat.action(number)) for number in numbers}) == len(numbers)
    for beyond in (-1, flat.count):
        with pytest.raises(ValueError, match="there is no action"):
            flat.action(beyond)


def test_the_first_component_is_the_most_significant() -> None:
    flat = FlatActions.of(spaces.MultiDiscrete([3, 2]))
    assert [flat.action(number).tolist() for number in range(6)] == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
    with pytest.raises(ValueError, match=r"2 is not in 0\.\.1"):
        flat.number([0, 2])


def test_only_a_discrete_space_from_zero_is_numbered_already() -> None:
    assert [FlatActions.of(space).trivial for space in SPACES] == [True] + [False] * 7


def test_actions_have_the_names_of_their_components() -> None:
    flat = FlatActions.of(spaces.MultiDiscrete([2, 3], start=[1, 0]))
    assert flat.names()[:4] == ("action_1_0", "action_1_1", "action_1_2", "action_2_0")
    named = flat.names([["left", "right"], ["stay", "jump", "duck"]])
    assert (named[0], named[5]) == ("left_stay", "right_duck")
    with pytest.raises(EnvironmentSetupError, match=r"\[2, 2\] values"):
        flat.names([["left", "right"], ["stay", "jump"]])


def test_a_mask_of_components_allows_what_each_of_them_allows() -> None:
    flat = FlatActions.of(spaces.MultiDiscrete([2, 3]))
    expected = [0, 0, 0, 1, 0, 1]
    assert flat.mask(np.array([0, 1, 1, 0, 1])).tolist() == expected
    assert flat.mask([np.array([0, 1]), np.array([1, 0, 1])]).tolist() == expected
    whole = flat.mask(np.array(expected, np.int8))
    assert (whole.tolist(), whole.dtype) == (expected, np.int8)
    with pytest.raises(EnvironmentSetupError, match=r"4 entries; needed .* the 6 actions, or .* 5 values"):
        flat.mask(np.ones(4))


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (spaces.Box(-np.inf, 1, (2,)), "no Box of floats between bounds"),
        (spaces.Box(-3e38, 3e38, (2,)), "no Box of floats between bounds"),
        (spaces.Box(0, 255, (2,), np.uint8), "no Box of floats between bounds"),
        (spaces.MultiBinary(17), f"more than {MOST_ACTIONS:,} actions"),
        (spaces.Discrete(65_537), f"more than {MOST_ACTIONS:,} actions"),
        (spaces.Text(4), "is no Discrete, MultiDiscrete, MultiBinary or Box space"),
    ],
    ids=str,
)
def test_other_spaces_are_refused_in_one_line(space: spaces.Space[Any], message: str) -> None:
    with pytest.raises(EnvironmentSetupError, match=message) as refusal:
        FlatActions.of(space)
    assert "\n" not in str(refusal.value)


def test_continuous_actions_are_controls_between_bounds() -> None:
    space = spaces.Box(np.array([[0, -1]]), np.array([[10, 1]]), dtype=np.float64)
    flat = FlatActions.of(space)
    assert (flat.count, flat.dimensions, flat.trivial) == (1, 2, False)
    assert flat.space == spaces.Box(np.array([0, -1], np.float32), np.array([10, 1], np.float32))
    assert FlatActions.of(flat.space).trivial
    action = flat.action(np.array([11, 0.5], np.float32))
    assert action.tolist() == [[10, 0.5]]
    assert space.contains(action)
    assert flat.action(0).tolist() == [[5, 0]], "the middle"
    assert (flat.number(action), flat.mask([1]).tolist(), len(flat.names())) == (0, [1], 1)
