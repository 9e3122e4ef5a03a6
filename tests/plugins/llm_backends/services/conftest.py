"""Fixtures: backends that are closed in the end, and a service that answers well."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from support.fault_server import Behaviour, FaultServer
from support.faults import GOOD, BuildBackend


@pytest.fixture(autouse=True)
def _certificates_of_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(name="build")
def _build_and_close(build: BuildBackend) -> Iterator[BuildBackend]:
    """Builds backends as elsewhere, and closes them in the end."""
    with contextlib.ExitStack() as stack:

        def make(*arguments: Any, **settings: Any) -> Any:
            backend = build(*arguments, **settings)
            stack.callback(backend.close)
            return backend

        yield make


@pytest.fixture
def good(server: FaultServer) -> FaultServer:
    server.answer(Behaviour(text=GOOD))
    return server
