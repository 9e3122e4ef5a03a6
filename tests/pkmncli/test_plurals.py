"""Numbers with their nouns, whole percents, and what a run says that it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pkmncli.plurals import counted, whole_percents


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 episodes"), (1, "1 episode"), (2, "2 episodes"), (1234, "1,234 episodes")]
)
def test_a_noun_is_plural_unless_it_is_one(number: int, said: str) -> None:
    assert counted(number, "episode") == said


@pytest.mark.parametrize(
    ("parts", "percents"),
    [
        ([43, 114, 843], [4, 12, 84]),  # 4.3, 11.4, 84.3: rounded one by one they add up to 99
        ([0.036, 0.096, 0.868], [4, 9, 87]),  # 3.6, 9.6, 86.8: rounded one by one they add up to 101
        ([1, 1, 1], [34, 33, 33]),
        ([5], [100]),
        ([0, 0], [0, 0]),
        ([], []),
    ],
)
def test_shares_in_percent_add_up_to_100(parts: list[float], percents: list[int]) -> None:
    assert whole_percents(parts) == percents


@pytest.mark.long
def test_without_a_learner_nothing_is_trained(pkmn: Callable[..., Any]) -> None:
    played = pkmn("train", "--no-rl", "--steps=12", "--max-steps-per-episode=10", "--envs=1", "--no-film")
    assert played.code == 0
    said = played.out + played.err
    assert "Playing Quillwood by the rules for 12 steps with 1 environment: about " in said
    assert "12 steps in 1 episode, " in said and "in 1 episode, first at step 0" in said
