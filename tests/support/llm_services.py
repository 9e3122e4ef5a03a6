"""Backends to test, each with the fault server in the place of its service."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from support.fault_server import MODEL, FaultServer
from support.faults import KEY, BuildBackend

VARIABLES = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "OLLAMA_API_KEY",
    "OLLAMA_HOST",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
)
REMOTE = ("ollama", "openai", "anthropic")


@pytest.fixture(scope="session", autouse=True)
def keys() -> Iterator[None]:
    """The keys that the backends take are known ones, and the user's own settings of clients are none."""
    with pytest.MonkeyPatch.context() as patch:
        for name in VARIABLES:
            patch.delenv(name, raising=False)
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_API_KEY"):
            patch.setenv(name, KEY)
        yield


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


@pytest.fixture(scope="session")
def build() -> BuildBackend:
    """Builds a backend by its name: its server's address, a model, and settings by keyword."""

    def make(name: str, url: str | None, model: str | None = MODEL, **settings: Any) -> Any:
        from pkmncli.plugins import get_registry  # noqa: PLC0415

        registration = get_registry().get("llm_backends", name)
        model_of_settings = registration.load_config()
        assert model_of_settings is not None
        # Without an address the environment's counts.
        address = (
            {}
            if url is None
            else {"host": url}
            if name == "ollama"
            else {"base_url": url if name == "anthropic" else f"{url}/v1"}
        )
        return registration.load()(model_of_settings(**{**address, **settings}), model)

    return make


@pytest.fixture(scope="module", params=REMOTE)
def backend(request: pytest.FixtureRequest, server: FaultServer, build: BuildBackend) -> Iterator[Any]:
    one = build(request.param, server.url)
    yield one
    one.close()


@pytest.fixture
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key and no address is set."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert not set(VARIABLES) & os.environ.keys()
