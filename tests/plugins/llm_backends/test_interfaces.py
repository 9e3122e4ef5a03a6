"""Each service is found by the variable of its address, and by the name of a model."""

from __future__ import annotations

import pytest
from support.fault_server import MODEL, FaultServer


@pytest.mark.parametrize(
    ("name", "variable", "path"), [("openai", "OPENAI_BASE_URL", "/v1"), ("anthropic", "ANTHROPIC_BASE_URL", "")]
)
def test_services_are_where_their_variables_say(
    name: str, variable: str, path: str, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pkmncli.plugins import get_registry  # noqa: PLC0415

    monkeypatch.setenv(variable, server.url + path)
    backend = get_registry().get("llm_backends", name).load()(None, MODEL)
    assert str(server.port) in backend.check()
    backend.close()


# Names of models ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "backend"),
    [
        ("gpt-4", "openai"),
        ("gpt-4o-mini", "openai"),
        ("o3-mini", "openai"),
        ("claude-3-opus", "anthropic"),
        ("claude-haiku-4-5", "anthropic"),
        ("smollm2:3b", "ollama"),
        ("llama3.2:3b", "ollama"),
        ("qwen3:8b", "ollama"),
        ("gpt-oss:20b", "ollama"),
    ],
)
def test_names_of_models_say_which_backend_is_meant(model: str, backend: str) -> None:
    from pkmncli.config import resolve_settings  # noqa: PLC0415
    from pkmncli.plugins import get_registry  # noqa: PLC0415

    assert resolve_settings({"llm_model": model}, registry=get_registry(), environ={}).train.llm == backend
