"""Deadlines for HTTP clients: a limit for a whole exchange, however slowly its pieces come.

The clients of language model services limit the wait for each piece only. One byte a second, in the reply or in its
headers, would hold a request for ever, and so would a resolver that does not answer. Here every wait of a request is
limited to the rest of its time.
"""

from __future__ import annotations

import importlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from types import ModuleType
from typing import Any, TypeVar

from pkmncli.errors import LLMConnectionError

T = TypeVar("T")

MOST_BYTES = 2_000_000
"""Maximum size of a reply in bytes: a thousand times that of advice."""

_ENDS_AT = "pkmncli.ends_at"
_WITHOUT_TIMEOUT_S = 60.0
_SHORTEST_WAIT_S = 0.001


class _Deadline(threading.local):
    """Time at which the request of this thread must end."""

    ends_at: float | None = None


_deadline = _Deadline()


def bound_client(client: Any, httpx: ModuleType) -> None:
    """Limit the time and the size of each exchange of a client.

    A request's read timeout counts for the whole exchange: name look-up, connection, redirects, headers and body.
    After it, the library raises ``ReadTimeout`` or ``ConnectTimeout``; if the reply is too long, ``ReadError``.

    Args:
        client: a ``Client`` of the library.
        httpx: the library, ``httpx`` or another with its interface.

    Raises:
        LLMConnectionError: this version of the library has its connections elsewhere, so that no limit would hold.
    """

    class BoundedStream(httpx.SyncByteStream):  # type: ignore[misc, name-defined]
        def __init__(self, stream: Any, request: Any) -> None:
            self._stream, self._request = stream, request

        def __iter__(self) -> Iterator[bytes]:
            size = 0
            for chunk in self._stream:
                size += len(chunk)
                if size > MOST_BYTES:
                    raise httpx.ReadError(f"the reply is longer than {MOST_BYTES:,} bytes", request=self._request)
                if time.monotonic() > self._request.extensions[_ENDS_AT]:
                    raise httpx.ReadTimeout("the reply did not end in time", request=self._request)
                yield chunk

        def close(self) -> None:
            self._stream.close()

    def begin(request: Any) -> None:
        seconds = request.extensions.get("timeout", {}).get("read")
        ends_at = time.monotonic() + (_WITHOUT_TIMEOUT_S if seconds is None else seconds)
        _deadline.ends_at = request.extensions.setdefault(_ENDS_AT, ends_at)  # redirects keep the first deadline
        request.headers["accept-encoding"] = "identity"  # a compressed reply could exceed the size limit

    def bound(response: Any) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx.DecodingError("the reply is packed, which was not asked for", request=response.request)
        response.stream = BoundedStream(response.stream, response.request)

    client.event_hooks = {"request": [begin], "response": [bound]}
    # No public interface reaches below a transport, and every transport waits piece by piece. If the attributes are
    # missing, no limit would hold, so this is an error.
    try:
        transports = [one for one in (client._transport, *client._mounts.values()) if one is not None]
        pools = [one._pool for one in transports if isinstance(one, httpx.HTTPTransport)]
        backends = [pool._network_backend for pool in pools]
    except AttributeError as error:
        raise LLMConnectionError(_unknown_library(httpx)) from error
    if not all(hasattr(backend, "connect_tcp") for backend in backends):
        raise LLMConnectionError(_unknown_library(httpx))
    for pool, backend in zip(pools, backends, strict=True):
        pool._network_backend = _BoundedNetwork(backend)


def _unknown_library(httpx: ModuleType) -> str:
    name, version = httpx.__name__, getattr(httpx, "__version__", "of unknown version")
    return (
        f"{name} {version} is built otherwise than the versions that are known, so no request could be ended in time; "
        "install the versions of constraints.txt: pip install -c constraints.txt -e '.[llm]'"
    )


class _BoundedNetwork:
    """Network backend of ``httpcore`` whose waits end with the request of the thread."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._library = importlib.import_module(type(inner).__module__.partition(".")[0])

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> Any:
        failure: Exception | None = None
        for address in self._look_up(host, port):
            left = _left(timeout, self._library.ConnectTimeout)
            try:
                return _BoundedConnection(self._inner.connect_tcp(address, port, left, **options), self._library)
            except (self._library.ConnectError, self._library.ConnectTimeout) as error:
                failure = error
        raise failure or self._library.ConnectError(f"{host} has no address")

    def connect_unix_socket(self, path: str, timeout: float | None = None, **options: Any) -> Any:
        left = _left(timeout, self._library.ConnectTimeout)
        return _BoundedConnection(self._inner.connect_unix_socket(path, left, **options), self._library)

    def sleep(self, seconds: float) -> None:
        self._inner.sleep(seconds)

    def _look_up(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host. A thread asks, because a resolver has no timeout."""
        found: list[str] = []
        errors: list[OSError | UnicodeError] = []

        def ask() -> None:
            try:
                answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            except (OSError, UnicodeError) as error:
                errors.append(error)
            else:
                found.extend(dict.fromkeys(str(address[0]) for *_, address in answers))

        thread = threading.Thread(target=ask, name="look-up", daemon=True)
        thread.start()
        thread.join(_left(None, self._library.ConnectTimeout))
        if errors:
            raise self._library.ConnectError(str(errors[0]))
        if thread.is_alive():
            raise self._library.ConnectTimeout(f"no address of {host} came in time")
        return found


class _BoundedConnection:
    """Network stream of ``httpcore`` whose waits end with the request of the thread."""

    def __init__(self, inner: Any, library: Any) -> None:
        self._inner = inner
        self._library = library

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data: bytes = self._inner.read(max_bytes, _left(timeout, self._library.ReadTimeout))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _left(timeout, self._library.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> Any:
        left = _left(timeout, self._library.ConnectTimeout)
        return _BoundedConnection(self._inner.start_tls(ssl_context, server_hostname, left), self._library)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _left(timeout: float | None, late: type[Exception]) -> float | None:
    """Return the maximum seconds to wait; raise ``late`` if the time of the request is over."""
    if _deadline.ends_at is None:
        return timeout
    left = _deadline.ends_at - time.monotonic()
    if left <= 0:
        raise late("the time of the request is over")
    return max(left if timeout is None else min(left, timeout), _SHORTEST_WAIT_S)


def call_within(call: Callable[[], T], seconds: float) -> T:
    """Return the result of a call without a deadline, made in a thread that is abandoned after ``seconds``.

    Raises:
        TimeoutError: the call has not returned in time. Errors of the call are raised, too.
    """
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # raised again in the caller's thread
            future.set_exception(error)

    threading.Thread(target=work, name="request", daemon=True).start()
    return future.result(max(seconds, 0.0))
