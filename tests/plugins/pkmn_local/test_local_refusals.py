"""A model file whose template knows no system role: its question says what stands there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("xllamacpp")

from pkmn_local import backend as backend_module
from pkmn_local.backend import LocalBackend
from pkmncli.api import LLMFailure, LLMFault, LLMRequest

REQUEST = LLMRequest("you advise", "what now?", timeout_s=60)


class Llama:
    """llama.cpp with a template of its own. The real one needs a model file."""

    def __init__(self, message: str) -> None:
        self.message = message
        self.asked: list[Any] = []

    def handle_chat_completions(self, question: Any, take: Callable[[Any], bool]) -> None:
        self.asked.append(question)
        if any(message["role"] == "system" for message in question["messages"]):
            take({"error": {"code": 400, "message": self.message}})
        else:
            take({"choices": [{"delta": {"content": "up"}, "finish_reason": "stop"}]})


@pytest.fixture
def backend_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Llama], LocalBackend]:
    monkeypatch.setattr(backend_module, "find_model", lambda *_: tmp_path / "a.gguf")

    def make(llama: Llama) -> LocalBackend:
        monkeypatch.setattr(backend_module.xllamacpp, "Server", lambda params: llama)
        return LocalBackend(None, None)

    return make


def test_the_question_says_what_the_system_role_would(backend_of: Callable[[Llama], LocalBackend]) -> None:
    llama, told = Llama("Jinja Exception: System role not supported"), []  # type: tuple[Llama, list[str]]
    backend = backend_of(llama)
    backend.tell = told.append
    assert [backend.complete(REQUEST).text for _ in range(2)] == ["up", "up"]
    assert [len(asked["messages"]) for asked in llama.asked] == [2, 1, 1]
    assert llama.asked[-1]["messages"][0]["content"] == "you advise\n\nwhat now?"
    assert len(told) == 1 and "takes no system role" in told[0]
    backend.close()


def test_another_refusal_is_told(backend_of: Callable[[Llama], LocalBackend]) -> None:
    backend = backend_of(Llama("this is not to our taste"))
    with pytest.raises(LLMFailure, match="not to our taste") as failure:
        backend.complete(REQUEST)
    assert failure.value.fault is LLMFault.REFUSED
    backend.close()
