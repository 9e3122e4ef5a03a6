"""Damaged and random replies of models: each becomes a few known actions or nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import strategies as st
from support.fuzzing import changed, fuzzed
from support.reply_forms import FORM

from pkmncli.api import LLMReply
from pkmncli.llm.replies import MOST_PRESSES

REPLY = {
    "goal": "Go up",
    "skill": "press",
    "presses": ["up", "a"],
    "map": "Route 29",
    "x": 3,
    "y": 4,
    "confidence": 0.8,
    "reason": "the door",
}


@fuzzed(changed(REPLY), st.text(max_size=20), st.text(max_size=20), examples=100)
@pytest.mark.long
def test_replies(value: Any, before: str, after: str) -> None:
    """Any reply of a model becomes a few known actions or nothing."""
    try:
        text = json.dumps(value)
    except ValueError:
        text = str(value)[:200]
    for read in (
        FORM.read(LLMReply(before, "m", parsed=value), expires_after=10),
        FORM.read(LLMReply(before + text + after, "m"), expires_after=10, words_too=True),
        FORM.read(LLMReply(before + text + after, "m"), expires_after=10),
        FORM.read(LLMReply(text[: len(text) // 2], "m"), expires_after=10),
        FORM.read(LLMReply(before + after, "m"), expires_after=10),
    ):
        if read.advice is not None:
            assert len(read.advice.presses) <= MOST_PRESSES
            assert all(0 <= int(press) <= 8 for press in read.advice.presses)
            assert 0 <= read.advice.confidence <= 1
