"""Plain values as bytes without pickle, and back."""

from __future__ import annotations

import random
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np
import pytest

from pkmncli.api.plain_state import state_from_bytes, state_to_bytes


def test_plain_values_come_back_with_their_types() -> None:
    value = {
        "numbers": (1, 2.5, True, None, float("inf")),
        3: [b"bytes", {"set"}, frozenset({1}), deque([1, 2], maxlen=2)],
        "array": np.arange(6, dtype=np.int16).reshape(2, 3),
        "number": np.float32(0.1),
    }
    found = state_from_bytes(state_to_bytes(value))
    np.testing.assert_array_equal(found.pop("array"), value.pop("array"))  # type: ignore[call-overload]
    assert found == value
    assert type(found["number"]) is np.float32
    assert found[3][3].maxlen == 2


def test_random_generators_go_on_where_they_were() -> None:
    numpys, pythons = np.random.default_rng(1), random.Random(1)
    copies = state_from_bytes(state_to_bytes([numpys, pythons]))
    assert [one.random() for one in copies] == [numpys.random(), pythons.random()]


def test_parts_of_an_array_that_do_not_overlap_are_saved() -> None:
    grid = np.arange(6).reshape(3, 2)
    left, right = state_from_bytes(state_to_bytes([grid[:, 0], grid[:, 1]]))
    assert (left.tolist(), right.tolist()) == ([0, 2, 4], [1, 3, 5])


def test_mappings_come_back_as_what_they_were() -> None:
    value = [Counter("aab"), defaultdict(list, {"a": [1]}), OrderedDict(b=1, a=2), defaultdict(None, {1: 2})]
    found = state_from_bytes(state_to_bytes(value))
    assert (found, list(map(type, found))) == (value, list(map(type, value)))
    assert found[1]["new"] == []


def test_a_state_may_name_no_other_member_of_numpy() -> None:
    state = state_to_bytes(np.random.default_rng(1)).replace(b'"PCG64"', b'"RandomState"')
    with pytest.raises(ValueError, match="no plain state: the bit generator RandomState"):
        state_from_bytes(state)
