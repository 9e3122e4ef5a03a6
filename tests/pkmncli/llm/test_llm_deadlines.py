"""Deadlines hold for a whole exchange, and nothing that hangs holds the end of a process."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.fault_server import Behaviour, FaultServer, never

from pkmncli.llm.deadlines import bounded_client, close_client, exchange

ROOT = Path(__file__).resolve().parents[3]


def test_an_exchange_ends_with_its_time() -> None:
    ended = threading.Event()

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(TimeoutError):
        exchange(hang, 0.05)
    assert ended.is_set()


def test_an_error_of_an_exchange_reaches_the_caller() -> None:
    async def fail() -> None:
        raise LookupError("it went wrong")

    with pytest.raises(LookupError, match="it went wrong"):
        exchange(fail, 60)


def test_a_closed_client_ends_its_open_requests() -> None:
    with FaultServer(Behaviour(send=never)) as server, ThreadPoolExecutor(1) as threads:
        client: Any = bounded_client(httpx)

        async def post() -> Any:
            return await client.post(server.url, json={})

        answer = threads.submit(exchange, post, 60)
        while not server.asked:
            assert not answer.done()
        close_client(client.aclose)
        with pytest.raises(httpx.TransportError):
            answer.result(30)


_HANGS = """
import socket, threading
from pkmncli.llm.deadlines import bounded_client, exchange
import httpx

hangs = threading.Event()

def look_up(*_, **__):
    hangs.set()
    threading.Event().wait()

socket.getaddrinfo = look_up
client = bounded_client(httpx)
request = lambda: exchange(lambda: client.get("http://slow.invalid"), 600)
threading.Thread(target=request, daemon=True).start()
assert hangs.wait(60)
print("over")
"""


def test_a_process_ends_beside_a_resolver_that_never_answers() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _HANGS], capture_output=True, text=True, timeout=60, check=False, cwd=ROOT
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "over\n", "")
