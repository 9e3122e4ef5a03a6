"""Deadlines for requests: a limit for a whole exchange, however slowly its pieces come.

The clients of language model services limit the wait for each piece only. One byte a second, in the reply or in its
headers, would hold a request for ever, and so would a resolver that does not answer. So requests run in one event
loop, in a thread, and end with their time: look-up of the name, connection, redirects, headers and body.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from functools import partial
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")

MOST_BYTES = 2_000_000
"""Maximum size of a reply in bytes: a thousand times that of advice."""

_CLOSING_S = 2.0


def exchange(work: Callable[[], Awaitable[T]], seconds: float) -> T:
    """Return the result of a coroutine that runs in the event loop of all requests.

    Args:
        work: returns the coroutine. Its client must be used in this loop only.
        seconds: after which it is cancelled.

    Raises:
        TimeoutError: it has not ended in time. Errors of the coroutine are raised, too.
    """

    async def bounded() -> T:
        async with asyncio.timeout(seconds):
            return await work()

    future = asyncio.run_coroutine_threadsafe(bounded(), _running_loop())
    try:
        return future.result()
    finally:
        future.cancel()  # if the wait was interrupted


def close_client(close: Callable[[], Awaitable[None]]) -> None:
    """Close a client that :func:`exchange` has used, so that its open requests fail at once."""
    with contextlib.suppress(Exception):  # the connections end with the process in any case
        exchange(close, _CLOSING_S)


def bounded_client(httpx: ModuleType, **options: Any) -> Any:
    """Return an ``AsyncClient`` without time limits, for :func:`exchange`. A reply that is too long is a ``ReadError``.

    Args:
        httpx: the library, ``httpx`` or another with its interface.
        options: further arguments of the client.
    """

    class LimitedStream(httpx.AsyncByteStream):  # type: ignore[misc, name-defined]
        def __init__(self, response: Any) -> None:
            self._stream, self._request = response.stream, response.request

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in self._stream:
                size += len(chunk)
                if size > MOST_BYTES:
                    raise httpx.ReadError(f"the reply is longer than {MOST_BYTES:,} bytes", request=self._request)
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def begin(request: Any) -> None:
        request.headers["accept-encoding"] = "identity"  # a compressed reply could exceed the size limit

    async def limit(response: Any) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx.DecodingError("the reply is packed, which was not asked for", request=response.request)
        response.stream = LimitedStream(response)

    return httpx.AsyncClient(timeout=None, event_hooks={"request": [begin], "response": [limit]}, **options)


def call_within(call: Callable[[], T], seconds: float) -> T:
    """Return the result of a call without a deadline, made in a thread that is abandoned after ``seconds``.

    Raises:
        TimeoutError: the call has not returned in time. Errors of the call are raised, too.
    """
    return _begun(call).result(max(seconds, 0.0))


def _begun(call: Callable[[], T]) -> Future[T]:
    """Return the future of a call in a daemon thread, which does not hold the end of the process."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()

    def work() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # raised again in the caller's thread
            future.set_exception(error)

    threading.Thread(target=work, name="request", daemon=True).start()
    return future


class _Loop(asyncio.SelectorEventLoop):
    """Event loop that looks up names in daemon threads: a resolver has no timeout, and its threads are not limited."""

    async def getaddrinfo(self, host: Any, port: Any, **hints: int) -> Any:
        return await asyncio.wrap_future(_begun(partial(socket.getaddrinfo, host, port, **hints)))


_lock = threading.Lock()
_loops: list[_Loop] = []


def _running_loop() -> _Loop:
    """Return the event loop of all requests; start it at the first call."""
    with _lock:
        if not _loops:
            _loops.append(_Loop())
            threading.Thread(target=_loops[0].run_forever, name="requests", daemon=True).start()
        return _loops[0]
