"""Whom the page's server answers, and the headers that keep a browser from doing more than it needs.

- A page of another origin may make a browser send requests here. So the Host header must be an address or this
  machine's own name, which a name that an attacker has pointed at this machine is not; and what changes something needs
  a header that no form can send, and an Origin that is this server's. Programs of this machine are not kept out by it.
- Beyond this machine everyone needs the token that was printed once: as a bearer token, or by a cookie that the address
  with ``?token=`` leaves behind.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
ACTION_HEADER = "x-pkmn-action"
"""What a request that changes something must bring; browsers let only the server's own pages send it."""

COOKIE_DAYS = 30

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


class Gate:
    """What a request must bring.

    Args:
        token: needed by every request; nothing is needed without.
        hosts: names that this machine goes by, beside those for itself.
        port: of the server. Browsers send a cookie to every port of a machine, so that its name tells them apart.
    """

    def __init__(self, token: str | None = None, hosts: tuple[str, ...] = (), port: int = 0) -> None:
        self._token = token
        self._cookie = f"pkmn_dashboard_{port}"
        self._hosts = {"localhost", *(host.lower() for host in hosts)}
        if token is not None:
            name = socket.gethostname().lower()
            self._hosts |= {name, f"{name}.local"}

    def objection(self, method: str, headers: Mapping[str, str], query: str) -> Response | None:
        """The answer to a request that brings too little; None to one that brings enough."""
        host = headers.get("host", "")
        if not self._knows(host):
            return PlainTextResponse("This server does not go by that name.\n", 421)
        if self._token is not None:
            given = dict(parse_qsl(query)).get("token")
            if not self._is_token(given) and not self._is_token(self._sent(headers)):
                text = "This page needs its token: open the address that pkmn dashboard printed.\n"
                return PlainTextResponse(text, 401, headers={"www-authenticate": "Bearer"})
        from_elsewhere = headers.get("sec-fetch-site") == "cross-site"
        if from_elsewhere and (method not in SAFE_METHODS or headers.get("sec-fetch-mode") != "navigate"):
            return PlainTextResponse("Pages of other servers may lead here, and nothing else.\n", 403)
        if method in SAFE_METHODS or (ACTION_HEADER in headers and _same_origin(headers.get("origin"), host)):
            return None
        return PlainTextResponse(f"Only the page itself may do that, with the header {ACTION_HEADER}.\n", 403)

    def welcome(self, path: str, query: str) -> Response | None:
        """The answer to a right token in an address: a cookie, and the address without it."""
        values = parse_qsl(query)
        if self._token is None or not self._is_token(dict(values).get("token")):
            return None
        rest = urlencode([(name, value) for name, value in values if name != "token"])
        target = "/" + path.lstrip("/\\")  # two slashes would lead to another server
        answer = RedirectResponse(f"{target}?{rest}" if rest else target, 303)
        answer.set_cookie(
            self._cookie, self._token, max_age=COOKIE_DAYS * 86400, httponly=True, samesite="strict", path="/"
        )
        return answer

    def _is_token(self, given: str | None) -> bool:
        assert self._token is not None
        return given is not None and hmac.compare_digest(given.encode(), self._token.encode())

    def _sent(self, headers: Mapping[str, str]) -> str | None:
        kind, _, value = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return value.strip()
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return None
        return cookie.value if cookie is not None else None

    def _knows(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in self._hosts:
            return True
        try:
            found = ipaddress.ip_address(name)
        except ValueError:
            return False
        return self._token is not None or found.is_loopback


def _same_origin(origin: str | None, host: str) -> bool:
    """Whether a page of this server asks, or a program, which says nothing of an origin."""
    try:
        return origin is None or urlsplit(origin).netloc == host
    except ValueError:
        return False


class GateMiddleware:
    """Puts a gate before an application."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers for the gate, or passes the request on; sets the headers in either case."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        query = scope["query_string"].decode("latin-1")
        objection = self._gate.objection(scope["method"], Headers(scope=scope), query)
        answer = objection or self._gate.welcome(scope["path"], query)
        await (answer or self._app)(scope, receive, with_headers)
