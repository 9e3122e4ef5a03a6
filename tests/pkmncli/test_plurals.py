"""Numbers with their nouns, and what a run says that it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pkmncli.plurals import counted


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 episodes"), (1, "1 episode"), (2, "2 episodes"), (1234, "1,234 episodes")]
)
def test_a_noun_is_plural_unless_it_is_one(number: int, said: str) -> None:
    assert counted(number, "episode") == said


def test_without_a_learner_nothing_is_trained(pkmn: Callable[..., Any]) -> None:
    played = pkmn("train", "--no-rl", "--steps=12", "--max-steps-per-episode=10", "--envs=1", "--no-film")
    assert played.code == 0
    said = played.out + played.err
    assert "Playing Quillwood by the rules for 12 steps with 1 environment: about " in said
    assert "12 steps in 1 episode, " in said and "in 1 episode, first at step 0" in said
