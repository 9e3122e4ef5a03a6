"""What services refuse, how they list their models, and what may be sent along: by words, without any server."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import pytest
from pydantic import ValidationError

from pkmncli.api import LLMFailure, LLMFault, LLMReply, LLMRequest
from pkmncli.llm.model_names import first_to_talk_to, is_listed, names_in
from pkmncli.llm.refusals import Refusals, StatusFailure
from pkmncli.llm.service_settings import ServiceSettings
from pkmncli.llm.transport import failure_of_status

OPTIONS = {"temperature": "temperature", "seed": r"\bseed\b", "max_tokens": r"\bmax_tokens\b"}
REQUEST = LLMRequest("you advise", "what now?", images=(b"png",), seed=1, timeout_s=60)


def asked_after(status: int, body: str) -> tuple[LLMRequest, Collection[str]] | None:
    """How a question is put after it was refused once; None where it is put no second time."""
    asked: list[tuple[LLMRequest, Collection[str]]] = []

    def ask(request: LLMRequest, refused: Collection[str]) -> LLMReply:
        asked.append((request, refused))
        if len(asked) == 1:
            raise failure_of_status(status, body, {}, "it")
        return LLMReply("yes", "tiny")

    told: list[str] = []
    refusals = Refusals(OPTIONS, {"frob": 1})
    try:
        refusals.complete("it", REQUEST, ask, told.append)
    except StatusFailure:
        assert told == []
        return None
    assert len(told) == 1
    refusals.complete("it", REQUEST, ask, told.append)
    assert len(told) == 1, "it is told once, and remembered"
    assert len(asked) == 3
    return asked[-1]


@pytest.mark.parametrize("status", [400, 422, 500])
@pytest.mark.parametrize(
    "message",
    [
        "System role not supported",
        "System role is not supported by this model.",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "After the optional system message, conversation roles must alternate user/assistant",
        "Only user and assistant roles are supported!",
        "Only 'user' and 'assistant' roles are allowed",
        "Developer instruction is not enabled for models/gemma-3-27b-it",
        "unknown role: system",
        "messages[0]: role 'system' is not one of ['user', 'assistant']",
        "This model does not support system messages.",
        "system prompts are unsupported",
        "Error in Jinja template: System role not supported",
    ],
)
def test_where_there_is_no_system_role_the_question_says_it(status: int, message: str) -> None:
    for body in (message, json.dumps({"error": {"message": message}}), json.dumps({"error": message})):
        found = asked_after(status, body)
        assert found is not None, body
        assert found[0].system == ""
        assert found[0].prompt == "you advise\n\nwhat now?"
        assert found[0].images == REQUEST.images


def test_a_role_is_refused_by_the_place_where_it_stands() -> None:
    detail = {"loc": ["body", "messages", 0, "role"], "msg": "Input should be 'user' or 'assistant'", "input": "system"}
    found = asked_after(422, json.dumps({"detail": [detail]}))
    assert found is not None and found[0].system == ""


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "image_url is only supported by certain models"),
        (400, "this model does not support image input"),
        (404, "No endpoints found that support image input"),
        (400, "tiny is not a multimodal model, so images are not supported"),
        (500, "vision is not supported by this server"),
    ],
)
def test_where_nobody_sees_the_question_goes_without_the_screen(status: int, message: str) -> None:
    found = asked_after(status, json.dumps({"error": {"message": message}}))
    assert found is not None
    assert found[0].images == ()
    assert found[0].system == REQUEST.system


@pytest.mark.parametrize(
    ("body", "option"),
    [
        ({"error": {"message": "Unsupported parameter: 'temperature'", "param": "temperature"}}, "temperature"),
        ({"error": {"message": "no", "param": "temperature"}}, "temperature"),
        ({"error": {"message": "`temperature` may only be set to 1 when thinking is enabled"}}, "temperature"),
        ({"error": "seed is not supported with temperature 0"}, "seed"),
        ({"message": "Unrecognized request argument supplied: frob"}, "frob"),
        (
            {"detail": [{"type": "extra_forbidden", "loc": ["body", "frob"], "msg": "Extra inputs are not permitted"}]},
            "frob",
        ),
        ({"error": {"message": "max_tokens must be at most 100"}}, "max_tokens"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_option_that_is_refused_is_left_out(body: Any, option: str) -> None:
    found = asked_after(400, json.dumps(body))
    assert found is not None
    assert set(found[1]) == {option}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"message": "your question is not to our taste"}}),
        (400, {"error": {"message": "the temperature of the debate was 0.5"}}),
        (400, {"error": {"message": "maximum context length is 512; max_tokens must be smaller"}}),
        (400, {"error": {"message": "Invalid messages: not supported with this seed", "param": "messages"}}),
        (401, {"error": {"message": "temperature is not supported for your key"}}),
        (500, {"error": {"message": "unexpected seed"}}),
        (429, {"error": {"message": "System role not supported"}}),
        (400, {}),
        (400, []),
    ],
    ids=str,
)
def test_what_is_no_refusal_of_an_option_is_asked_once(status: int, body: Any) -> None:
    assert asked_after(status, json.dumps(body)) is None


def test_several_that_meet_the_same_refusal_at_once_all_ask_again() -> None:
    refusals = Refusals(OPTIONS)
    told: list[str] = []

    def another_meets_it(request: LLMRequest, refused: Collection[str]) -> LLMReply:
        if "seed" not in refused:
            raise failure_of_status(400, "seed is not supported", {}, "it")
        return LLMReply("yes", "tiny")

    def ask(request: LLMRequest, refused: Collection[str]) -> LLMReply:
        if "seed" not in refused:
            refusals.complete("it", request, another_meets_it, told.append)
            raise failure_of_status(400, "seed is not supported", {}, "it")
        return LLMReply("yes", "tiny")

    assert refusals.complete("it", REQUEST, ask, told.append).text == "yes"
    assert len(told) == 1


def test_asking_again_ends_with_the_time_of_the_question() -> None:
    def ask(request: LLMRequest, refused: Collection[str]) -> LLMReply:
        raise failure_of_status(400, "seed is not supported", {}, "it")

    with pytest.raises(LLMFailure) as failure:
        Refusals(OPTIONS).complete("it", LLMRequest("", "", timeout_s=0), ask, lambda text: None)
    assert failure.value.fault is LLMFault.TIMEOUT


# Faults by status and words ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "body", "fault"),
    [
        (503, '{"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}', LLMFault.LOADING),
        (503, '{"error": "Model tiny is currently loading", "estimated_time": 20.0}', LLMFault.LOADING),
        (429, '{"error": "model is warming up"}', LLMFault.LOADING),
        (500, '{"error": "model is not loaded yet"}', LLMFault.LOADING),
        (503, "<html>Loading...</html>", LLMFault.OVERLOADED),
        (503, '{"error": "downloading too much"}', LLMFault.OVERLOADED),
        (400, '{"error": "\\"nomic-embed-text\\" does not support chat"}', LLMFault.NO_MODEL),
        (404, '{"error": {"message": "This is not a chat model"}}', LLMFault.NO_MODEL),
        (
            400,
            '{"error": {"message": "tts-1 is not supported in the v1/chat/completions endpoint"}}',
            LLMFault.NO_MODEL,
        ),
        (500, '{"error": "this is an embedding model"}', LLMFault.NO_MODEL),
        (400, '{"error": "\\"llama3\\" does not support thinking"}', LLMFault.REFUSED),
        (407, "", LLMFault.AUTHENTICATION),
    ],
)
def test_a_status_is_read_with_its_words(status: int, body: str, fault: LLMFault) -> None:
    failure = failure_of_status(status, body, {}, "it")
    assert failure.fault is fault
    assert ("--llm-model" in str(failure)) == (fault is LLMFault.NO_MODEL)


# Names of models -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "known", "listed"),
    [
        ("tiny", ["tiny"], True),
        ("tiny", ["models/tiny"], True),
        ("models/tiny", ["tiny"], True),
        ("tiny", ["tiny:latest"], True),
        ("tiny:latest", ["tiny"], True),
        ("Tiny", ["tiny"], True),
        ("some/tiny:nitro", ["some/tiny"], True),
        ("some/tiny:free", ["some/tiny", "other"], True),
        ("some/tiny", ["some/tiny:free"], False),
        ("tiny:1b", ["tiny:3b", "tiny:latest"], False),
        ("tin", ["tiny"], False),
        ("tiny", [], False),
    ],
)
def test_a_model_is_found_under_the_other_ways_to_write_its_name(model: str, known: list[str], listed: bool) -> None:
    assert is_listed(model, known) is listed


def test_what_follows_a_colon_may_be_a_model_of_its_own() -> None:
    assert not is_listed("tiny:1b", ["tiny"], variants=False)
    assert is_listed("tiny", ["tiny:latest"], variants=False)


@pytest.mark.parametrize(
    "name",
    [
        "text-embedding-3-small",
        "nomic-embed-text:latest",
        "mxbai-embed-large",
        "BAAI/bge-m3",
        "intfloat/e5-large",
        "all-minilm",
        "whisper-1",
        "gpt-4o-transcribe",
        "tts-1-hd",
        "dall-e-3",
        "gpt-image-1",
        "stable-diffusion-xl",
        "omni-moderation-latest",
        "llama-guard3",
        "bge-reranker-v2",
        "davinci-002",
        "babbage-002",
        "gpt-4o-realtime-preview",
        "gpt-4o-audio-preview",
        "sora-2",
        "gpt-3.5-turbo-instruct-0914",
    ],
)
def test_a_model_that_can_not_be_talked_to_is_not_chosen(name: str) -> None:
    assert first_to_talk_to([name]) is None
    assert first_to_talk_to([name, "tiny"]) == "tiny"


@pytest.mark.parametrize(
    "name",
    [
        *("llama3.2:3b", "qwen3:8b", "gpt-4o-mini", "claude-haiku-4-5", "mistral-7b-instruct", "gpt-3.5-turbo"),
        *("gemma-3-27b-it", "deepseek-r1:8b", "models/gemini-2.5-flash", "phi-4", "SmolLM2-135M-Instruct.Q4_1.gguf"),
        *("/models/qwen2.5-0.5b-instruct-q4.gguf", "llava:7b", "command-r", "openai/gpt-oss-20b"),
    ],
)
def test_a_model_that_can_be_talked_to_is(name: str) -> None:
    assert first_to_talk_to([name]) == name


@pytest.mark.parametrize(
    ("listing", "names"),
    [
        ({"data": [{"id": "a"}, {"id": "b"}]}, ["a", "b"]),
        ({"models": [{"name": "models/a"}]}, ["models/a"]),
        ({"models": [{"model": "a:latest", "name": "a"}]}, ["a:latest"]),
        ([{"id": "a"}], ["a"]),
        (["a", "b"], ["a", "b"]),
        ({"data": [{"id": 5}, {}, None, {"id": ""}, {"id": "a"}]}, ["a"]),
        ({"data": [{"id": "\x1b[2Ja"}, {"id": "a\nb"}, {"id": "a" * 201}, {"id": "b"}]}, ["b"]),
        ({"data": []}, []),
        ({"data": None, "models": ["a"]}, ["a"]),
        ({}, None),
        ({"data": None}, None),
        ({"object": "list"}, None),
        ("a", None),
        (None, None),
    ],
    ids=str,
)
def test_a_list_of_models_is_read_in_each_of_its_forms(listing: Any, names: list[str] | None) -> None:
    assert names_in(listing) == names


# Settings ------------------------------------------------------------------------------------------------------------

SECRET = "hush-hush-0815"


@pytest.mark.parametrize(
    "values",
    [
        {"extra_fields": {"api_key": SECRET}},
        {"extra_fields": {"provider": {"apiKey": SECRET}}},
        {"extra_fields": {"provider": [{"access_token": SECRET}]}},
        {"extra_fields": {"password": SECRET}},
        {"extra_fields": {"key": SECRET}},
        {"extra_fields": {"note": f"sk-{SECRET}"}},
        {"extra_fields": {"note": f"Bearer {SECRET}"}},
        {"extra_fields": {"webhook": f"https://me:{SECRET}@service.example"}},
        {"extra_headers": {"Authorization": f"Bearer {SECRET}"}},
        {"extra_headers": {"authorization": SECRET}},
        {"extra_headers": {"X-Api-Key": SECRET}},
        {"extra_headers": {"api-key": SECRET}},
        {"extra_headers": {"X-Auth-Token": SECRET}},
        {"extra_headers": {"Cookie": f"session={SECRET}"}},
        {"extra_headers": {"Proxy-Authorization": f"Basic {SECRET}"}},
        {"extra_headers": {"X-Note": f"sk-{SECRET}"}},
        {"extra_headers": {"X-Note": "$HOME"}},
        {"proxy": f"http://me:{SECRET}@proxy.example"},
    ],
    ids=str,
)
def test_a_secret_in_a_setting_is_refused_and_not_shown(values: Any) -> None:
    with pytest.raises(ValidationError) as refused:
        ServiceSettings(**values)
    assert refused.value.errors()[0]["type"] == "secret"
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "values",
    [
        {"extra_fields": {"enable_thinking": False, "chat_template_kwargs": {"enable_thinking": False}}},
        {"extra_fields": {"provider": {"order": ["a", "b"], "allow_fallbacks": False}, "reasoning_effort": "low"}},
        {"extra_fields": {"skip_special_tokens": True, "stop_token_ids": [1, 2], "max_completion_tokens": 5}},
        {"extra_fields": {"prompt_cache_retention": "24h", "top_k": 20, "min_p": 0.05}},
        {"extra_headers": {"HTTP-Referer": "https://example.org", "X-Title": "pkmn"}},
        {"extra_headers": {"X-Api-Key": "$GATEWAY_API_KEY", "Authorization": "Bearer ${GATEWAY_TOKEN}"}},
    ],
    ids=str,
)
def test_what_is_no_secret_may_be_sent_along(values: Any) -> None:
    assert ServiceSettings(**values)


@pytest.mark.parametrize(
    "values",
    [
        {"extra_fields": {"messages": []}},
        {"extra_fields": {"model": "other"}},
        {"extra_fields": {"stream": True}},
        {"extra_fields": {"x": float("nan")}},
        {"extra_fields": [1]},
        {"extra_headers": {"X Title": "a"}},
        {"extra_headers": {"X-Title": "a\nb"}},
        {"extra_headers": {"X-Title": "\u201ca\u201d"}},
        {"extra_headers": {"": "a"}},
        {"proxy": ""},
    ],
    ids=str,
)
def test_what_can_not_be_sent_is_refused(values: Any) -> None:
    with pytest.raises(ValidationError):
        ServiceSettings(**values)


def test_a_header_takes_its_secret_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = ServiceSettings(
        extra_headers={"X-Auth": "Bearer $GATEWAY_TOKEN", "X-Gone": "$GONE_TOKEN", "X-Title": "pkmn"}
    )
    monkeypatch.setenv("GATEWAY_TOKEN", f"{SECRET}\n")
    monkeypatch.delenv("GONE_TOKEN", raising=False)
    assert settings.headers == {"X-Auth": f"Bearer {SECRET}", "X-Title": "pkmn"}
    assert SECRET not in str(settings)
