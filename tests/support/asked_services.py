"""Questions to the services of the remote backends, and checks of what comes of them."""

from __future__ import annotations

from typing import Any

import pytest

from pkmncli.api import LLMFailure, LLMFault, LLMRequest
from pkmncli.errors import LLMConnectionError
from support.faults import GOOD, KEY
from support.reply_forms import FORM

REMOTE = ("ollama", "openai", "anthropic")
KEY_OF = {"ollama": "OLLAMA_API_KEY", "openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
REQUEST = LLMRequest("you advise", "what now?", FORM.schema, max_tokens=77, seed=9, timeout_s=60)


def assert_answers(backend: Any, *said: str) -> None:
    """The backend can be checked and asked; what its check says has the given parts."""
    line = backend.check()
    for part in said:
        assert part in line
    assert "\n" not in line
    assert backend.complete(REQUEST).text == GOOD


def assert_fails(backend: Any, *said: str, fault: LLMFault = LLMFault.UNREACHABLE) -> None:
    """Neither can be done, in one line that has the given parts and no password."""
    with pytest.raises(LLMConnectionError) as unchecked:
        backend.check()
    with pytest.raises(LLMConnectionError) as unlisted:
        backend.models()
    with pytest.raises(LLMFailure) as failure:
        backend.complete(REQUEST)
    assert failure.value.fault is fault
    for error in (unchecked.value, unlisted.value, failure.value):
        for part in said:
            assert part in str(error)
        assert "\n" not in str(error)
        assert "hush" not in str(error)
        assert KEY not in str(error)
