"""OpenAI's interface is sent the schema in its own form, images and keys, and no option that it refuses."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import pytest
from support.fault_server import MODEL, Behaviour, FaultServer
from support.faults import GOOD, KEY, BuildBackend
from support.reply_forms import FORM

from pkmn_openai.strict_schema import strict_schema
from pkmncli.api import LLMFailure, LLMFault, LLMRequest
from pkmncli.errors import LLMConnectionError
from pkmncli.llm.usage import price_of

PNG = b"\x89PNG\r\n\x1a\n and so on"
REQUEST = LLMRequest("you advise", "what now?", FORM.schema, max_tokens=77, temperature=0.25, seed=9, timeout_s=60)
WITH_IMAGE = LLMRequest("you advise", "what now?", images=(PNG,), timeout_s=60)


@pytest.mark.parametrize(
    "refuses",
    [
        ("max_tokens",),
        ("temperature",),
        ("seed",),
        ("response_format",),
        ("max_tokens", "temperature"),
        ("max_tokens", "temperature", "seed", "response_format"),
    ],
    ids=" ".join,
)
def test_openai_leaves_out_what_a_model_refuses_from_then_on(
    refuses: tuple[str, ...], server: FaultServer, build: BuildBackend
) -> None:
    backend = build("openai", server.url)
    server.answer(Behaviour(text=GOOD, refuses=refuses))
    assert backend.complete(REQUEST).text == GOOD
    assert len(server.asked) == 1 + len(refuses)
    assert backend.complete(REQUEST).text == GOOD
    assert len(server.asked) == 2 + len(refuses), "what was refused is remembered"
    body = server.asked[-1].body
    assert not set(refuses) & set(body)
    assert ("max_completion_tokens" in body) == ("max_tokens" in refuses)
    assert body.get("max_completion_tokens", body.get("max_tokens")) == 77
    backend.close()


@pytest.mark.parametrize(
    ("status", "body", "option"),
    [
        (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "not permitted"}]}, "seed"),
        (400, {"error": {"message": "Failed to parse grammar", "code": 400}}, "response_format"),
        (
            400,
            {"error": {"message": "Invalid schema for response_format 'reply'", "param": "response_format"}},
            "response_format",
        ),
        (
            400,
            {"error": {"message": "Unsupported value: 'temperature' does not support 0.25", "param": "temperature"}},
            "temperature",
        ),
    ],
)
def test_openai_understands_complaints_of_many_kinds(
    status: int, body: Any, option: str, server: FaultServer, build: BuildBackend
) -> None:
    backend = build("openai", server.url)
    server.answer(Behaviour(status=status, body=json.dumps(body).encode()), Behaviour(text=GOOD))
    assert backend.complete(REQUEST).text == GOOD
    assert option in server.asked[0].body
    assert set(server.asked[0].body) - set(server.asked[1].body) == {option}
    backend.close()


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("max_tokens is too large: 77. This model's maximum context length is 64 tokens", LLMFault.TOO_LONG),
        ("your question is not to our taste", LLMFault.REFUSED),
        ("the content filter stopped this; temperature 0.25 was used", LLMFault.REFUSED),
    ],
)
def test_openai_blames_no_option_for_what_it_has_nothing_to_do_with(
    message: str, fault: LLMFault, server: FaultServer, build: BuildBackend
) -> None:
    backend = build("openai", server.url)
    server.answer(Behaviour(status=400, message=message))
    with pytest.raises(LLMFailure) as caught:
        backend.complete(REQUEST)
    assert caught.value.fault is fault
    assert len(server.asked) == 1
    backend.close()


def test_openai_that_refuses_everything_is_asked_no_more_than_there_are_options(
    server: FaultServer, build: BuildBackend
) -> None:
    backend = build("openai", server.url)
    server.answer(Behaviour(status=400, message="unsupported: max_tokens, temperature, seed, response_format"))
    with pytest.raises(LLMFailure) as caught:
        backend.complete(REQUEST)
    assert caught.value.fault is LLMFault.REFUSED
    assert len(server.asked) == 5
    backend.close()


def test_openai_is_sent_the_schema_and_the_key(server: FaultServer, build: BuildBackend) -> None:
    backend = build("openai", server.url)
    server.answer(Behaviour(text=GOOD))
    backend.complete(REQUEST)
    asked = server.asked[0]
    assert asked.body["response_format"]["json_schema"]["schema"] == strict_schema(FORM.schema)
    assert (asked.body["max_tokens"], asked.body["temperature"], asked.body["seed"]) == (77, 0.25, 9)
    assert {name.lower(): value for name, value in asked.headers.items()}["authorization"] == f"Bearer {KEY}"
    backend.close()


def test_openai_drops_no_option_where_another_thing_is_named(server: FaultServer, build: BuildBackend) -> None:
    backend = build("openai", server.url)
    error = {"message": "Invalid messages: not supported with this seed", "param": "messages"}
    server.answer(Behaviour(status=400, body=json.dumps({"error": error}).encode()))
    with pytest.raises(LLMFailure):
        backend.complete(REQUEST)
    assert len(server.asked) == 1
    backend.close()


OPTIONAL = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 4},
        "maxLength": {"type": "integer", "minimum": 0},
        "parts": {"type": "array", "maxItems": 2, "items": {"type": "object", "properties": {"x": {"type": "number"}}}},
    },
    "required": ["name"],
}


@pytest.mark.parametrize("schema", [FORM.schema, OPTIONAL], ids=["advice", "optional parts"])
def test_a_schema_is_sent_in_the_form_that_strict_mode_takes(
    schema: dict[str, Any], server: FaultServer, build: BuildBackend
) -> None:
    backend = build("openai", server.url)
    server.answer(Behaviour(text=GOOD, strict=True))
    before = json.dumps(schema)
    assert backend.complete(replace(REQUEST, schema=schema)).text == GOOD
    assert [list(asked.body).count("response_format") for asked in server.asked] == [1], "never sent without it"
    sent = server.asked[0].body["response_format"]["json_schema"]["schema"]
    assert set(sent["properties"]) == set(schema["properties"]), "a property may have a keyword's name"
    assert json.dumps(schema) == before
    backend.close()


def test_prices_are_those_of_the_service_itself(server: FaultServer, build: BuildBackend) -> None:
    for name, model in (("openai", "gpt-4o"), ("anthropic", "claude-haiku-4-5")):
        assert price_of(model, build(name, f"https://api.{name}.com").prices) is not None
        assert price_of(model, build(name, server.url).prices) is None


def test_openai_is_sent_images_as_data(server: FaultServer, build: BuildBackend) -> None:
    backend = build("openai", server.url)
    server.answer(Behaviour(text=GOOD))
    backend.complete(WITH_IMAGE)
    text, image = server.asked[0].body["messages"][1]["content"]
    assert text == {"type": "text", "text": "what now?"}
    kind, _, data = image["image_url"]["url"].partition(",")
    assert (kind, base64.b64decode(data)) == ("data:image/png;base64", PNG)
    backend.close()


@pytest.mark.usefixtures("no_variables")
def test_a_server_at_home_needs_no_key_and_another_does(server: FaultServer, build: BuildBackend) -> None:
    backend = build("openai", server.url)
    assert MODEL in backend.check()
    backend.close()
    for name, variable in (("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")):
        backend = build(name, "https://service.invalid")
        with pytest.raises(LLMConnectionError, match=variable):
            backend.check()
        backend.close()


@pytest.mark.parametrize("name", ["openai", "vllm"])
def test_where_no_model_is_chosen_one_that_is_there_is_asked(
    name: str, server: FaultServer, build: BuildBackend
) -> None:
    backend = build(name, server.url, None)
    assert MODEL in backend.check()
    assert backend.model == MODEL
    backend.close()


def test_an_address_that_is_none_is_told(build: BuildBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "me:a-secret-word@here/v1")
    backend = build("openai", None)
    with pytest.raises(LLMConnectionError, match="base_url") as error:
        backend.check()
    assert "secret" not in str(error.value)
    backend.close()


def test_an_address_without_its_version_is_told(
    server: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "listing", Behaviour(status=404, message="not found"))
    for address, advice in ((server.url, "up to /v1"), (f"{server.url}/v1", "server running there")):
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        backend = build("openai", None, None)
        with pytest.raises(LLMConnectionError, match="404") as error:
            backend.models()
        assert advice in str(error.value)
        backend.close()
        backend = build("openai", None)
        assert ("up to /v1" in backend.check()) == (advice == "up to /v1"), "a model that is named is asked anyway"
        backend.close()


@pytest.mark.parametrize(("key", "advice"), [("", "pkmn llm keys set openai"), ("wrong", "Check the key in")])
def test_a_refused_key_is_told_apart_from_none(
    key: str, advice: str, server: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "listing", Behaviour(status=401, message="Incorrect API key provided"))
    backend = build("openai", server.url, None)
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(LLMConnectionError, match="401") as error:
        backend.models()
    assert advice in str(error.value)
    backend.close()
