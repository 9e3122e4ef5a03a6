"""Examples of damaged and random values for tests that fuzz. ``make fuzz`` tries more.

``FUZZ_SECONDS`` is how long each of these tests is tried, with ever new seeds; without it, a few examples are, the same
ones.
"""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["", "\0", "../x", "/etc/passwd", "inf", "[red]", "\x1b[2J", "\ud800", "9" * 5000, "{}", "true"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=6), inner, max_size=4)),
    max_leaves=8,
)


def fuzzed(*strategies: Any, examples: int = 25) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Try a check on examples: the same few ones from day to day, new ones for as long as ``FUZZ_SECONDS`` says."""

    def around(check: Callable[..., None]) -> Callable[[], None]:
        quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
        rule = settings(max_examples=examples, derandomize=not SECONDS, database=None, suppress_health_check=quiet)

        @pytest.mark.timeout(SECONDS * 2 + 300)
        def test() -> None:
            end, number = time.monotonic() + SECONDS, 0
            while True:
                run = rule(given(*strategies)(check))
                if SECONDS:
                    run = seed(int.from_bytes(os.urandom(6)))(run)
                run()
                number += 1
                if time.monotonic() >= end:
                    return

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return around


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


@st.composite
def changed(draw: st.DrawFn, value: Any) -> Any:
    """A JSON value with one to three of its places changed, left out or doubled."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        found = list(places(value))
        if not found:
            break
        *way, last = found[draw(st.integers(0, len(found) - 1))]
        holder = value
        for key in way:
            holder = holder[key]
        what = draw(st.sampled_from(["change", "change", "remove", "double"]))
        if what == "change":
            holder[last] = draw(VALUES)
        elif what == "remove":
            del holder[last]
        elif isinstance(holder, list):
            holder.append(copy.deepcopy(holder[last]))
        else:
            holder[draw(st.text(max_size=8))] = copy.deepcopy(holder[last])
    return value


@st.composite
def damaged(draw: st.DrawFn, data: bytes, where: tuple[int, int] | None = None) -> bytes:
    """Bytes of which some are other ones, some are gone, or more are there."""
    changed = bytearray(data)
    first, last = where or (0, len(data))
    for _ in range(draw(st.integers(1, 12))):
        if len(changed) <= first:
            break
        place = draw(st.integers(first, min(last, len(changed)) - 1))
        what = draw(st.sampled_from(["byte", "byte", "run"] if where else ["byte", "byte", "run", "cut", "insert"]))
        if what == "byte":
            changed[place] = draw(st.integers(0, 255))
        elif what == "run":
            more = draw(st.binary(min_size=1, max_size=64))[: len(changed) - place]
            changed[place : place + len(more)] = more
        elif what == "cut":
            del changed[place : place + draw(st.integers(1, len(changed)))]
        else:
            changed[place:place] = draw(st.binary(max_size=64))
    return bytes(changed)
