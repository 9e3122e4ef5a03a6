"""A server with the interface of Ollama and a real model behind it."""

from __future__ import annotations

import pytest
from support.faults import BuildBackend
from support.real_answers import assert_answers_by_schema, request

from pkmncli.api import LLMFailure
from pkmncli.errors import LLMConnectionError


@pytest.mark.long
def test_an_ollama_of_others_answers_the_client_of_ollama(ollama_proxy: str, build: BuildBackend) -> None:
    backend = build("ollama", ollama_proxy, "llama/smollm2")
    assert "llama/smollm2" in backend.check()
    assert_answers_by_schema(backend)
    backend.close()


def test_an_ollama_of_others_says_what_it_has_not(ollama_proxy: str, build: BuildBackend) -> None:
    backend = build("ollama", ollama_proxy, "nobody/knows")
    with pytest.raises(LLMConnectionError, match="ollama pull nobody/knows"):
        backend.check()
    with pytest.raises(LLMFailure) as caught:
        backend.complete(request())
    assert "nobody" in str(caught.value)
    backend.close()
