"""The page through a proxy that has it under a name and a folder of its own, and connections that never ask."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from support.variants import long_after

from pkmn_dashboard.gate import Gate
from pkmn_dashboard.patient_protocol import PatientProtocol
from pkmn_dashboard.ports import LOOPBACK, listen
from pkmn_dashboard.serving import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Page

TOKEN = "a-token-of-24-characters"
PREFIX = "/user/me/proxy/18091"
PATIENCE_S = 60.0


@contextlib.contextmanager
def serving(folder: Path, gate: Gate) -> Iterator[int]:
    """Serve a run's page in a thread; yields the port."""
    with contextlib.closing(listen(LOOPBACK, 18091)) as listening:
        server = PageServer(folder, listening, gate)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.end()
            thread.join(PATIENCE_S)
            assert not thread.is_alive()


@contextlib.contextmanager
def prefix_proxy(port: int, host: str | None, *, strips: bool = True) -> Iterator[str]:
    """A proxy as JupyterHub has them: it takes its folder off, and may put another Host in place of the browser's."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            if not self.path.startswith(f"{PREFIX}/"):
                self.send_error(404)
                return
            upstream = HTTPConnection(LOOPBACK, port, timeout=PATIENCE_S)
            own = {"connection"} if host is None else {"connection", "host"}
            headers = {name: value for name, value in self.headers.items() if name.lower() not in own}
            if host is not None:
                headers["Host"] = host
            upstream.request(self.command, self.path.removeprefix(PREFIX if strips else ""), headers=headers)
            answer = upstream.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in {"transfer-encoding", "connection", "date", "server"}:
                    self.send_header(name, value)
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            with contextlib.suppress(OSError):
                while data := answer.read1(65536):
                    self.wfile.write(data)
                    self.wfile.flush()
            upstream.close()

        do_GET = do_POST = do_HEAD = forward  # noqa: N815 - the library's names

        def log_message(self, *_arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://page.localhost:{server.server_address[1]}{PREFIX}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.long
@pytest.mark.parametrize(
    ("host", "strips"),
    [(None, True), ("localhost:18091", True), (None, False)],
    ids=["its own host", "the server's host", "passes its folder on"],
)
def test_the_page_works_under_a_folder_of_a_proxy(
    host: str | None, strips: bool, finished_run: Path, open_page: Callable[..., Page]
) -> None:
    with (
        serving(finished_run, Gate(TOKEN, proxies=["page.localhost"], root_path="" if strips else PREFIX)) as port,
        prefix_proxy(port, host, strips=strips) as address,
        contextlib.closing(open_page(f"{address}?token={TOKEN}")) as page,  # before its server ends
    ):
        page.locator("#decision-rows tr").first.wait_for()
        page.locator("canvas").first.wait_for()
        assert page.url == address, "the token is gone from the address, and the folder is not"
        assert page.evaluate("getComputedStyle(document.body).fontFamily") != "", "the styles are there"
        (cookie,) = page.context.cookies()
        assert cookie["path"] == PREFIX, "no other server of the proxy gets the token"
        parts = urlsplit(address)
        button = {"x-pkmn-action": "1", "origin": f"http://{parts.netloc}", "host": parts.netloc}
        asked = HTTPConnection(LOOPBACK, parts.port, timeout=PATIENCE_S)
        sent = {**button, "cookie": f"{cookie['name']}={cookie['value']}"}
        asked.request("POST", f"{PREFIX}/api/pause", headers=sent)
        assert asked.getresponse().status == 409, (
            "its buttons are let through: that no training is running is another matter"
        )


def closed_within(connection: socket.socket, seconds: float) -> bool:
    connection.settimeout(seconds)
    try:
        while connection.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return True


@pytest.mark.parametrize(
    "begun",
    long_after(
        1,
        [
            b"",
            b"GET / HTTP/1.1\r\nHost: localhost\r\n",
            b"GET /api/run HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT",
            b"POST /api/pause HTTP/1.1\r\nHost: localhost\r\nx-pkmn-action: 1\r\nContent-Length: 1000\r\n\r\nx",
            b"POST /api/pause HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
            b"\x16\x03\x01\x02\x00\x01\x00\x01",
        ],
    ),
    ids=["nothing", "half a head", "half a second one", "half a body", "half a chunk", "no HTTP"],
)
def test_a_connection_on_which_no_request_comes_is_closed(
    begun: bytes, finished_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PatientProtocol, "seconds_for_a_request", 0.5)
    with serving(finished_run, Gate()) as port, socket.create_connection((LOOPBACK, port)) as connection:
        connection.sendall(begun)
        assert closed_within(connection, PATIENCE_S)


@pytest.mark.long
def test_one_who_dribbles_is_closed_and_one_who_watches_is_not(
    finished_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PatientProtocol, "seconds_for_a_request", 0.5)
    with (
        serving(finished_run, Gate()) as port,
        socket.create_connection((LOOPBACK, port)) as watching,
        socket.create_connection((LOOPBACK, port)) as dribbling,
    ):
        watching.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        watching.settimeout(PATIENCE_S)
        assert watching.recv(65536)
        with contextlib.suppress(ConnectionError):
            for byte in b"GET / HTTP/1.1\r\nHost: " + b"a" * 10_000:
                dribbling.sendall(bytes([byte]))
                time.sleep(0.01)
                dribbling.settimeout(0.001)
                with contextlib.suppress(TimeoutError):
                    if not dribbling.recv(1):
                        break
            else:
                pytest.fail("it may dribble on")
        for _ in range(3):
            assert watching.recv(65536), "who is being answered may stay"
