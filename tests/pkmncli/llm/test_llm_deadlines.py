"""Deadlines hold in the installed libraries, and a library that is built otherwise is told of, not trusted."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from pkmncli.errors import LLMConnectionError
from pkmncli.llm.deadlines import _BoundedNetwork, bound_client

LIBRARIES = ("httpx", "httpx2")


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_way_out_of_a_client_is_bound(name: str) -> None:
    library: Any = importlib.import_module(name)
    with library.Client(mounts={"http://other": library.HTTPTransport()}) as client:
        bound_client(client, library)
        for transport in (client._transport, *client._mounts.values()):
            if transport is not None:
                assert isinstance(transport._pool._network_backend, _BoundedNetwork)


@pytest.mark.parametrize("missing", ["pool", "network backend"])
@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_that_is_built_otherwise_is_told_of(name: str, missing: str) -> None:
    library: Any = importlib.import_module(name)
    with library.Client() as client:
        transport = client._transport
        pool = transport._pool
        if missing == "pool":
            del transport._pool
        else:
            del pool._network_backend
        with pytest.raises(LLMConnectionError, match=f"{name} .*constraints.txt"):
            bound_client(client, library)
        transport._pool = pool
