"""Proxies on loopback, HTTP and SOCKS5: whatever host is asked for, they lead to one server."""

from __future__ import annotations

import re
import socket
import socketserver
import ssl
import threading
from types import TracebackType
from typing import Self


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    owner: Proxy

    def handle_error(self, *_: object) -> None:
        """A client that breaks off is expected."""


class Proxy:
    """Runs while it is entered.

    Args:
        port: on loopback, of the server that everything leads to.
        socks: whether SOCKS5 is spoken rather than HTTP.
        tls: of the proxy itself, for one that is spoken to by HTTPS.
        credentials: ``name:password`` that an HTTP proxy wants, Base64 as in the header; None for anybody.
    """

    def __init__(
        self, port: int, *, socks: bool = False, credentials: str | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        self.target = port
        self.credentials = credentials
        self.asked: list[str] = []
        """The hosts with ports that were asked for."""
        self._server = _Server(("127.0.0.1", 0), _Socks if socks else _Http)
        self._server.owner = self
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Way(socketserver.BaseRequestHandler):
    request: socket.socket
    server: _Server

    def lead_on(self) -> None:
        """Carries bytes between the client and the server until either ends."""
        with socket.create_connection(("127.0.0.1", self.server.owner.target)) as further:
            back = threading.Thread(target=self._copy, args=(further, self.request), daemon=True)
            back.start()
            self._copy(self.request, further)
            back.join()

    @staticmethod
    def _copy(source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:  # either has gone
            pass


class _Http(_Way):
    def handle(self) -> None:
        """Answers CONNECT with a tunnel, and passes anything else on as it came."""
        head = b""
        while b"\r\n\r\n" not in head:
            data = self.request.recv(65536)
            if not data:
                return
            head += data
        owner = self.server.owner
        method, target, _ = head.split(b" ", 2)
        owner.asked.append(target.decode().removeprefix("http://").partition("/")[0])
        wanted = f"proxy-authorization: basic {owner.credentials}".lower()
        if owner.credentials is not None and wanted not in head.decode("latin-1").lower():
            refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            self.request.sendall(refusal)
        elif method == b"CONNECT":
            self.request.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
            self.lead_on()
        else:
            self._pass_on(head, target)

    def _pass_on(self, head: bytes, target: bytes) -> None:
        """Passes one request on, and the whole answer back: the next one comes on a connection of its own."""
        while len(head.partition(b"\r\n\r\n")[2]) < self._length(head):
            head += self.request.recv(65536)
        place = target.removeprefix(b"http://").partition(b"/")[2]
        head = head.replace(target, b"/" + place, 1).replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
        with socket.create_connection(("127.0.0.1", self.server.owner.target)) as further:
            further.sendall(head)
            answer = b"".join(iter(lambda: further.recv(65536), b""))
        self.request.sendall(answer.replace(b"\r\n", b"\r\nconnection: close\r\n", 1))

    @staticmethod
    def _length(head: bytes) -> int:
        found = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        return int(found[1]) if found else 0


class _Socks(_Way):
    def handle(self) -> None:
        """Takes anybody, and a host by name or by address."""
        self._take(self._take(2)[1])
        self.request.sendall(b"\x05\x00")
        kind = self._take(4)[3]
        length = {1: 4, 4: 16}.get(kind) or self._take(1)[0]
        host = self._take(length)
        port = int.from_bytes(self._take(2))
        name = host.decode() if kind == 3 else socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6, host)
        self.server.owner.asked.append(f"{name}:{port}")
        self.request.sendall(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")
        self.lead_on()

    def _take(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self.request.recv(count - len(data))
            if not piece:
                raise ConnectionError
            data += piece
        return data
