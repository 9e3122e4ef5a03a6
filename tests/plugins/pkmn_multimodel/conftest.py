"""Fixtures of the tests of multi-model training."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import pytest


@pytest.fixture(scope="session", autouse=True)
def _tiny_models_made_once() -> Iterator[None]:
    """Make each tiny model once, and give every training a copy: to make one takes most of a small training's time."""
    from pkmn_multimodel.population import bases, tiny  # noqa: PLC0415 - takes seconds

    made = functools.cache(tiny.tiny_model)

    def copied(examples: Sequence[tuple[str, Sequence[str]]], seed: int) -> Any:
        return copy.deepcopy(made(tuple((prompt, tuple(options)) for prompt, options in examples), seed))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bases, "tiny_model", copied)
        yield
