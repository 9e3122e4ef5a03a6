"""Anthropic's interface is asked through a tool, whose input is the reply."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from support.fault_server import MODEL, Behaviour, FaultServer
from support.faults import ADVICE, GOOD, BuildBackend
from support.reply_forms import FORM

from pkmncli.api import LLMFailure, LLMFault, LLMRequest

PNG = b"\x89PNG\r\n\x1a\n and so on"
REQUEST = LLMRequest("you advise", "what now?", FORM.schema, max_tokens=77, temperature=0.25, seed=9, timeout_s=60)
WITH_IMAGE = LLMRequest("you advise", "what now?", images=(PNG,), timeout_s=60)


def test_anthropic_is_asked_through_a_tool_and_its_input_is_the_reply(server: FaultServer, build: BuildBackend) -> None:
    backend = build("anthropic", server.url)
    tool_input = ADVICE | {"confidence": 0.5, "reason": "a test"}
    server.answer(Behaviour(text="Let me see.", tool_input=tool_input))
    reply = backend.complete(REQUEST)
    body = server.asked[0].body
    assert body["tools"][0]["input_schema"] == json.loads(json.dumps(FORM.schema))
    assert body["tool_choice"] == {"type": "tool", "name": body["tools"][0]["name"]}
    assert "temperature" not in body, "which the service refuses"
    assert json.loads(reply.text.splitlines()[-1]) == tool_input
    advice = FORM.read(reply, expires_after=10).advice
    assert advice is not None and advice.goal == ADVICE["goal"]
    backend.close()


@pytest.mark.parametrize("tool_input", [5, ["up"], {"skill": 7}, {}], ids=str)
def test_anthropic_that_fills_the_tool_wrongly_gives_no_advice(
    tool_input: Any, server: FaultServer, build: BuildBackend
) -> None:
    backend = build("anthropic", server.url)
    server.answer(Behaviour(text="", tool_input=tool_input))
    try:
        assert FORM.read(backend.complete(REQUEST), expires_after=10).advice is None
    except LLMFailure as failure:
        assert failure.fault is LLMFault.BROKEN
    backend.close()


def test_anthropic_that_can_not_be_made_to_use_a_tool_may(server: FaultServer, build: BuildBackend) -> None:
    backend = build("anthropic", server.url)
    message = "Thinking may not be enabled when tool_choice forces tool use."
    server.answer(Behaviour(status=400, message=message), Behaviour(text=GOOD))
    assert backend.complete(REQUEST).text == GOOD
    assert backend.complete(REQUEST).text == GOOD
    assert [asked.body["tool_choice"]["type"] for asked in server.asked] == ["tool", "auto", "auto"]
    backend.close()


def test_anthropic_is_sent_images(server: FaultServer, build: BuildBackend) -> None:
    backend = build("anthropic", server.url)
    server.answer(Behaviour(text=GOOD))
    backend.complete(WITH_IMAGE)
    image, text = server.asked[0].body["messages"][0]["content"]
    assert (image["source"]["media_type"], base64.b64decode(image["source"]["data"])) == ("image/png", PNG)
    assert text["text"] == "what now?"
    backend.close()


def test_anthropic_without_a_model_chosen_takes_one_that_is_there(server: FaultServer, build: BuildBackend) -> None:
    backend = build("anthropic", server.url, None)
    assert MODEL in backend.check()
    assert backend.model == MODEL
    backend.close()
