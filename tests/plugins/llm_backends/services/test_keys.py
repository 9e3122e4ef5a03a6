"""Keys of services, and further fields and headers that go along with a question."""

from __future__ import annotations

import pytest
from support.asked_services import KEY_OF, REMOTE, assert_answers, assert_fails
from support.fault_server import FaultServer
from support.faults import KEY, BuildBackend
from support.proxies import Proxy

from pkmncli.api import LLMFault

FAR = "http://service.invalid:99"
"""Where only a proxy leads to."""


@pytest.mark.parametrize("name", REMOTE)
@pytest.mark.parametrize("end", ["\n", "\r\n", "  ", "\u00a0"])
def test_a_key_with_a_line_end_is_the_key(
    name: str, end: str, good: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_OF[name], KEY + end)
    assert_answers(build(name, good.url))
    headers = {header.lower(): value for header, value in good.asked[0].headers.items()}
    assert headers.get("authorization", headers.get("x-api-key")) in (KEY, f"Bearer {KEY}")


@pytest.mark.parametrize("name", REMOTE)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"\u201c{KEY}\u201d", "typographic quotation mark"),
        (f'"{KEY}"', "quotation marks"),
        (f"{KEY} {KEY}", "holds a blank"),
        (f"\u200b{KEY}", "can't be seen"),
    ],
)
def test_a_key_that_is_none_is_named(
    name: str, text: str, said: str, good: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_OF[name], text)
    assert_fails(build(name, good.url), f"The key in {KEY_OF[name]}", said, fault=LLMFault.AUTHENTICATION)
    assert good.asked == []


def test_a_token_with_a_line_end_is_the_token(
    good: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", f"{KEY}\n")
    assert_answers(build("anthropic", good.url))
    assert {name.lower(): value for name, value in good.asked[0].headers.items()}["authorization"] == f"Bearer {KEY}"


def test_another_variable_of_a_client_that_no_header_takes_is_named(
    good: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org\nanisation")
    assert_fails(build("openai", good.url), "OPENAI_ORG_ID", fault=LLMFault.AUTHENTICATION)


@pytest.mark.parametrize("name", REMOTE)
def test_further_fields_and_headers_go_along(
    name: str, good: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_TOKEN", "let-me-in\n")
    fields = {"chat_template_kwargs": {"enable_thinking": False}, "reasoning_effort": "low", "temperature": 1.5}
    headers = {"X-Title": "pkmn", "X-Gate": "Bearer $GATEWAY_TOKEN"}
    backend = build(name, good.url, extra_fields=fields, extra_headers=headers)
    assert_answers(backend)
    asked = good.asked[0]
    for field, value in fields.items():
        assert asked.body[field] == value, "which goes before the program's own"
    if name == "ollama":
        assert asked.body["options"]["temperature"] == 1.5, "where the server reads it"
    sent = {header.lower(): value for header, value in asked.headers.items()}
    assert (sent["x-title"], sent["x-gate"]) == ("pkmn", "Bearer let-me-in")


@pytest.mark.parametrize("name", REMOTE)
def test_a_header_may_be_the_key(
    name: str, good: FaultServer, build: BuildBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in KEY_OF.values():
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("GATEWAY_TOKEN", "let-me-in")
    with Proxy(good.port) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        assert_answers(build(name, FAR, extra_headers={"Authorization": "Bearer $GATEWAY_TOKEN"}))
    sent = {header.lower(): value for header, value in good.asked[0].headers.items()}
    assert sent["authorization"] == "Bearer let-me-in"


def test_further_options_of_ollama_join_its_own(good: FaultServer, build: BuildBackend) -> None:
    assert_answers(build("ollama", good.url, extra_fields={"options": {"top_k": 20, "num_predict": 5}}))
    options = good.asked[0].body["options"]
    assert (options["top_k"], options["num_predict"], options["seed"]) == (20, 5, 9)
