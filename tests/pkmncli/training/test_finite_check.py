"""Numbers of observations that nothing can be learned from are found in arrays of any size, and only those."""

from __future__ import annotations

import numpy as np
import pytest

from pkmncli.training.finite_check import FiniteCheck


@pytest.mark.parametrize("shape", [(2, 3), (2, 100, 100)])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_number_that_is_not_finite_is_found_in_its_environment(
    shape: tuple[int, ...], wrong: float, dtype: type[np.floating]
) -> None:
    array = np.ones(shape, dtype)
    array[1, ..., 2] = wrong
    problem = FiniteCheck(()).of_observations({"other": np.ones((2, 2), dtype), "numbers": array}, 7)
    assert problem.startswith(f"Environment 1 observes {wrong} in 'numbers' after 7 steps")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_largest_numbers_are_finite(dtype: type[np.floating]) -> None:
    array = np.full((2, 3), np.finfo(dtype).max, dtype)
    assert FiniteCheck(()).of_observations({"numbers": array, "whole": np.ones((2, 3), np.int64)}, 7) == ""
