"""Ollama's interface is sent the schema, its options, images and how long a model stays loaded."""

from __future__ import annotations

import base64
import json

import pytest
from support.fault_server import MODEL, Behaviour, FaultServer
from support.faults import GOOD, BuildBackend
from support.reply_forms import FORM

from pkmncli.api import LLMRequest
from pkmncli.errors import LLMConnectionError

PNG = b"\x89PNG\r\n\x1a\n and so on"
REQUEST = LLMRequest("you advise", "what now?", FORM.schema, max_tokens=77, temperature=0.25, seed=9, timeout_s=60)
WITH_IMAGE = LLMRequest("you advise", "what now?", images=(PNG,), timeout_s=60)


def test_ollama_is_sent_schema_options_and_how_long_to_stay(server: FaultServer, build: BuildBackend) -> None:
    backend = build("ollama", server.url, keep_alive="3m", think="low", context_tokens=4096)
    server.answer(Behaviour(text=GOOD))
    backend.complete(REQUEST)
    body = server.asked[0].body
    assert body["format"] == json.loads(json.dumps(FORM.schema))
    assert body["keep_alive"] == "3m"
    assert body["think"] == "low"
    assert body["stream"] is False
    assert body["options"] == {"temperature": 0.25, "num_predict": 77, "seed": 9, "num_ctx": 4096}
    backend.close()


def test_ollama_is_sent_no_schema_where_none_is_wanted(server: FaultServer, build: BuildBackend) -> None:
    backend = build("ollama", server.url, use_schema=False)
    server.answer(Behaviour(text=GOOD))
    backend.complete(REQUEST)
    assert not server.asked[0].body.get("format")
    assert server.asked[0].body.get("think") is None
    backend.close()


def test_ollama_is_sent_images(server: FaultServer, build: BuildBackend) -> None:
    backend = build("ollama", server.url)
    server.answer(Behaviour(text=GOOD))
    backend.complete(WITH_IMAGE)
    assert [base64.b64decode(image) for image in server.asked[0].body["messages"][1]["images"]] == [PNG]
    backend.close()


def test_ollama_without_a_model_chosen_takes_one_that_is_installed(build: BuildBackend) -> None:
    with FaultServer() as server:
        backend = build("ollama", server.url, None)
        assert f"{MODEL}:latest" in backend.check()
        assert backend.model == f"{MODEL}:latest"
        server.models = []
        empty = build("ollama", server.url, None)
        with pytest.raises(LLMConnectionError, match="ollama pull"):
            empty.check()
        backend.close()
        empty.close()


def test_ollama_is_where_its_variable_says(
    server: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{server.port}")
    backend = build("ollama", None)
    assert f"127.0.0.1:{server.port}" in backend.check()
    backend.close()
