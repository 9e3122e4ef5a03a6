"""Selection of the cases that `make test` tries; `make test-long` tries the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def long_after(tried: int, cases: Iterable[Any]) -> list[Any]:
    """Return a test's cases, marked long from the one of number ``tried``."""
    found: list[Any] = []
    for number, case in enumerate(cases):
        if number < tried:
            found.append(case)
        elif isinstance(case, type(pytest.param())):
            found.append(pytest.param(*case.values, id=case.id, marks=[*case.marks, pytest.mark.long]))
        else:
            values = case if isinstance(case, tuple) else (case,)
            found.append(pytest.param(*values, marks=pytest.mark.long))
    return found
