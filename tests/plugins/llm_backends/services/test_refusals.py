"""Services that refuse a field of a question: it is left out, and told once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.asked_services import REMOTE, REQUEST
from support.fault_server import Behaviour, FaultServer
from support.faults import GOOD, BuildBackend


def _no_system(body: Any) -> str:
    has = body.get("system") or any(message["role"] == "system" for message in body["messages"])
    return "System role not supported" if has else ""


def _has(field: str, message: str) -> Callable[[Any], str]:
    return lambda body: message if field in body or field in body.get("options", {}) else ""


@pytest.mark.parametrize(
    ("name", "objects", "settings", "said"),
    [
        *((name, _no_system, {}, "takes no system role") for name in REMOTE),
        ("openai", _has("temperature", "temperature is not supported"), {}, "refuses temperature"),
        ("openai", _has("seed", "Unknown parameter: seed"), {}, "refuses seed"),
        ("openai", _has("max_tokens", "Unsupported parameter: 'max_tokens'"), {}, "max_completion_tokens"),
        ("openai", _has("response_format", "This response_format type is unavailable now"), {}, "takes no schema"),
        (
            "openai",
            lambda body: (
                ""
                if body.get("enable_thinking") is False
                else "parameter.enable_thinking must be set to false for non-streaming calls"
            ),
            {},
            "enable_thinking = false",
        ),
        *(
            (name, _has("frob", "Unrecognized request argument supplied: frob"), {"extra_fields": {"frob": 1}}, "frob")
            for name in REMOTE
        ),
        ("ollama", _has("think", '"tiny" does not support thinking'), {"think": True}, "knows no thinking"),
        ("ollama", _has("format", "invalid format: grammar is not supported"), {}, "takes no schema"),
        ("anthropic", _has("tools", "tools are not supported by this model"), {}, "refuses tools"),
        *(
            (
                name,
                lambda body: _no_system(body) or _has("seed", "seed is not supported")(body),
                {"extra_fields": {"seed": 1}},
                "takes no system role",
            )
            for name in ("openai", "anthropic")
        ),
    ],
)
def test_what_a_service_refuses_is_left_out_remembered_and_told_once(
    name: str,
    objects: Callable[[Any], str],
    settings: dict[str, Any],
    said: str,
    server: FaultServer,
    build: BuildBackend,
) -> None:
    server.answer(Behaviour(text=GOOD, objects=objects))
    backend = build(name, server.url, **settings)
    told: list[str] = []
    backend.tell = told.append
    assert backend.complete(REQUEST).text == GOOD
    asked = len(server.asked)
    assert asked == 1 + len(told)
    assert said in told[0]
    assert backend.complete(REQUEST).text == GOOD
    assert len(server.asked) == asked + 1, "it is remembered"
    body = server.asked[-1].body
    assert "what now?" in str(body)
    assert "you advise" in str(body)
