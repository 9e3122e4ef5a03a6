"""Questions to a real model, and what its answers have to be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pkmncli.api import LLMFailure, LLMFault, LLMRequest

SCHEMA = {
    "type": "object",
    "properties": {"press": {"type": "string", "enum": ["up", "down"]}},
    "required": ["press"],
    "additionalProperties": False,
}
LONG = "north " * 6000


def request(prompt: str = "Up or down?", **values: Any) -> LLMRequest:
    return LLMRequest("You advise a player.", prompt, **{"max_tokens": 24, "timeout_s": 120.0, **values})


def assert_answers_by_schema(backend: Any) -> None:
    reply = backend.complete(request(schema=SCHEMA, seed=1))
    assert json.loads(reply.text)["press"] in ("up", "down")
    assert reply.prompt_tokens > 5
    assert 0 < reply.completion_tokens <= 24
    assert reply.model


def assert_says_when_it_was_cut(backend: Any) -> None:
    assert backend.complete(request(schema=SCHEMA, seed=1, max_tokens=3)).cut
    assert not backend.complete(request(schema=SCHEMA, seed=1)).cut


def assert_too_long(backend: Any) -> None:
    with pytest.raises(LLMFailure) as caught:
        backend.complete(request(LONG))
    assert caught.value.fault is LLMFault.TOO_LONG
    assert len(str(caught.value)) < 400
