"""The server of llama.cpp, asked by the client of OpenAI."""

from __future__ import annotations

import pytest
from support.faults import BuildBackend
from support.real_answers import assert_answers_by_schema, assert_says_when_it_was_cut, assert_too_long


@pytest.mark.long
def test_llama_cpp_answers_the_client_of_openai(llama_cpp: str, build: BuildBackend) -> None:
    """Without a model named, the one that it serves is asked."""
    backend = build("openai", llama_cpp, None)
    assert "SmolLM2" in backend.check()
    assert_answers_by_schema(backend)
    assert_says_when_it_was_cut(backend)
    assert_too_long(backend)
    backend.close()
